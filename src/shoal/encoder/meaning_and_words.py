"""Meaning and words side by side: the encoder's vectors, and the word statistics of the corpus."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from shoal.encoder.word_statistics import WordStatistics, weight_of_words
from shoal.scratch import in_blocks, scratch
from shoal.vectors import unit_rows

if TYPE_CHECKING:
    from shoal.encoder.representation import CachedEncoder

_ARRAYS = "meaning_and_words.safetensors"


class MeaningAndWords:
    """An encoder's vectors without the corpus's mean, beside features by words; rows of length one.

    The cosine of two rows is the mean of their cosines by meaning and by words. Of few texts, from whose words little
    can be learnt, words count less.

    Parameters
    ----------
    meaning : CachedEncoder
        The encoder.
    """

    def __init__(self, meaning: CachedEncoder) -> None:
        self.meaning = meaning

    @property
    def truncated(self) -> int:
        """How many texts of the last call to ``encode`` were cut off."""
        return self.meaning.truncated

    @property
    def long_texts(self) -> str | None:
        """How the encoder reads long texts."""
        return self.meaning.long_texts

    def fit(self, texts: Sequence[str]) -> Self:
        """Learn the mean of the vectors and the statistics of the words."""
        vectors = self.meaning.fit(texts).encode(texts)
        self._mean = vectors.mean(axis=0, dtype=np.float64).astype(np.float32)
        self._words = WordStatistics().fit(texts)
        self._share = np.array([weight_of_words(len(set(texts)))], dtype=np.float32)
        return self

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text, of length one."""
        vectors = self.meaning.encode(texts)
        joined = scratch((len(vectors), vectors.shape[1] + self._words.dimension))
        for block in in_blocks(vectors, joined):
            words = np.sqrt(self._share) * self._words.encode(texts[block])
            joined[block] = unit_rows(np.hstack([unit_rows(vectors[block] - self._mean), words]))
        return joined

    def save(self, folder: Path) -> None:
        """Write the encoder, the mean and the statistics."""
        self.meaning.save(folder)
        self._words.save(folder)
        save_file({"mean": self._mean, "share": self._share}, folder / _ARRAYS)

    @classmethod
    def is_saved(cls, folder: Path) -> bool:
        """Tell whether a folder has what :meth:`save` wrote."""
        return (folder / _ARRAYS).is_file()

    @classmethod
    def load(cls, folder: Path, meaning: CachedEncoder) -> MeaningAndWords:
        """Read what :meth:`save` wrote."""
        loaded, arrays = cls(meaning), load_file(folder / _ARRAYS)
        loaded._words, loaded._mean, loaded._share = WordStatistics.load(folder), arrays["mean"], arrays["share"]
        return loaded
