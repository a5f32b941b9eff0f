"""What a card says of a cluster: its words, its doubtful texts, its neighbours, its copies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shoal.naming.counts import TermCounts, count_terms
from shoal.naming.describe import keyword_stop_words
from shoal.report.contents import Contents
from shoal.text.words import words

# Enough texts and characters to compare words by; more cost time and change nothing.
_READ_TEXTS = 10_000
_READ_CHARACTERS = 1_000
_READ_ALL = 2_000_000
_NEAREST = 3
_WORDS_APART = 5
# A word tells two clusters apart if this share of the texts of one has it, and this many times the other's share.
_LEAST_SHARE = 0.04
_TIMES = 2.0


@dataclass(frozen=True)
class Keyword:
    """A keyword, and the share of texts that have it in this cluster and in all others."""

    word: str
    here: float
    elsewhere: float


@dataclass(frozen=True)
class Near:
    """A cluster near another.

    Attributes
    ----------
    cluster : int
        Its number.
    share : float
        The share of the other's texts that have it as their second choice.
    here, there : tuple of str
        Words more frequent in the other, and in this.
    """

    cluster: int
    share: float
    here: tuple[str, ...]
    there: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """What a card says of a cluster besides its name, size and examples.

    Attributes
    ----------
    keywords : tuple of Keyword
        Its keywords.
    unsure : tuple of int
        The rows with the lowest confidence, without copies.
    nearest : tuple of Near
        The most frequent second choices.
    copies : float
        The share of texts that repeat another one of the cluster but for case, numbers and punctuation.
    """

    keywords: tuple[Keyword, ...]
    unsure: tuple[int, ...]
    nearest: tuple[Near, ...]
    copies: float


def cluster_facts(contents: Contents, *, n_unsure: int = 5) -> list[Facts]:
    """Return the facts of every cluster, in order."""
    n_clusters = len(contents.clusters)
    rows = np.flatnonzero(contents.labels >= 0)
    read = rows[:: max(1, -(-len(rows) // _READ_TEXTS))]
    length = min(_READ_CHARACTERS, max(200, _READ_ALL // max(1, len(read))))
    shares = _Shares.of([contents.texts[i][:length] for i in read], contents.labels[read], n_clusters)
    members = np.split(
        rows[np.argsort(contents.labels[rows], kind="stable")], _starts(contents.labels[rows], n_clusters)
    )
    found = []
    for cluster, own in zip(contents.clusters, members, strict=True):
        nearest = Counter(contents.second[own][contents.second[own] >= 0].tolist()).most_common(_NEAREST)
        keys = [_content_key(contents.texts[i]) for i in own]
        found.append(
            Facts(
                keywords=tuple(shares.of_keyword(word, cluster.id) for word in cluster.keywords),
                unsure=_least_sure(own, keys, contents.confidence, n_unsure),
                nearest=tuple(
                    Near(other, n / len(own), shares.apart(cluster.id, other), shares.apart(other, cluster.id))
                    for other, n in nearest
                ),
                copies=1 - len(set(keys)) / max(1, len(keys)),
            )
        )
    return found


@dataclass(frozen=True)
class _Shares:
    """The share of each cluster's texts that have each term."""

    counts: TermCounts
    by_cluster: NDArray[np.float64]
    sizes: NDArray[np.int64]
    term_of: dict[str, int]

    @classmethod
    def of(cls, texts: Sequence[str], labels: NDArray[np.int64], n_clusters: int) -> _Shares:
        counts = count_terms(texts, keyword_stop_words(texts))
        # Terms of a single text say nothing of a cluster, and would fill the memory.
        frequent = np.flatnonzero(np.bincount(counts.matrix.indices, minlength=counts.matrix.shape[1]) > 1)
        spelling = tuple(counts.spelling[term] for term in frequent)
        there = sparse.csr_matrix(counts.matrix[:, frequent] > 0, dtype=np.float64)
        members = sparse.csr_matrix((np.ones(len(labels)), (labels, np.arange(len(labels)))), (n_clusters, len(labels)))
        sizes = np.bincount(labels, minlength=n_clusters)
        by_cluster = (members @ there).toarray() / np.maximum(sizes, 1)[:, None]
        return cls(TermCounts(there, spelling), by_cluster, sizes, {word: term for term, word in enumerate(spelling)})

    def of_keyword(self, word: str, cluster: int) -> Keyword:
        """Return the shares of a keyword, here and in all other clusters together."""
        term = self.term_of.get(word)
        if term is None:
            return Keyword(word, 0.0, 0.0)
        with_it = self.by_cluster[:, term] * self.sizes
        others = max(1, self.sizes.sum() - self.sizes[cluster])
        return Keyword(word, float(self.by_cluster[cluster, term]), float((with_it.sum() - with_it[cluster]) / others))

    def apart(self, here: int, there: int) -> tuple[str, ...]:
        """Return the words of one cluster that the other has much more rarely, most telling first."""
        own, other = self.by_cluster[here], self.by_cluster[there]
        telling = np.where((own >= _LEAST_SHARE) & (own >= _TIMES * other), own - other, 0.0)
        chosen: list[str] = []
        seen: set[str] = set()
        for term in np.argsort(-telling, kind="stable")[: 4 * _WORDS_APART]:
            parts = set(self.counts.spelling[term].casefold().split())
            if telling[term] > 0 and seen.isdisjoint(parts) and len(chosen) < _WORDS_APART:
                chosen.append(self.counts.spelling[term])
                seen |= parts
        return tuple(chosen)


def _starts(labels: NDArray[np.int64], n_clusters: int) -> NDArray[np.int64]:
    """Return where each cluster but the first begins in the sorted labels."""
    return np.searchsorted(np.sort(labels), np.arange(1, n_clusters))


def _least_sure(
    rows: NDArray[np.int64], keys: Sequence[str], confidence: NDArray[np.float64], wanted: int
) -> tuple[int, ...]:
    """Return the rows of the lowest confidence, one of each content."""
    chosen: dict[str, int] = {}
    for i in np.argsort(confidence[rows], kind="stable"):
        if len(chosen) == wanted:
            break
        chosen.setdefault(keys[i], int(rows[i]))
    return tuple(chosen.values())


def _content_key(text: str) -> str:
    """Return what near-duplicates share: their words, without case, numbers and punctuation."""
    kept = [word.casefold() for word in words(text[:_READ_CHARACTERS]) if not any(map(str.isdigit, word))]
    return " ".join(kept) or text[:_READ_CHARACTERS]
