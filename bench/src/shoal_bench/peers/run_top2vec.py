"""Top2Vec on given texts and vectors; run by ``answer.py``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

PACKAGES = ("top2vec", "umap-learn", "hdbscan", "scikit-learn", "numpy")

TOPICS = ("found", "merged")


def prepare(n_clusters: int, seed: int, topics: str) -> Callable[[Sequence[str], Any], Sequence[int]]:
    """Import Top2Vec and return the function to be timed.

    Parameters
    ----------
    n_clusters, seed : int
        Number of clusters, used unless ``topics="found"``; seed of UMAP.
    topics : {"found", "merged"}
        As many topics as it finds, or those merged by ``hierarchical_topic_reduction`` to ``n_clusters``.
    """
    if topics not in TOPICS:
        raise ValueError(f"topics={topics!r}; pass one of {', '.join(TOPICS)}.")
    import numpy as np
    from top2vec import Top2Vec  # type: ignore[import-not-found]

    # Top2Vec's own values, which have no seed
    reduction = {"n_neighbors": 15, "n_components": 5, "metric": "cosine", "random_state": seed}

    def fit(texts: Sequence[str], vectors: Any) -> Sequence[int]:
        vector_of = dict(zip(texts, vectors, strict=True))
        # It also asks for vectors of the words seen more than min_count times, to name topics with: no label is
        # touched by them.
        nothing_special = vectors.mean(axis=0)

        def embed(wanted: Sequence[str]) -> Any:
            return np.stack([vector_of.get(text, nothing_special) for text in wanted])

        model = Top2Vec(list(texts), embedding_model=embed, min_count=5, umap_args=reduction, verbose=False)
        if topics == "merged" and n_clusters < model.get_num_topics():
            model.hierarchical_topic_reduction(n_clusters)
            merged: Sequence[int] = model.doc_top_reduced
            return merged
        found: Sequence[int] = model.doc_top
        return found

    return fit
