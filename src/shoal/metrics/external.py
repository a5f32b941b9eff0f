"""Agreement of a clustering with known classes.

Labels are integers, strings or a mixture. Every value of ``labels_true`` is a class, -1 too; None and NaN are
refused. In ``labels_pred`` the values -1, None and NaN mean *no cluster*:

- `accuracy` and `purity` count such a text in the denominator and match it with no class: a wrong answer;
- `nmi`, `ari`, `homogeneity`, `completeness` and `v_measure` put all such texts in one cluster of their own.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn import metrics

from shoal.errors import DataError, ParameterError
from shoal.metrics._labels import LabelCodes, Labels, encode


@dataclass(frozen=True)
class _Pair:
    """The two labellings of one corpus."""

    true: LabelCodes
    pred: LabelCodes

    @property
    def n_texts(self) -> int:
        """The number of texts, those without a cluster included."""
        return len(self.true.codes)

    @property
    def contingency(self) -> NDArray[np.intp]:
        """Texts per class (rows) and cluster (columns); texts without a cluster are in no column."""
        counts = np.zeros((len(self.true.names), len(self.pred.names)), dtype=np.intp)
        clustered = self.pred.codes >= 0
        np.add.at(counts, (self.true.codes[clustered], self.pred.codes[clustered]), 1)
        return counts


def _pair(labels_true: Labels, labels_pred: Labels) -> _Pair:
    """Encode and check both labellings."""
    true = encode(labels_true, "labels_true", missing=(None,))
    pred = encode(labels_pred, "labels_pred")
    if true.codes.size != pred.codes.size or true.codes.size == 0:
        raise DataError(
            f"labels_true has {true.codes.size} labels and labels_pred has {pred.codes.size}; "
            "pass one of each per text, for at least one text."
        )
    if n_missing := int((true.codes < 0).sum()):
        raise DataError(f"labels_true has {n_missing} missing labels; remove those texts from both labellings.")
    return _Pair(true, pred)


def _sklearn(function: Any, labels_true: Labels, labels_pred: Labels, **keywords: str) -> float:
    """Apply a score of scikit-learn to the codes; -1 counts as a cluster of its own."""
    pair = _pair(labels_true, labels_pred)
    return float(function(pair.true.codes, pair.pred.codes, **keywords))


def match_clusters(labels_true: Labels, labels_pred: Labels) -> dict[Hashable, Hashable]:
    """Map clusters to classes, one to one, so that the most texts agree.

    Parameters
    ----------
    labels_true : sequence of int or str
        The class of each text.
    labels_pred : sequence of int, str or None
        The cluster of each text; -1 and None mean no cluster.

    Returns
    -------
    dict
        Cluster → class. A cluster is absent when no class is left for it or when it shares no text with the
        class that is left.

    Examples
    --------
    >>> match_clusters(["cat", "cat", "dog"], [1, 1, 0])
    {1: 'cat', 0: 'dog'}
    """
    pair = _pair(labels_true, labels_pred)
    contingency = pair.contingency.T
    clusters, classes = linear_sum_assignment(contingency, maximize=True)
    return {
        pair.pred.names[cluster]: pair.true.names[class_]
        for cluster, class_ in zip(clusters, classes, strict=True)
        if contingency[cluster, class_]
    }


def accuracy(labels_true: Labels, labels_pred: Labels) -> float:
    r"""Share of texts whose cluster is matched with their class.

    .. math:: ACC = \frac{1}{N} \sum_i \delta(c_i = \mathrm{map}(p_i))

    (ClusterBERT, appendix 1.2.2, eq. 7), where map is the best one-to-one assignment, by the Hungarian
    algorithm. The numbers of clusters and classes may differ: the surplus is matched with nothing.

    Parameters
    ----------
    labels_true : sequence of int or str
        The class of each text.
    labels_pred : sequence of int, str or None
        The cluster of each text; a text without a cluster (-1, None) counts as wrong.

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    >>> accuracy(["cat", "cat", "dog", "dog"], [7, 7, 3, -1])
    0.75
    """
    pair = _pair(labels_true, labels_pred)
    contingency = pair.contingency
    return float(contingency[linear_sum_assignment(contingency, maximize=True)].sum() / pair.n_texts)


def purity(labels_true: Labels, labels_pred: Labels) -> float:
    """Share of texts that belong to the largest class of their cluster.

    Parameters
    ----------
    labels_true : sequence of int or str
        The class of each text.
    labels_pred : sequence of int, str or None
        The cluster of each text; a text without a cluster (-1, None) counts as wrong.

    Returns
    -------
    float
        In [0, 1]; never below `accuracy`, since several clusters may share a class.

    Examples
    --------
    >>> purity(["cat", "cat", "cat", "dog"], [0, 0, 1, 1])
    0.75
    """
    pair = _pair(labels_true, labels_pred)
    return float(pair.contingency.max(axis=0).sum() / pair.n_texts)


def nmi(labels_true: Labels, labels_pred: Labels, average: Literal["arithmetic", "geometric"] = "arithmetic") -> float:
    r"""Mutual information of classes and clusters over the mean of their entropies.

    Parameters
    ----------
    labels_true : sequence of int or str
        The class of each text.
    labels_pred : sequence of int, str or None
        The cluster of each text; all texts without one (-1, None) form one cluster.
    average : {"arithmetic", "geometric"}, default "arithmetic"
        The mean of the two entropies. ``"arithmetic"`` is scikit-learn's default, and equals `v_measure`;
        ``"geometric"`` is :math:`I(C, P) / \sqrt{H(C) H(P)}` (ClusterBERT, appendix 1.2.2, eq. 6) and never
        the lower of the two.

    Returns
    -------
    float
        In [0, 1]; 1 when both sides are a single group, 0 when only one of them is.

    Examples
    --------
    >>> nmi(["cat", "cat", "dog", "dog"], [1, 1, 0, 0])
    1.0
    """
    if average not in ("arithmetic", "geometric"):
        raise ParameterError(f"average={average!r} is not a known mean; pass 'arithmetic' or 'geometric'.")
    return _sklearn(metrics.normalized_mutual_info_score, labels_true, labels_pred, average_method=average)


def ari(labels_true: Labels, labels_pred: Labels) -> float:
    """Rand index adjusted for chance.

    Parameters
    ----------
    labels_true : sequence of int or str
        The class of each text.
    labels_pred : sequence of int, str or None
        The cluster of each text; all texts without one (-1, None) form one cluster.

    Returns
    -------
    float
        1 for the same partition, about 0 for a random one, at least -0.5.

    Examples
    --------
    >>> ari(["cat", "cat", "dog", "dog"], [0, 1, 0, 1])
    -0.5
    """
    return _sklearn(metrics.adjusted_rand_score, labels_true, labels_pred)


def homogeneity(labels_true: Labels, labels_pred: Labels) -> float:
    """Degree to which each cluster contains a single class: 1 - H(class | cluster) / H(class).

    Parameters
    ----------
    labels_true : sequence of int or str
        The class of each text.
    labels_pred : sequence of int, str or None
        The cluster of each text; all texts without one (-1, None) form one cluster.

    Returns
    -------
    float
        In [0, 1]; 1 when there is a single class.

    Examples
    --------
    >>> homogeneity(["cat", "cat", "dog", "dog"], [0, 0, 0, 0])
    0.0
    """
    return _sklearn(metrics.homogeneity_score, labels_true, labels_pred)


def completeness(labels_true: Labels, labels_pred: Labels) -> float:
    """Degree to which each class is in a single cluster: 1 - H(cluster | class) / H(cluster).

    Parameters
    ----------
    labels_true : sequence of int or str
        The class of each text.
    labels_pred : sequence of int, str or None
        The cluster of each text; all texts without one (-1, None) form one cluster.

    Returns
    -------
    float
        In [0, 1]; 1 when there is a single cluster.

    Examples
    --------
    >>> completeness(["cat", "cat", "dog", "dog"], [0, 0, 0, 0])
    1.0
    """
    return _sklearn(metrics.completeness_score, labels_true, labels_pred)


def v_measure(labels_true: Labels, labels_pred: Labels) -> float:
    """Harmonic mean of `homogeneity` and `completeness`; the same number as `nmi` with its default mean.

    Parameters
    ----------
    labels_true : sequence of int or str
        The class of each text.
    labels_pred : sequence of int, str or None
        The cluster of each text; all texts without one (-1, None) form one cluster.

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    >>> v_measure(["cat", "cat", "dog", "dog"], [0, 0, 0, 0])
    0.0
    """
    return _sklearn(metrics.v_measure_score, labels_true, labels_pred)


def scores(labels_true: Labels, labels_pred: Labels) -> dict[str, float]:
    """Score a clustering the way the papers' tables do, in percent and not rounded.

    Parameters
    ----------
    labels_true : sequence of int or str
        The class of each text.
    labels_pred : sequence of int, str or None
        The cluster of each text; -1 and None mean no cluster.

    Returns
    -------
    dict
        ``acc``, ``nmi`` (arithmetic), ``ari`` and ``purity``, times 100.

    Examples
    --------
    >>> scores(["cat", "cat", "dog", "dog"], [1, 1, 0, 0])
    {'acc': 100.0, 'nmi': 100.0, 'ari': 100.0, 'purity': 100.0}
    """
    functions = {"acc": accuracy, "nmi": nmi, "ari": ari, "purity": purity}
    return {name: 100 * function(labels_true, labels_pred) for name, function in functions.items()}
