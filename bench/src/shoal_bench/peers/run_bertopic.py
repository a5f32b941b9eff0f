"""BERTopic on given texts and vectors; run by ``answer.py``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

PACKAGES = ("bertopic", "umap-learn", "hdbscan", "scikit-learn", "numpy")

TOPICS = ("found", "merged", "k-means")
OUTLIERS = ("kept", "assigned")


def prepare(n_clusters: int, seed: int, topics: str, outliers: str) -> Callable[[Sequence[str], Any], Sequence[int]]:
    """Import BERTopic and return the function to be timed.

    Parameters
    ----------
    n_clusters, seed : int
        Number of clusters, used unless ``topics="found"``; seed of UMAP and of k-means.
    topics : {"found", "merged", "k-means"}
        As many topics as its HDBSCAN finds; those merged by ``reduce_topics`` until ``n_clusters`` are left beside the
        outlier topic, which BERTopic counts too; or k-means in HDBSCAN's place, its documented way to a fixed number.
    outliers : {"kept", "assigned"}
        Leave texts without a topic, or give each to the nearest by ``reduce_outliers``.
    """
    if topics not in TOPICS or outliers not in OUTLIERS:
        raise ValueError(f"topics={topics!r} and outliers={outliers!r}; pass one of {TOPICS} and one of {OUTLIERS}.")
    from bertopic import BERTopic  # type: ignore[import-not-found]
    from sklearn.cluster import KMeans
    from umap import UMAP

    # BERTopic's own UMAP, which has no seed; every other value is its default
    reducer = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", low_memory=False, random_state=seed)
    clusterer = KMeans(n_clusters, n_init=10, random_state=seed) if topics == "k-means" else None

    def fit(texts: Sequence[str], vectors: Any) -> Sequence[int]:
        model = BERTopic(umap_model=reducer, hdbscan_model=clusterer, calculate_probabilities=False)
        labels: list[int] = list(model.fit_transform(list(texts), embeddings=vectors)[0])
        if topics == "merged":
            labels = list(model.reduce_topics(list(texts), nr_topics=n_clusters + (-1 in labels)).topics_)
        if outliers == "assigned" and -1 in labels:
            labels = list(model.reduce_outliers(list(texts), labels, strategy="embeddings", embeddings=vectors))
        return labels

    return fit
