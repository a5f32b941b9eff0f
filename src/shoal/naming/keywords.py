"""Keywords of clusters: what a good share of a cluster says, and the clusters around it do not."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shoal.naming.counts import TermCounts, singular
from shoal.naming.terms import PARTICLES
from shoal.text.words import characters, is_unspaced

_ENDING = re.compile("|s|es|e|ed|d|ers?|r|ings?|en|n|ern|em|ung|ungen|ments?|ions?|ations?|ors?|al|ly|y|e?ful|less")
_SHORTEST_STEM = 4
# A cluster of fewer texts may be named by words that occur in only one of them.
_FEW_TEXTS = 4
# A term is about a cluster if this share of its texts has it, and this many times the share of the other texts.
_LEAST_SHARE = 0.05
_LEAST_RATIO = 1.5
# Half of what a term is compared with are all other texts, half the clusters most like this one, at most so many.
_NEAR_CLUSTERS = 5
# A phrase replaces a word of it that, in this cluster, occurs mostly inside it.
_TAKE_OVER = 0.5
# A verb and its particle are a phrase if the verb mostly has it: "top up", but not "card in".
_BELONGS = 0.4
# Below 1, what distinguishes a cluster counts for more than what is frequent in it.
_SHARE_POWER = 0.7
# Terms to consider per cluster.
_CANDIDATES = 300
# How much more another source's words weigh.
_TELLING = 3.0


def c_tf_idf(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    r"""Weight terms by how typical they are of a cluster: class-based TF-IDF.

    .. math:: W_{t,c} = \frac{n_{t,c}}{\sum_{t'} n_{t',c}} \, \log\left(1 + \frac{A}{f_t}\right)

    where :math:`n_{t,c}` counts term t in cluster c, :math:`f_t` counts it in all clusters, and A is the mean
    number of terms in a cluster. Clusters without terms count neither in A nor in W.

    Parameters
    ----------
    counts : csr_matrix of shape (n_clusters, n_terms)
        Occurrences of each term in each cluster.

    Returns
    -------
    csr_matrix of shape (n_clusters, n_terms)
        The weights.

    References
    ----------
    Grootendorst, M. (2022). BERTopic: Neural topic modeling with a class-based TF-IDF procedure.
    arXiv:2203.05794, equation 2.

    Examples
    --------
    >>> weights = c_tf_idf(sparse.csr_matrix([[3, 1], [0, 4]]))
    >>> weights.toarray().round(3).tolist()  # 3/4 log(1 + 4/3), 1/4 log(1 + 4/5); 0, 4/4 log(1 + 4/5)
    [[0.635, 0.147], [0.0, 0.588]]
    """
    per_cluster = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    per_term = np.asarray(counts.sum(axis=0), dtype=np.float64).ravel()
    mean = per_cluster.sum() / max(1, np.count_nonzero(per_cluster))
    idf = np.log1p(mean / np.maximum(per_term, 1.0))
    frequency = sparse.diags_array(1.0 / np.maximum(per_cluster, 1.0)) @ counts
    return sparse.csr_matrix(frequency @ sparse.diags_array(idf))


@dataclass
class Candidate:
    """A term that may describe a cluster.

    Attributes
    ----------
    term : int
        Its column in the counts.
    spelling : str
        How it is written.
    n_texts : int
        How many of the cluster's texts have it.
    share : float
        The share of the cluster's texts that have it.
    weight : float
        How well it tells the cluster from the others.
    parts : list of str
        Its words without stop words, or pairs of characters in scripts without spaces.
    """

    term: int
    spelling: str
    n_texts: int
    share: float
    weight: float
    parts: list[str]
    ends: tuple[str, ...] = ()

    @property
    def length(self) -> int:
        """How many words it has, or pairs of characters."""
        return len(self.parts) if self.ends else len(self.spelling.replace("-", " ").split())

    @property
    def usual(self) -> bool:
        """Whether more than one text says it so, or all do."""
        return self.n_texts > 1 or self.share == 1

    def repeats(self, other: Candidate) -> bool:
        """Tell whether the two share a word, or one starts with the character the other ends with."""
        if self.ends and other.ends and (self.ends[0] == other.ends[1] or self.ends[1] == other.ends[0]):
            return True
        return any(same_word(part, its) for part in self.parts for its in other.parts)

    def contains(self, other: Candidate) -> bool:
        """Tell whether every word of the other is in this term."""
        return all(any(same_word(part, its) for its in self.parts) for part in other.parts)


class ClusterTerms:
    """The terms of every cluster, and how well they tell it from the others.

    Parameters
    ----------
    counts : TermCounts
        Terms of the texts.
    labels : ndarray of shape (n_texts,)
        The cluster of each text, from 0.
    n_clusters : int
        The number of clusters.
    """

    def __init__(self, counts: TermCounts, labels: NDArray[np.int64], n_clusters: int) -> None:
        self.counts = counts
        n_texts = len(labels)
        members = sparse.csr_matrix((np.ones(n_texts), (labels, np.arange(n_texts))), (n_clusters, n_texts))
        there = sparse.csr_matrix(counts.matrix > 0, dtype=np.float64)
        self.sizes = np.bincount(labels, minlength=n_clusters)
        self.texts_with = sparse.csr_matrix(members @ there)
        self.texts_with.sort_indices()
        self.all_with = np.asarray(there.sum(axis=0)).ravel()
        shares = sparse.csr_matrix(sparse.diags_array(1 / np.maximum(self.sizes, 1)) @ self.texts_with)
        self.shares = sparse.csc_matrix(shares)
        self.near = _near_clusters(shares, self.all_with / max(1, n_texts))
        self.term_of = {spelling: term for term, spelling in enumerate(counts.spelling)}

    def candidates(self, cluster: int, telling: Collection[str] = ()) -> list[Candidate]:
        """Return the terms that describe a cluster, most telling first.

        Parameters
        ----------
        cluster : int
            Its number.
        telling : collection of str
            Words that another source finds typical of the cluster.
        """
        span = slice(*self.texts_with.indptr[cluster : cluster + 2])
        found, n_with = self.texts_with.indices[span], self.texts_with.data[span]
        if not len(found):
            return []
        size = self.sizes[cluster]
        share, elsewhere = n_with / size, self._elsewhere(cluster, found, n_with)
        frequent = n_with >= 2 if size >= _FEW_TEXTS else np.ones(len(found), dtype=bool)
        frequent &= share >= _LEAST_SHARE
        # What nearly all texts have, such as a footer, describes no cluster; if there is nothing else, it has to do.
        for kept in (frequent & (share >= _LEAST_RATIO * elsewhere), frequent, n_with > 0):
            if kept.any():
                break
        compared = self.compared(cluster, self._weights(cluster), found, elsewhere)
        weight = np.where(kept, telling_weight(share, compared), -np.inf)
        made = [
            self._candidate(int(found[i]), int(n_with[i]), float(share[i]), float(weight[i]))
            for i in np.lexsort((found, -weight))[:_CANDIDATES]
            if kept[i] and self._is_phrase(int(found[i]))
        ]
        for candidate in made:
            if not set(candidate.spelling.casefold().split()).isdisjoint(telling):
                candidate.weight *= _TELLING
        return sorted(made, key=lambda candidate: -candidate.weight)

    def compared(
        self, cluster: int, weights: NDArray[np.float64], found: NDArray[np.int64], elsewhere: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the shares of terms in other clusters, half by ``weights``, half in all other texts."""
        if not weights.any():
            return elsewhere
        near = np.asarray((self.shares[:, found].T @ weights) / weights.sum()).ravel()
        return np.asarray((near + elsewhere) / 2)

    def others(self, cluster: int, found: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the shares of terms in all other texts."""
        return self._elsewhere(cluster, found, self.texts_with[cluster, found].toarray().ravel())

    def _weights(self, cluster: int) -> NDArray[np.float64]:
        """Return how much each other cluster is like this one; 0 for all but the nearest."""
        return np.asarray(self.near[cluster])

    def _elsewhere(self, cluster: int, found: NDArray[np.int64], n_with: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the share of all other texts that have each term, never quite 0."""
        rest = max(self.sizes.sum() - self.sizes[cluster], self.sizes[cluster])
        return np.asarray((self.all_with[found] - n_with + 0.5) / (rest + 1))

    def _candidate(self, term: int, n_texts: int, share: float, weight: float) -> Candidate:
        """Return a term with what it is made of."""
        spelling = self.counts.spelling[term]
        # In scripts without spaces, pairs of characters serve as words, so that overlapping terms share parts.
        if is_unspaced(spelling):
            single = characters(spelling)
            parts = ["".join(pair) for pair in pairwise(single)] or single
            return Candidate(term, spelling, n_texts, share, weight, parts, (single[0], single[-1]))
        words = spelling.casefold().replace("-", " ").split()
        parts = [singular(word) for word in words if word not in self.counts.stop_words]
        return Candidate(term, spelling, n_texts, share, weight, parts or words)

    def _is_phrase(self, term: int) -> bool:
        """Tell whether a term ends where a phrase does: "card in" is none, "tried to top" lacks its "up"."""
        before, _, last = self.counts.spelling[term].rpartition(" ")
        if not before:
            return True
        if last.casefold() in PARTICLES:
            alone = self.term_of.get(before)
            return alone is None or self.all_with[term] >= _BELONGS * self.all_with[alone]
        alone = self.term_of.get(last)
        longer = [self.term_of.get(f"{last} {particle}") for particle in PARTICLES]
        most = max((self.all_with[each] for each in longer if each is not None), default=0)
        return alone is None or most < _BELONGS * self.all_with[alone]


def telling_weight(share: NDArray[np.float64], elsewhere: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Return how well a term tells a cluster from others: :math:`p \log(p / q)`.

    The share p of the cluster's texts that have it, times the log of how many times more that is than the share q of
    others: a term must be both frequent here and rare there.

    Examples
    --------
    >>> telling_weight(np.array([0.5, 0.5, 0.01]), np.array([0.05, 0.5, 0.001])).round(3).tolist()
    [1.417, 0.0, 0.092]
    """
    return np.asarray(share**_SHARE_POWER * np.log(share / elsewhere))


def cluster_keywords(
    counts: TermCounts, labels: NDArray[np.int64], n_clusters: int, n_keywords: int
) -> list[dict[int, float]]:
    """Choose the keywords of each cluster.

    Terms are ranked by :func:`telling_weight`. A term must occur in two texts of the cluster, unless the cluster has
    fewer than four texts or no such term. A keyword that only repeats another is omitted: an inflected form, or the
    less telling of "support vector" and "vector".

    Parameters
    ----------
    counts : TermCounts
        Terms of the texts.
    labels : ndarray of shape (n_texts,)
        The cluster of each text, from 0.
    n_clusters, n_keywords : int
        The number of clusters, and the maximum number of keywords for each.

    Returns
    -------
    list of dict
        For each cluster its terms, as columns of `counts.matrix`, with their weights, most telling first.

    Examples
    --------
    >>> from shoal.naming.counts import count_terms
    >>> counts = count_terms(["red wine", "dry red wine", "green tea", "cold green tea"])
    >>> chosen = cluster_keywords(counts, np.array([0, 0, 1, 1]), 2, 3)
    >>> [[counts.spelling[term] for term in terms] for terms in chosen]
    [['red wine', 'dry'], ['green tea', 'cold']]
    """
    found = ClusterTerms(counts, labels, n_clusters)
    chosen = [distinct(found.candidates(cluster), n_keywords) for cluster in range(n_clusters)]
    return [{keyword.term: keyword.weight for keyword in own} for own in chosen]


def distinct(ranked: Sequence[Candidate], wanted: int) -> list[Candidate]:
    """Keep the terms that repeat no better one; a phrase replaces a word that occurs mostly inside it."""
    kept: list[Candidate] = []
    for candidate in ranked:
        if len(kept) == wanted:
            break
        if not any(candidate.repeats(other) for other in kept):
            kept.append(longer_form(candidate, [each for each in ranked if not _repeats_any(each, kept)]))
    return kept


def longer_form(candidate: Candidate, among: Sequence[Candidate]) -> Candidate:
    """Return the phrase that a term is mostly part of, or the term itself."""
    phrases = [
        other
        for other in among
        if other.length > candidate.length and other.share > _TAKE_OVER * candidate.share and other.contains(candidate)
    ]
    if not phrases:
        return candidate
    return longer_form(max(phrases, key=lambda phrase: (phrase.share, -len(phrase.spelling))), among)


def same_word(one: str, other: str) -> bool:
    """Guess cheaply whether two words are forms of one: deploy, deployed, deployment; top, topped."""
    if one == other or one[:2] != other[:2]:
        return one == other
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    endings = {one[alike:], other[alike:]}
    if "" in endings and max(endings, key=len) in (one[alike - 1] + "ed", one[alike - 1] + "ing"):
        return True
    shortest = _SHORTEST_STEM if "" in endings else _SHORTEST_STEM + 1
    return endings == {"", "s"} or (alike >= shortest and all(map(_ENDING.fullmatch, endings)))


def _repeats_any(candidate: Candidate, others: Sequence[Candidate]) -> bool:
    """Tell whether a term repeats one of others."""
    return any(candidate.repeats(other) for other in others)


def _near_clusters(shares: sparse.csr_matrix, overall: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how alike clusters are by their words, (n_clusters, n_clusters); 0 for all but the nearest."""
    rare = sparse.diags_array(np.log(1 / np.maximum(overall, 1e-9)).clip(0))
    profile = sparse.csr_matrix(shares @ rare)
    lengths = np.sqrt(np.asarray(profile.multiply(profile).sum(axis=1)).ravel())
    alike = (profile @ profile.T).toarray() / np.maximum(np.outer(lengths, lengths), 1e-12)
    np.fill_diagonal(alike, 0)
    if len(alike) > _NEAR_CLUSTERS:
        alike[alike < np.partition(alike, -_NEAR_CLUSTERS, axis=1)[:, [-_NEAR_CLUSTERS]]] = 0
    return np.asarray(alike)
