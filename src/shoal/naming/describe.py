"""What each cluster is about: keywords, examples, a name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import compress, pairwise
from textwrap import shorten

import numpy as np
from scipy import sparse

from shoal.errors import DataError, ParameterError
from shoal.naming.counts import TermCounts, count_terms
from shoal.naming.fillers import FILLERS
from shoal.naming.keywords import Candidate, ClusterTerms, distinct
from shoal.naming.names import name_terms, unique_names
from shoal.naming.terms import terms
from shoal.text.stop_words import STOP_WORDS, resolve_stop_words

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
    own_stop_words: Collection[str] = (),
    telling: Sequence[Collection[str]] | None = None,
) -> list[ClusterDescription]:
    """Give each cluster keywords, examples and a name.

    Keywords are terms that a good share of the cluster has and the clusters around it do not. A name is at most three
    of them, which together fit this cluster and no other, more if another cluster has the same three, and a number if
    that does not help.

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
    own_stop_words : collection of str
        Further words that are never keywords, in lower case.
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
    ('Git branches, merge', (0, 1))
    ('bread, bake', (2, 3))
    """
    labels = _checked_labels(labels, len(texts), n_clusters)
    if n_keywords < 1:
        raise ParameterError(f"n_keywords={n_keywords} but a name needs a keyword; pass n_keywords >= 1.")
    if n_examples < 0:
        raise ParameterError(f"n_examples={n_examples} is negative; pass n_examples >= 0.")
    rows = np.flatnonzero(labels >= 0)
    clustered = list(compress(texts, labels >= 0))
    labels = labels[rows]
    counts = count_terms(clustered, keyword_stop_words(clustered, stop_words, own_stop_words))
    found = ClusterTerms(counts, labels, n_clusters)
    words = telling or [()] * n_clusters
    chosen = [distinct(found.candidates(k, words[k]), n_keywords) for k in range(n_clusters)]
    nearness = (
        _overlap(counts, labels, chosen) if centrality is None else _checked_centrality(centrality, len(texts))[rows]
    )
    by_nearness = np.lexsort((-nearness, labels))
    starts = np.searchsorted(labels[by_nearness], np.arange(n_clusters + 1))
    members = [by_nearness[start:stop] for start, stop in pairwise(starts)]
    keywords = [tuple(keyword.spelling for keyword in own) for own in chosen]
    names = unique_names(
        [name_terms(found, k, words[k]) for k in range(n_clusters)],
        keywords,
        [_fallback_name(clustered[m[0]] if len(m) else None) for m in members],
    )
    return [
        ClusterDescription(
            keywords[k], tuple(int(rows[i]) for i in _distinct(clustered, members[k], n_examples)), names[k]
        )
        for k in range(n_clusters)
    ]


def keyword_stop_words(
    texts: Sequence[str], stop_words: str | Iterable[str] | None = "auto", own: Collection[str] = ()
) -> frozenset[str]:
    """Return the words that are never keywords: function words, fillers in English texts, and one's own."""
    omitted = resolve_stop_words(stop_words, texts)
    fillers = FILLERS if stop_words == "auto" and STOP_WORDS["en"] <= omitted else frozenset()
    return omitted | fillers | {word.casefold() for word in own}


def _overlap(counts: TermCounts, labels: np.ndarray, chosen: list[list[Candidate]]) -> np.ndarray:
    """Weight of the keywords in a text, over the root of its length so that long texts do not win."""
    term = np.array([keyword.term for own in chosen for keyword in own], dtype=np.int64)
    weight = np.array([keyword.weight for own in chosen for keyword in own], dtype=np.float64)
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
