"""Smooth inverse frequency: a sentence as the weighted mean of its word vectors (Arora, Liang and Ma 2017)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from shoal.encoder.word_frequencies import AUTO, word_shares
from shoal.encoder.word_vectors import LEARNT, word_vectors
from shoal.errors import ParameterError
from shoal.text.words import split_words
from shoal.vectors import unit_rows

_WORDS, _ARRAYS = "words.json", "word_vectors.safetensors"


class SIF:
    """Weighted word vectors with the common direction removed.

    A word has the weight a / (a + p(w)), where p(w) is its share of all words (equation 3 of the paper). The projection
    of each sentence on the first singular vector of all sentences is subtracted (algorithm 1). A word without a known
    frequency has weight 1.

    Parameters
    ----------
    word_vectors : str, default="corpus"
        Their source, as in :func:`shoal.encoder.word_vectors.word_vectors`.
    a : float, default=1e-3
        The paper's value.
    frequencies : str, default="auto"
        Where p comes from, as in :func:`shoal.encoder.word_frequencies.word_shares`.
    unit : bool, default=False
        Scale vectors to length one at the end.
    """

    truncated = 0

    def __init__(
        self, *, word_vectors: str = "corpus", a: float = 1e-3, frequencies: str = AUTO, unit: bool = False
    ) -> None:
        self.word_vectors = word_vectors
        self.a = a
        self.frequencies = frequencies
        self.unit = unit

    def fit(self, texts: Sequence[str]) -> SIF:
        """Learn the weights of the words and the common direction."""
        if not self.a > 0:
            raise ParameterError(f"sif_a={self.a!r} but it must be greater than 0; pass the paper's 1e-3.")
        words, vectors = word_vectors(self.word_vectors, texts)
        self._rows = {word: row for row, word in enumerate(words)}
        learnt = self.word_vectors in LEARNT
        shares = word_shares(words, self.frequencies, documents=(_words(text) for text in texts), ranked=not learnt)
        weight = self.a / (self.a + shares)
        # contiguous, because safetensors would write rows of any other layout in the wrong order
        self._weighted = np.ascontiguousarray(vectors * weight[:, None], dtype=np.float32)
        sentences = self._means(texts)
        self._common = np.linalg.svd(sentences, full_matrices=False)[2][0].astype(np.float32)
        return self

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (len(texts), dimension); a text without a known word is the zero vector."""
        vectors = self._means(texts)
        vectors -= np.outer(vectors @ self._common, self._common)
        return unit_rows(vectors) if self.unit else vectors

    def _means(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the weighted means, the common direction included."""
        vectors = np.zeros((len(texts), self._weighted.shape[1]), dtype=np.float32)
        for i, text in enumerate(texts):
            rows = [self._rows[word] for word in _words(text) if word in self._rows]
            if rows:
                vectors[i] = self._weighted[rows].mean(axis=0)
        return vectors

    def save(self, folder: Path) -> None:
        """Write words, weighted vectors and the common direction into ``folder``."""
        (folder / _WORDS).write_text(json.dumps(list(self._rows), ensure_ascii=False), encoding="utf-8")
        save_file({"weighted": self._weighted, "common": self._common}, folder / _ARRAYS)

    @classmethod
    def load(cls, folder: Path, unit: bool = False) -> SIF:
        """Read what :meth:`save` wrote."""
        sif, arrays = cls(unit=unit), load_file(folder / _ARRAYS)
        words = json.loads((folder / _WORDS).read_text(encoding="utf-8"))
        sif._rows = {word: row for row, word in enumerate(words)}
        sif._weighted, sif._common = arrays["weighted"], arrays["common"]
        return sif


def _words(text: str) -> list[str]:
    """Return the words in lower case."""
    return [word.text.lower() for word in split_words(text)]
