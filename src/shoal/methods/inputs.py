"""The input of an estimator: texts, vectors computed elsewhere, or both."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.clustering import NO_CLUSTER
from shoal.corpus import Corpus
from shoal.errors import DataError, ParameterError
from shoal.parameters import shown


@dataclass(frozen=True)
class Rows:
    """The rows to work on.

    Attributes
    ----------
    present : ndarray of bool, shape (n,)
        False where a row has no text; such a row gets no cluster.
    texts : list of str or None
        The texts of the present rows.
    vectors : ndarray or None
        Their vectors, if given.
    """

    present: NDArray[np.bool_]
    texts: list[str] | None
    vectors: NDArray[np.float32] | None

    def __len__(self) -> int:
        return int(self.present.sum())

    def row(self, i: int) -> Rows:
        """Return the ``i``-th present row alone."""
        return self.take(np.array([i]))

    def take(self, places: NDArray[np.int64]) -> Rows:
        """Return some of the present rows."""
        return Rows(
            np.ones(len(places), dtype=bool),
            None if self.texts is None else [self.texts[i] for i in places],
            None if self.vectors is None else self.vectors[places],
        )


def row_keys(rows: Rows) -> NDArray[np.uint64]:
    """Return a key for each row: the same for texts that differ only in case and white space.

    Without texts, the keys come from the vectors.

    Examples
    --------
    >>> keys = row_keys(Rows(np.ones(3, dtype=bool), ["A  fish", "a fish", "a dish"], None))
    >>> bool(keys[0] == keys[1]), bool(keys[1] == keys[2])
    (True, False)
    """
    if rows.texts is not None:
        contents = (" ".join(text.lower().split()).encode("utf-8", "surrogatepass") for text in rows.texts)
    elif rows.vectors is not None:
        contents = (vector.tobytes() for vector in np.ascontiguousarray(rows.vectors, dtype=np.float32))
    digests = b"".join(hashlib.blake2b(content, digest_size=8).digest() for content in contents)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def are_texts(X: Any) -> bool:
    """Tell whether ``X`` holds texts rather than vectors.

    Examples
    --------
    >>> are_texts(["a fish", None]), are_texts([[0.1, 0.2]])
    (True, False)
    """
    if isinstance(X, str):
        raise DataError(f"X is one string ({X[:40]!r}…); pass a list of texts, e.g. [text].")
    if isinstance(X, Corpus) or hasattr(X, "to_pylist") or hasattr(X, "column_names"):
        return True  # a Corpus, an Arrow table or a dataset: texts, never a matrix
    if hasattr(X, "columns"):  # a pandas or polars frame is a matrix if its first rows are all numbers
        head = X.head(50)
        return any(isinstance(value, str) for name in head.columns for value in head[name])
    if not isinstance(X, list | tuple) and getattr(X, "ndim", None) != 1 and not hasattr(X, "to_list"):
        return False
    return len(X) == 0 or any(isinstance(value, str) for value in X) or all(value is None for value in X)


def rows_of(X: Any, vectors: Any = None) -> Rows:
    """Separate the texts from the empty rows.

    Parameters
    ----------
    X : Corpus, list of str, Series, DataFrame, …
        The texts.
    vectors : array-like of shape (n, d), optional
        One vector per row, empty rows included.
    """
    corpus = Corpus.of(X)
    present = ~corpus.empty
    texts = [text for text in corpus.texts if text]
    if vectors is None:
        return Rows(present, texts, None)
    matrix = as_vectors(vectors)
    if len(matrix) != len(corpus):
        raise DataError(f"vectors has {len(matrix)} rows but there are {len(corpus)} texts; pass one vector per text.")
    return Rows(present, texts, matrix[present])


def check_size(rows: Rows, least: int, n_clusters: Any) -> None:
    """Reject a number of clusters that the corpus cannot fill.

    Parameters
    ----------
    rows : Rows
        The texts or vectors.
    least : int
        The smallest number of clusters that would do.
    n_clusters : Any
        The parameter, as it was given.
    """
    if not len(rows):
        raise DataError(f"all {len(rows.present)} texts are empty; there is nothing to cluster.")
    items: Any = rows.texts if rows.texts is not None else (row.tobytes() for row in rows.vectors)  # type: ignore[union-attr]
    distinct = len(set(items))
    if least > distinct:
        found = (
            f"the corpus has {len(rows)} texts, {distinct} of them distinct"
            if rows.texts is not None
            else f"there are n_samples={len(rows)} vectors, {distinct} of them distinct"
        )
        raise ParameterError(f"n_clusters={shown(n_clusters)} but {found}; pass n_clusters <= {distinct}.")


def spread_over(
    present: NDArray[np.bool_], labels: NDArray[np.int64], probabilities: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Spread labels and probabilities over all rows, including those without text."""
    if present.all():
        return labels, probabilities
    all_labels = np.full(len(present), NO_CLUSTER, dtype=np.int64)
    all_labels[present] = labels
    spread = np.zeros((len(present), probabilities.shape[1]), dtype=np.float32)
    spread[present] = probabilities
    return all_labels, spread


def present_pairs(corpus: Corpus, pairs: Any) -> tuple[list[str], list[str]]:
    """Check pairs against the corpus and omit those of empty rows; the text itself replaces an empty view."""
    left, right = pairs
    if not len(left) == len(right) == len(corpus):
        raise DataError(
            f"pairs has {len(left)} and {len(right)} texts but there are {len(corpus)} rows; pass two views of each."
        )
    kept = [i for i, text in enumerate(corpus.texts) if text]
    first, second = ([str(view[i] or corpus.texts[i]) for i in kept] for view in (list(left), list(right)))
    return first, second


def as_vectors(vectors: Any) -> NDArray[np.float32]:
    """Return a finite float32 matrix, or raise an error that says what is wrong."""
    try:
        matrix = np.ascontiguousarray(np.asarray(vectors, dtype=np.float32))
    except (TypeError, ValueError) as reason:
        raise DataError(f"vectors cannot be read as numbers ({reason}); pass an array of shape (n, d).") from reason
    if matrix.ndim != 2 or not matrix.size:
        raise DataError(f"vectors has shape {matrix.shape}; pass an array of shape (n, d), one row per text.")
    broken = int((~np.isfinite(matrix)).any(axis=1).sum())
    if broken:
        raise DataError(f"vectors has NaN or infinity in {broken} of {len(matrix)} rows; repair or drop them.")
    return matrix


def read_vectors(file: Path) -> NDArray[np.float32]:
    """Read a matrix from a .npy file, never a pickle."""
    try:
        return as_vectors(np.load(file, allow_pickle=False))
    except DataError:
        raise
    except (OSError, ValueError, EOFError, MemoryError, RecursionError, SyntaxError) as reason:
        raise DataError(f"--vectors {file} cannot be read ({reason}); pass a .npy file of numbers.") from reason
