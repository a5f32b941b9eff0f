"""Keywords of clusters by class-based TF-IDF, without repetition."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise, takewhile

import numpy as np
from scipy import sparse

from shoal.naming.terms import terms
from shoal.text.words import characters, is_unspaced

_ENDING = re.compile("|s|es|e|ed|d|ers?|r|ings?|en|n|ern|em|ung|ungen|ments?|ions?|ations?|ors?|al|ly|y")
_SHORTEST_STEM = 4
# A cluster of fewer texts may be named by words that occur in only one of them.
_FEW_TEXTS = 4
# A longer term replaces a word that, in this cluster, occurs mostly inside it.
_TAKE_OVER = 0.5
# Terms to consider per keyword wanted.
_CANDIDATES = 10


@dataclass(frozen=True)
class TermCounts:
    """How often each term occurs in each text.

    Parameters
    ----------
    matrix : csr_matrix of shape (n_texts, n_terms)
        Occurrences.
    spelling : tuple of str
        Each term in its most frequent spelling; of equally frequent ones the earliest.
    """

    matrix: sparse.csr_matrix
    spelling: tuple[str, ...]


def count_terms(texts: Sequence[str], stop_words: AbstractSet[str] = frozenset()) -> TermCounts:
    """Count terms, treating spellings that differ in case, plural or hyphens as one.

    Parameters
    ----------
    texts : sequence of str
        The texts.
    stop_words : set of str
        Case-folded words to omit.

    Returns
    -------
    TermCounts
        Terms in order of first occurrence.

    Examples
    --------
    >>> counts = count_terms(["an iPhone", "iPhones and IPHONE", "the iPhone"], {"an", "and", "the"})
    >>> counts.spelling, counts.matrix.toarray().ravel().tolist()
    (('iPhone',), [1, 2, 1])
    """
    spelling_ids: dict[str, int] = {}
    columns = array("q")
    ends = [0]
    for text in texts:
        columns.extend(spelling_ids.setdefault(term, len(spelling_ids)) for term in terms(text, stop_words))
        ends.append(len(columns))
    spellings = list(spelling_ids)
    term_ids: dict[str, int] = {}
    term_of = np.array([term_ids.setdefault(_key(s), len(term_ids)) for s in spellings], dtype=np.int64)
    of_spelling = np.array(columns, dtype=np.int64)

    frequency = np.bincount(of_spelling, minlength=len(spellings))
    by_preference = np.lexsort((np.arange(len(spellings)), -frequency, term_of))
    _, first = np.unique(term_of[by_preference], return_index=True)
    matrix = sparse.csr_matrix(
        (np.ones(len(columns), dtype=np.int64), term_of[of_spelling], ends), shape=(len(texts), len(term_ids))
    )
    matrix.sum_duplicates()
    return TermCounts(matrix, tuple(spellings[i] for i in by_preference[first]))


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


def cluster_keywords(
    counts: TermCounts, labels: np.ndarray, n_clusters: int, n_keywords: int
) -> list[dict[int, float]]:
    """Choose the keywords of each cluster.

    Terms are ranked by class-based TF-IDF. A term must occur in two texts of the cluster, unless the cluster
    has fewer than four texts or no such term. A keyword that only repeats another is omitted: an inflected form,
    or the less telling of "support vector" and "vector".

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
    >>> counts = count_terms(["red wine", "dry red wine", "green tea", "cold green tea"])
    >>> chosen = cluster_keywords(counts, np.array([0, 0, 1, 1]), 2, 3)
    >>> [[counts.spelling[term] for term in terms] for terms in chosen]
    [['red wine', 'dry'], ['green tea', 'cold']]
    """
    n_texts = len(labels)
    ones = np.ones(n_texts, dtype=np.int64)
    members = sparse.csr_matrix((ones, (labels, np.arange(n_texts))), (n_clusters, n_texts))
    occurrences = sparse.csr_matrix(members @ counts.matrix)
    spread = sparse.csr_matrix(members @ (counts.matrix > 0))
    weights = c_tf_idf(occurrences)
    sizes = np.bincount(labels, minlength=n_clusters)
    chosen = []
    for cluster in range(n_clusters):
        found, weight = _row(weights, cluster)
        order = np.lexsort((found, -weight))
        in_several = _row(spread, cluster)[1][order] >= 2
        if sizes[cluster] >= _FEW_TEXTS and in_several.any():
            order = order[in_several]
        count = _row(occurrences, cluster)[1]
        candidates = [
            _Candidate(int(found[i]), counts.spelling[found[i]], float(weight[i]), int(count[i]))
            for i in order[: _CANDIDATES * n_keywords]
        ]
        chosen.append({keyword.term: keyword.weight for keyword in _diversify(candidates)[:n_keywords]})
    return chosen


class _Candidate:
    """A term that may become a keyword of a cluster."""

    def __init__(self, term: int, spelling: str, weight: float, count: int) -> None:
        self.term, self.weight, self.count = term, weight, count
        self.ends: tuple[str, ...] = ()
        # In scripts without spaces, pairs of characters serve as words, so that overlapping terms share parts.
        if is_unspaced(spelling):
            single = characters(spelling)
            self.ends = (single[0], single[-1])
            self.parts = ["".join(pair) for pair in pairwise(single)] or single
        else:
            self.parts = _key(spelling).split(" ")

    def repeats(self, other: _Candidate) -> bool:
        """Tell whether the two share a word, or one starts with the character the other ends with."""
        if self.ends and other.ends and (self.ends[0] == other.ends[1] or self.ends[1] == other.ends[0]):
            return True
        return any(_same_word(part, its) for part in self.parts for its in other.parts)

    def takes_over(self, other: _Candidate) -> bool:
        """Tell whether this term contains the other, more than once and in most of its occurrences."""
        return (
            len(self.parts) > len(other.parts)
            and self.count > max(1.0, _TAKE_OVER * other.count)
            and all(any(_same_word(part, its) for its in self.parts) for part in other.parts)
        )


def _diversify(ranked: Sequence[_Candidate]) -> list[_Candidate]:
    """Keep the terms that repeat no better one; a term that takes over others gets their rank."""
    kept: list[_Candidate] = []
    for candidate in ranked:
        rivals = [other for other in kept if candidate.repeats(other)]
        if all(map(candidate.takes_over, rivals)):
            candidate.weight = max([candidate.weight, *(other.weight for other in rivals)])
            kept = [other for other in kept if other not in rivals] + [candidate]
    return sorted(kept, key=lambda keyword: -keyword.weight)


def _same_word(one: str, other: str) -> bool:
    """Guess cheaply whether two words are forms of one: deploy, deployed, deployment."""
    if one == other or one[:2] != other[:2]:
        return one == other
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    endings = {one[alike:], other[alike:]}
    shortest = _SHORTEST_STEM if "" in endings else _SHORTEST_STEM + 1
    return endings == {"", "s"} or (alike >= shortest and all(map(_ENDING.fullmatch, endings)))


def _key(term: str) -> str:
    """Return what the spellings of a term share, without case, hyphens and plural."""
    return " ".join(_singular(word.replace("-", "")) for word in term.casefold().split(" "))


def _singular(word: str) -> str:
    """Remove the plural, like Harman's S stemmer, from words long enough to be safe."""
    if len(word) <= _SHORTEST_STEM:
        return word
    if word.endswith(("xes", "sses", "ches", "shes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return word[:-2] + "y" if word.endswith("ie") else word


def _row(matrix: sparse.csr_matrix, row: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns, in order, and values of the entries in a row."""
    matrix.sort_indices()
    span = slice(matrix.indptr[row], matrix.indptr[row + 1])
    return matrix.indices[span], matrix.data[span]
