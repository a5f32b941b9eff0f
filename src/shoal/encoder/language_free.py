"""Vectors that say what a text means and not in which language it says it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from shoal.scratch import in_blocks, scratch
from shoal.text.languages import Languages
from shoal.vectors import unit_rows

if TYPE_CHECKING:
    from shoal.encoder.representation import CachedEncoder

_SHARES, _MEANS = "languages.json", "languages.safetensors"


class LanguageFree:
    """The vectors of an encoder, each without the mean of the texts in its language.

    Multilingual encoders place translations near each other, but each language also in a region of its own: without
    this, the texts of a mixed corpus are grouped by language first. What is subtracted is the difference between the
    mean of a language and the mean of all texts, so a language that is only about one topic loses that topic.

    Parameters
    ----------
    inner : CachedEncoder
        The encoder.
    languages : Languages
        The languages of the corpus.
    """

    def __init__(self, inner: CachedEncoder, languages: Languages) -> None:
        self.inner = inner
        self.languages = languages

    @property
    def truncated(self) -> int:
        """How many texts of the last call to ``encode`` were cut off."""
        return self.inner.truncated

    @property
    def long_texts(self) -> str | None:
        """How the encoder reads long texts."""
        return self.inner.long_texts

    def fit(self, texts: Sequence[str]) -> Self:
        """Learn the mean of each language, from distinct texts."""
        vectors = self.inner.fit(texts).encode(texts)  # in the order in which they are asked for, and so cached
        first = list({text: row for row, text in enumerate(texts)}.values())
        found, vectors = self.languages.of([texts[row] for row in first]), vectors[first]
        counts = np.bincount(found, minlength=len(self.languages.codes))[:, None]
        sums = np.zeros((len(counts), vectors.shape[1]), dtype=np.float64)
        np.add.at(sums, found, vectors)
        overall = vectors.mean(axis=0)
        self._shifts = np.where(counts > 0, sums / np.maximum(counts, 1) - overall, 0).astype(np.float32)
        return self

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text, of length one."""
        vectors = self.inner.encode(texts)
        shifts = self._shifts[self.languages.of(texts)]
        free = scratch(vectors.shape)
        for block in in_blocks(vectors, free):
            free[block] = unit_rows(vectors[block] - shifts[block])
        return free

    def save(self, folder: Path) -> None:
        """Write the encoder, the languages and their means."""
        self.inner.save(folder)
        (folder / _SHARES).write_text(json.dumps(dict(self.languages.shares)) + "\n", encoding="utf-8")
        save_file({"shifts": self._shifts}, folder / _MEANS)

    @classmethod
    def is_saved(cls, folder: Path) -> bool:
        """Tell whether a folder has what :meth:`save` wrote."""
        return (folder / _MEANS).is_file()

    @classmethod
    def load(cls, folder: Path, inner: CachedEncoder) -> LanguageFree:
        """Read what :meth:`save` wrote."""
        loaded = cls(inner, Languages(json.loads((folder / _SHARES).read_text(encoding="utf-8"))))
        loaded._shifts = load_file(folder / _MEANS)["shifts"]
        return loaded
