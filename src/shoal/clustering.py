"""The immutable result of a clustering: the cluster of each text, its confidence, and the clusters' names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, overload

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import MissingExtraError, ParameterError

NO_CLUSTER = -1


@dataclass(frozen=True)
class Topic:
    """One topic of a cluster, found by a topic model.

    Attributes
    ----------
    words : tuple of str
        Its most probable words, most probable first.
    share : float
        Its mean share of the cluster's texts.
    general : bool
        Whether many other clusters have nearly the same topic, so that it does not distinguish this one.
    """

    words: tuple[str, ...]
    share: float
    general: bool


@dataclass(frozen=True)
class Cluster:
    """One group of texts.

    Attributes
    ----------
    id : int
        Its number, 0 to K - 1.
    name : str
        A readable name, different from all others.
    size : int
        How many of the fitted texts belong to it.
    confidence : float
        Their mean probability.
    keywords : tuple of str
        The words that distinguish it from the others, most telling first.
    examples : tuple of str
        The texts nearest its centre.
    topics : tuple of Topic
        Its topics, largest first; empty unless the method is a topic model.
    summary : str
        What it is about, in a sentence; empty unless a language model named the clusters.
    """

    id: int
    name: str
    size: int
    confidence: float
    keywords: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    topics: tuple[Topic, ...] = ()
    summary: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return plain lists, numbers and strings; topics and summary only if there are any."""
        content = {**asdict(self), "keywords": list(self.keywords), "examples": list(self.examples)}
        topics = [{**topic, "words": list(topic["words"])} for topic in content.pop("topics")]
        summary = content.pop("summary")
        return {**content, **({"topics": topics} if topics else {}), **({"summary": summary} if summary else {})}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Cluster:
        """Reverse :meth:`as_json`."""
        topics = tuple(Topic(**{**topic, "words": _strings(topic["words"])}) for topic in content.get("topics", ()))
        lists = {"keywords": _strings(content["keywords"]), "examples": _strings(content["examples"]), "topics": topics}
        cluster = cls(**{**content, **lists})
        numbers = (cluster.id, cluster.size, cluster.confidence, *(topic.share for topic in topics))
        if not isinstance(cluster.name, str) or not all(type(number) in (int, float) for number in numbers):
            raise TypeError(f"cluster {cluster.id!r} has a name that is no string, or a number that is none")
        return cluster


@dataclass(frozen=True)
class Clustering:
    """The cluster of every text.

    Attributes
    ----------
    labels : ndarray of int64, shape (n,)
        The cluster of each text; -1 for a row without text.
    probabilities : ndarray of float32, shape (n, n_clusters)
        The probability of each cluster; zeros for a row without text.
    clusters : tuple of Cluster
        The clusters.
    """

    labels: NDArray[np.int64]
    probabilities: NDArray[np.float32]
    clusters: tuple[Cluster, ...]

    def __len__(self) -> int:
        return len(self.labels)

    def labels_at(self, confidence: float) -> NDArray[np.int64]:
        """Return the labels, -1 for a text whose confidence is below ``confidence``.

        Examples
        --------
        >>> fish = Cluster(0, "fish", 2, 0.7)
        >>> Clustering(np.array([0, 0]), np.array([[0.9], [0.5]], np.float32), (fish,)).labels_at(0.6).tolist()
        [0, -1]
        """
        rows = np.arange(len(self))
        present = self.labels != NO_CLUSTER
        sure = self.probabilities[rows, np.where(present, self.labels, 0)] >= confidence
        return np.where(present & sure, self.labels, NO_CLUSTER)

    @overload
    def frame(self, kind: Literal["polars"] = ...) -> pl.DataFrame: ...

    @overload
    def frame(self, kind: Literal["pandas"]) -> Any: ...

    def frame(self, kind: str = "polars") -> Any:
        """Return one row per text: cluster, its name and confidence, the second choice and its confidence.

        Rows without text are all null. A text without a cluster, because its confidence is too low, has its nearest
        cluster as the second choice.

        Parameters
        ----------
        kind : {"polars", "pandas"}, default="polars"
            The library of the frame. In pandas a cluster is an ``Int64``, which can be missing.

        Examples
        --------
        >>> fish = Cluster(0, "fish", 1, 0.9)
        >>> found = Clustering(np.array([0, -1]), np.array([[0.9], [0.0]], np.float32), (fish,))
        >>> found.frame()["cluster"].to_list()
        [0, None]
        >>> found.frame("pandas").loc[0, "cluster_name"]
        'fish'
        """
        if kind == "pandas":
            return _as_pandas(self.frame())
        if kind != "polars":
            raise ParameterError(f"kind={kind!r} is unknown; pass 'polars' or 'pandas'.")
        rows = np.arange(len(self))
        placed = self.labels != NO_CLUSTER
        present = self.probabilities.any(axis=1) | placed
        best = np.where(placed, self.labels, self.probabilities.argmax(axis=1))
        confidence = self.probabilities[rows, best]
        others = self.probabilities.copy()
        others[rows[placed], self.labels[placed]] = -1.0
        second = others.argmax(axis=1)
        has_second = present & ((len(self.clusters) > 1) | ~placed)
        return pl.DataFrame(
            {
                "cluster": _masked(self.labels, placed),
                "cluster_name": [
                    self.clusters[label].name if there else None
                    for label, there in zip(self.labels, placed, strict=True)
                ],
                "confidence": _masked(np.round(confidence.astype(np.float64), 6), present),
                "second_cluster": _masked(second, has_second),
                "second_confidence": _masked(np.round(others[rows, second].astype(np.float64), 6), has_second),
            },
            schema_overrides={"cluster": pl.Int64, "cluster_name": pl.String, "second_cluster": pl.Int64},
        )


def _as_pandas(frame: pl.DataFrame) -> Any:
    """Return a frame of pandas, with whole numbers that can be missing; polars' own way needs pyarrow."""
    try:
        import pandas as pd
    except ImportError as reason:
        raise MissingExtraError("frame('pandas')", "pandas") from reason
    kinds = {pl.Int64: "Int64", pl.String: "string", pl.Float64: "Float64"}
    return pd.DataFrame(
        {name: pd.array(frame[name].to_list(), dtype=kinds[type(frame[name].dtype)]) for name in frame.columns}
    )


def _strings(content: Any) -> tuple[str, ...]:
    """Return a list of strings from JSON as a tuple."""
    if not isinstance(content, list) or not all(isinstance(text, str) for text in content):
        raise TypeError(f"{content!r:.40} is not a list of strings")
    return tuple(content)


def _masked(values: NDArray[Any], keep: NDArray[np.bool_]) -> pl.Series:
    """Return a column with nulls where ``keep`` is false."""
    nulls = pl.Series([None] * len(values), dtype=pl.Series(values).dtype)
    return pl.Series(values).zip_with(pl.Series(keep), nulls)
