"""Texts for measuring speed: a data set's if it is there, otherwise Python's own docstrings; any number of them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.demo_texts import standard_library_texts
from shoal.errors import DataError
from shoal_bench.data_sets import DATA_SETS

NAMES = {"titles": "stackoverflow", "sentences": "bbc_sentences"}
DOCSTRINGS = {"titles": "short docstrings", "sentences": "long docstrings"}
# Noise a coordinate: in the built-in encoder's 384 dimensions a cosine of about 0.93 to the vector that is repeated.
JITTER = 0.02


def source_of(kind: str) -> str:
    """Name where texts of a kind come from on this machine.

    Parameters
    ----------
    kind : {"titles", "sentences"}
        Short or long texts.

    Returns
    -------
    str
        The data set's name, or what stands in for it.

    Examples
    --------
    >>> source_of("titles") in ("stackoverflow", "short docstrings")
    True
    """
    data_set = DATA_SETS[NAMES[kind]]
    return data_set.name if data_set.file().is_file() else DOCSTRINGS[kind]


def read_texts(source: str) -> list[str]:
    """Read all texts of a source, each once, in their order.

    Parameters
    ----------
    source : str
        From :func:`source_of`. The docstrings' first sentences are halved by their number of words.

    Returns
    -------
    list of str

    Raises
    ------
    DataError
        If there are none.
    """
    if source in DOCSTRINGS.values():
        found = sorted((text.text for text in standard_library_texts(None)), key=lambda text: len(text.split()))
        middle = len(found) // 2
        texts = found[:middle] if source == DOCSTRINGS["titles"] else found[middle:]
    else:
        texts = DATA_SETS[source].load().texts
    distinct = list(dict.fromkeys(filter(str.strip, texts)))
    if not distinct:  # a Python without the source files of its library
        raise DataError(f"there are no {source}; run: shoal-bench fetch {' '.join(NAMES.values())}")
    return distinct


def varied_texts(texts: Sequence[str], n: int, seed: int = 0) -> list[str]:
    """Return ``n`` distinct texts: the given ones in random order, then the same again with small changes.

    In a repeated text one word gives way to a word of another text; if that text is there already, further words
    follow. Fewer texts are always the head of more.

    Parameters
    ----------
    texts : sequence of str
        At least one that has a word.
    n : int
        How many are wanted.
    seed : int, default=0
        For the order and the changes.

    Returns
    -------
    list of str

    Examples
    --------
    >>> len(set(varied_texts(["a red fish", "two blue whales"], 50)))
    50
    """
    rng = random.Random(seed)
    originals = list(dict.fromkeys(texts))
    rng.shuffle(originals)
    made = dict.fromkeys(originals[:n])
    for original in itertools.cycle(originals):
        if len(made) >= n:
            break
        words = original.split()
        words[rng.randrange(len(words))] = _some_word(originals, rng)
        while " ".join(words) in made:
            words.append(_some_word(originals, rng))
        made[" ".join(words)] = None
    return list(made)


def _some_word(texts: Sequence[str], rng: random.Random) -> str:
    """Draw a word as often as it occurs."""
    return rng.choice(rng.choice(texts).split())


def varied_vectors(vectors: NDArray[np.float32], n: int, seed: int = 0) -> NDArray[np.float32]:
    """Return ``n`` unit vectors: the given ones, then the same again with a little noise.

    Parameters
    ----------
    vectors : ndarray of shape (m, d)
        Unit vectors.
    n : int
        How many are wanted.
    seed : int, default=0
        For the noise.

    Returns
    -------
    ndarray of shape (n, d)

    Examples
    --------
    >>> varied_vectors(np.eye(3, dtype=np.float32), 5).shape
    (5, 3)
    """
    varied = vectors[np.arange(n) % len(vectors)]
    later = varied[len(vectors) :]
    later += JITTER * np.random.default_rng(seed).standard_normal(later.shape, dtype=np.float32)
    later /= np.linalg.norm(later, axis=1, keepdims=True)
    return varied
