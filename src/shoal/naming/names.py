"""Names of clusters: the few terms that together fit one cluster and no other."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain, combinations, count

import numpy as np

from shoal.naming.keywords import Candidate, ClusterTerms, longer_form, telling_weight

_TERMS_IN_NAME = 3
# The first term of a name is in this share of the cluster's texts, the others in this; where no term is so frequent,
# in this part of the most frequent one's.
_LEAST_FIRST, _LEAST = 0.2, 0.1
_PART_FIRST, _PART = 0.5, 0.3
# A name that fits all other clusters together this much less than its own needs no further term.
_CLEAR = 0.03
# How much a cluster without a term of the name still fits it.
_STILL_FITS = 0.02
# Two terms of a name become the phrase that has both, if this part of the texts of the rarer one has it.
_SAID_SO = 0.3


def name_terms(terms: ClusterTerms, cluster: int, telling: Collection[str] = ()) -> list[str]:
    """Choose the terms of a cluster's name.

    The first is the one that tells the cluster best from all others, most of all from those like it. Each further
    one is compared with the clusters that the terms so far fit as well. Terms that the texts use as one phrase are
    joined to it.

    Parameters
    ----------
    terms : ClusterTerms
        The terms of all clusters.
    cluster : int
        Its number.
    telling : collection of str
        Words that another source finds typical of the cluster.
    """
    ranked = terms.candidates(cluster, telling)
    chosen: list[Candidate] = []
    if not ranked:
        return []
    found = np.array([candidate.term for candidate in ranked])
    boost = np.array([candidate.weight for candidate in ranked])
    share = np.array([candidate.share for candidate in ranked])
    elsewhere = terms.others(cluster, found)
    most = share.max()
    fits = terms.near[cluster].copy()
    weight = boost
    while len(chosen) < _TERMS_IN_NAME:
        left = [
            i
            for i, each in enumerate(ranked)
            if not any(each.repeats(other) for other in chosen)
            and share[i] >= (min(_LEAST, _PART * most) if chosen else min(_LEAST_FIRST, _PART_FIRST * most))
        ]
        if not left or (len(chosen) > 1 and fits.sum() < _CLEAR):
            break
        best = ranked[max(left, key=lambda i: weight[i])]
        best = longer_form(best, [ranked[i] for i in left])
        chosen.append(best)
        column = terms.shares[:, [best.term]].toarray().ravel()
        fits *= np.minimum(1.0, (column + _STILL_FITS) / best.share)
        weight = telling_weight(share, terms.compared(cluster, fits, found, elsewhere)) * (boost > 0)
    return [candidate.spelling for candidate in _joined(chosen, ranked)]


def _joined(chosen: Sequence[Candidate], ranked: Sequence[Candidate]) -> list[Candidate]:
    """Join two terms that the texts use as one phrase."""
    for first, second in combinations(chosen, 2):
        said = [
            phrase
            for phrase in ranked
            if phrase.usual
            and phrase.contains(first)
            and phrase.contains(second)
            and phrase.share >= _SAID_SO * min(first.share, second.share)
        ]
        if said:
            best = max(said, key=lambda phrase: (phrase.share, -len(phrase.spelling)))
            rest = [each for each in chosen if not best.repeats(each)]
            at = min(chosen.index(first), chosen.index(second))
            return _joined([*rest[:at], best, *rest[at:]], ranked)
    return list(chosen)


def unique_names(
    parts: Sequence[Sequence[str]], keywords: Sequence[Sequence[str]], fallback: Sequence[str]
) -> list[str]:
    """Make names of terms, all different: with further keywords, or a number if those do not help.

    Parameters
    ----------
    parts : sequence of sequences of str
        The terms of each name.
    keywords : sequence of sequences of str
        Further terms of each cluster.
    fallback : sequence of str
        The name of a cluster without terms.

    Examples
    --------
    >>> unique_names([["oak"], ["oak"], []], [["oak", "elm"], ["oak", "elm"], []], ["", "", "(empty)"])
    ['oak', 'oak, elm', '(empty)']
    """
    names: list[str] = []
    taken: set[frozenset[str]] = set()
    for own, more, last in zip(parts, keywords, fallback, strict=True):
        short = tuple(own) or (last,)
        further = [word for word in more if word not in short] if own else []
        extended = ((*short, *further[:length]) for length in range(len(further) + 1))
        numbered = ((*short[:-1], f"{short[-1]} ({number})") for number in count(2))
        name = next(name for name in chain(extended, numbered) if _same_name(name) not in taken)
        taken.add(_same_name(name))
        names.append(", ".join(name))
    return names


def _same_name(name: Sequence[str]) -> frozenset[str]:
    """Key of a name: names that differ only in case or order are the same to a reader."""
    return frozenset(word.casefold() for term in name for word in term.split())
