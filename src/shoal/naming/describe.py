"""What each cluster is about: keywords, examples, a name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, compress, count, pairwise
from textwrap import shorten

import numpy as np
from scipy import sparse

from shoal.errors import DataError, ParameterError
from shoal.naming.keywords import TermCounts, cluster_keywords, count_terms
from shoal.naming.terms import terms
from shoal.text.stop_words import resolve_stop_words

_KEYWORDS_IN_NAME = 3
_EXAMPLE_IN_NAME = 40
# Two texts are near-identical if they share this part of their words and word pairs (Jaccard).
_NEAR_IDENTICAL = 0.7


@dataclass(frozen=True)
class ClusterDescription:
    """What one cluster is about.

    Parameters
    ----------
    keywords : tuple of str
        The most telling words and phrases, best first.
    examples : tuple of int
        Rows of the most central texts, without near-duplicates.
    name : str
        A short name that no other cluster has.
    """

    keywords: tuple[str, ...]
    examples: tuple[int, ...]
    name: str


def describe(
    texts: Sequence[str],
    labels: np.ndarray,
    n_clusters: int,
    *,
    centrality: np.ndarray | None = None,
    n_keywords: int = 8,
    n_examples: int = 5,
    stop_words: str | Iterable[str] | None = "auto",
    telling: Sequence[Collection[str]] | None = None,
) -> list[ClusterDescription]:
    """Give each cluster keywords, examples and a name.

    Keywords are ranked by class-based TF-IDF (`shoal.naming.c_tf_idf`). A name is the best three, more if another
    cluster has the same three, and a number if that does not help.

    Parameters
    ----------
    texts : sequence of str of length n
        The texts.
    labels : array of shape (n,)
        The cluster of each text, from 0; -1 for a text in no cluster, which is ignored.
    n_clusters : int
        The number of clusters. A cluster may have no text.
    centrality : array of shape (n,), optional
        How near each text is to the centre of its cluster; higher is nearer. By default, how much a text shares with
        the keywords of its cluster.
    n_keywords, n_examples : int
        The maximum number of keywords and examples per cluster.
    stop_words : "auto", iterable of str or None
        Words that are never keywords: "auto" for the function words of the languages found in the texts, your
        own words, or None.
    telling : sequence of collections of str, optional
        Words that another source finds typical of each cluster, in lower case, such as those of its topics.
        Keywords that contain one of them come first, and so enter the name.

    Returns
    -------
    list of ClusterDescription
        One per cluster, in order.

    Raises
    ------
    DataError
        `labels` or `centrality` does not match `texts`.
    ParameterError
        `n_keywords`, `n_examples` or `stop_words` has an invalid value.

    Examples
    --------
    >>> texts = ["How to merge two Git branches", "Git branch deleted", "bake bread", "Bread without yeast"]
    >>> for cluster in describe(texts, [0, 0, 1, 1], n_clusters=2):
    ...     cluster.name, cluster.examples
    ('Git branches, merge, deleted', (0, 1))
    ('bread, bake, yeast', (3, 2))
    """
    labels = _checked_labels(labels, len(texts), n_clusters)
    if n_keywords < 1:
        raise ParameterError(f"n_keywords={n_keywords} but a name needs a keyword; pass n_keywords >= 1.")
    if n_examples < 0:
        raise ParameterError(f"n_examples={n_examples} is negative; pass n_examples >= 0.")
    rows = np.flatnonzero(labels >= 0)
    clustered = list(compress(texts, labels >= 0))
    labels = labels[rows]
    counts = count_terms(clustered, resolve_stop_words(stop_words, clustered))
    chosen = cluster_keywords(counts, labels, n_clusters, n_keywords)
    nearness = (
        _overlap(counts, labels, chosen) if centrality is None else _checked_centrality(centrality, len(texts))[rows]
    )
    keywords = [tuple(counts.spelling[term] for term in own) for own in chosen]
    if telling is not None:
        keywords = [_telling_first(own, words) for own, words in zip(keywords, telling, strict=True)]
    by_nearness = np.lexsort((-nearness, labels))
    starts = np.searchsorted(labels[by_nearness], np.arange(n_clusters + 1))
    members = [by_nearness[start:stop] for start, stop in pairwise(starts)]
    names = _names(keywords, [clustered[m[0]] if len(m) else None for m in members])
    return [
        ClusterDescription(
            keywords[k], tuple(int(rows[i]) for i in _distinct(clustered, members[k], n_examples)), names[k]
        )
        for k in range(n_clusters)
    ]


def _telling_first(keywords: tuple[str, ...], telling: Collection[str]) -> tuple[str, ...]:
    """Move keywords that contain a telling word to the front, keeping their order."""
    return tuple(sorted(keywords, key=lambda keyword: set(keyword.casefold().split()).isdisjoint(telling)))


def _overlap(counts: TermCounts, labels: np.ndarray, chosen: list[dict[int, float]]) -> np.ndarray:
    """Weight of the keywords in a text, over the root of its length so that long texts do not win."""
    term = np.array([term for own in chosen for term in own], dtype=np.int64)
    weight = np.array([weight for own in chosen for weight in own.values()], dtype=np.float64)
    ends = np.cumsum([0, *map(len, chosen)])
    weights = sparse.csr_matrix((weight, term, ends), shape=(len(chosen), counts.matrix.shape[1])).sorted_indices()
    score = np.asarray((counts.matrix > 0).multiply(weights[labels]).sum(axis=1), dtype=np.float64).ravel()
    length = np.asarray(counts.matrix.sum(axis=1), dtype=np.float64).ravel()
    return score / np.sqrt(np.maximum(length, 1.0))


def _distinct(texts: Sequence[str], order: np.ndarray, wanted: int) -> list[int]:
    """Pick the first texts in `order`, skipping near-duplicates of those already picked."""
    picked: list[int] = []
    seen: list[set[str]] = []
    for row in order:
        if len(picked) == wanted:
            break
        # Texts from one template often differ only in a number.
        held = {term.casefold() for term in terms(re.sub(r"\d+", "0", texts[row]))} or {texts[row]}
        if all(len(held & other) < _NEAR_IDENTICAL * len(held | other) for other in seen):
            picked.append(row)
            seen.append(held)
    return picked


def _names(keywords: Sequence[tuple[str, ...]], nearest: Sequence[str | None]) -> list[str]:
    """One name per cluster, all different; `nearest` is its most central text, None without texts."""
    names: list[str] = []
    taken: set[frozenset[str]] = set()
    for own, text in zip(keywords, nearest, strict=True):
        best = own or (_fallback_name(text),)
        short = best[:_KEYWORDS_IN_NAME]
        extended = (best[:length] for length in range(len(short), len(best) + 1))
        numbered = ((*short[:-1], f"{short[-1]} ({number})") for number in count(2))
        name = next(name for name in chain(extended, numbered) if _same_name(name) not in taken)
        taken.add(_same_name(name))
        names.append(", ".join(name))
    return names


def _same_name(name: tuple[str, ...]) -> frozenset[str]:
    """Key of a name: names that differ only in case or order are the same to a reader."""
    return frozenset(word.casefold() for word in name)


def _fallback_name(text: str | None) -> str:
    """Name a cluster without keywords by its most central text."""
    if text is None:
        return "(empty)"
    return f'"{shorten(text, _EXAMPLE_IN_NAME, placeholder="…")}"' if text.strip() else "(no telling words)"


def _checked_labels(labels: np.ndarray, n_texts: int, n_clusters: int) -> np.ndarray:
    """Labels as whole numbers from -1 to n_clusters - 1, one per text."""
    checked = np.asarray(labels)
    if checked.shape != (n_texts,):
        raise DataError(f"labels has shape {checked.shape} but there are {n_texts} texts; pass one label per text.")
    if n_texts == 0:
        return checked.astype(np.int64)
    if not np.issubdtype(checked.dtype, np.integer):
        raise DataError(f"labels has type {checked.dtype}; pass whole numbers, -1 for a text in no cluster.")
    if checked.min() < -1 or checked.max() >= n_clusters:
        raise DataError(
            f"labels run from {checked.min()} to {checked.max()} but n_clusters={n_clusters}; "
            f"pass labels from -1 to {n_clusters - 1}."
        )
    return checked.astype(np.int64)


def _checked_centrality(centrality: np.ndarray, n_texts: int) -> np.ndarray:
    """Centrality as numbers, one per text."""
    checked = np.asarray(centrality, dtype=np.float64)
    if checked.shape != (n_texts,):
        raise DataError(
            f"centrality has shape {checked.shape} but there are {n_texts} texts; pass one number per text."
        )
    if np.isnan(checked).any():
        raise DataError(f"centrality holds {np.isnan(checked).sum()} NaN; pass a number for each text.")
    return checked
