"""The number of clusters of a fit: found before it, changed after it."""

from __future__ import annotations

import copy
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.clustering import NO_CLUSTER, Cluster
from shoal.encoder.representation import make_representation
from shoal.errors import ParameterError
from shoal.methods import shared_parameters as shared
from shoal.methods.inputs import Rows, row_keys, spread_over
from shoal.n_clusters import Hierarchy, NClusters, Wanted, choose_n_clusters
from shoal.n_clusters.choice import N_SAMPLES, SAMPLE_ROWS
from shoal.parameters import shown
from shoal.scratch import gathered
from shoal.vectors import Vectors, cluster_means

if TYPE_CHECKING:
    from shoal.methods.base import TextClusterer

# What the encoder needs to know; a method's own values count where it has them.
ENCODING = {
    "backbone": shared.BACKBONE.default,
    "pooling": shared.POOLING.default,
    "max_length": shared.MAX_LENGTH.default,
    "long_texts": shared.LONG.default,
    "encoder_precision": shared.ENCODER_PRECISION.default,
    "cache": shared.CACHE.default,
    "languages": None,
}


def find_n_clusters(rows: Rows, wanted: Wanted, encoding: dict[str, Any], *, whole: bool = False) -> NClusters:
    """Choose the number of clusters for some rows.

    The same rows in another order give the same answer: they are sorted by their content before they are sampled.

    Parameters
    ----------
    rows : Rows
        Texts, vectors or both.
    wanted : Wanted
        The numbers to choose from.
    encoding : dict
        Options of the encoder, for texts without vectors.
    whole : bool, default=False
        Encode all rows, not a sample alone: a fit that needs their vectors finds them in the cache.
    """
    if wanted.exact is not None:
        return NClusters.given(wanted.exact, len(rows))
    return choose_n_clusters(*encoded_sample(rows, encoding, whole=whole), wanted)


def encoded_sample(rows: Rows, encoding: dict[str, Any], *, whole: bool = False) -> tuple[Vectors, list[str] | None]:
    """Return the vectors and texts of distinct rows, of a sample if there are many, sorted by their content."""
    _, first = np.unique(row_keys(rows), return_index=True)
    sample = first[np.sort(np.random.RandomState(0).permutation(len(first))[: N_SAMPLES * SAMPLE_ROWS])]
    texts = None if rows.texts is None else [rows.texts[i] for i in sample]
    if rows.vectors is not None:
        return rows.vectors[sample], texts
    options = {**ENCODING, **encoding, "representation": "transformer", "normalize": True}
    encoded = (rows.texts if whole else texts) or []
    vectors = make_representation("transformer", options).fit(encoded).encode(encoded)
    if whole:
        vectors = gathered(vectors, sample)
    # Texts in two languages share no words: by words, they are grouped by language.
    return vectors, None if options["languages"] is not None else texts


def cut_model(model: TextClusterer, level: int | str, stop_words: Collection[str] = ()) -> TextClusterer:
    """Return a copy of a fitted model at another number of clusters, by its tree; see :meth:`TextClusterer.cut`."""
    source = model.uncut_ or model
    tree = source.hierarchy_
    if tree is None:
        raise ParameterError("this model was fitted before trees of clusters were kept; fit it again to cut it.")
    n_groups = _number(level, source.n_clusters_choice_.levels)
    groups = tree.cut(n_groups)
    if n_groups == tree.n_clusters:
        return source
    result = copy.copy(source)
    result.level_, result.uncut_, result.n_clusters_ = n_groups, source, n_groups
    result.cluster_centers_ = cluster_means(
        np.repeat(tree.centers, tree.sizes, axis=0), np.repeat(groups, tree.sizes), n_groups
    )
    if hasattr(source, "embedding_"):
        present = source.labels_ != NO_CLUSTER
        labels, probabilities = tree.regroup(
            source.embedding_, source.labels_[present], source.probabilities_[present], n_groups
        )
        result.labels_, result.probabilities_ = spread_over(present, labels, probabilities)
        result.clusters_ = result.describe_clusters(source.texts_, labels, probabilities, [()] * n_groups, stop_words)
    else:
        result.__dict__.pop("labels_", None)  # of the fit; without the vectors of the fitted texts there are none here
        result.clusters_ = _joined(tree, source.clusters_, n_groups)
    return result


def _number(level: int | str, levels: dict[str, int]) -> int:
    """Return the number of clusters of a level."""
    if isinstance(level, str) and not level.isdigit():
        if level not in levels:
            raise ParameterError(f"level={shown(level)} is not on offer; pass one of {', '.join(levels)}, or a number.")
        return levels[level]
    if isinstance(level, bool) or not isinstance(level, int | np.integer | str):
        raise ParameterError(f"level={shown(level)} is no level; pass one of {', '.join(levels)}, or a whole number.")
    return int(level)


def _joined(tree: Hierarchy, clusters: tuple[Cluster, ...], n_groups: int) -> tuple[Cluster, ...]:
    """Name the groups of a cut without the texts at hand: after the clusters they come from."""
    groups, named = tree.cut(n_groups), []
    for group in range(n_groups):
        parts = np.flatnonzero(groups == group)
        shares = np.bincount(tree.cluster_of[parts], tree.sizes[parts], tree.n_clusters)
        sources = [clusters[k] for k in np.argsort(-shares, kind="stable")[:2] if shares[k]]
        is_part = len(parts) < (tree.cluster_of == tree.cluster_of[parts[0]]).sum()
        name = f"{sources[0].name}, part {group}" if is_part else " · ".join(source.name for source in sources)
        named.append(replace(sources[0], id=group, name=name, size=int(shares.sum()), topics=()))
    return tuple(named)


def tree_of(hierarchy: Hierarchy, clusters: tuple[Cluster, ...], levels: dict[str, int]) -> dict[str, Any]:
    """Return the tree of a run: broad themes, each with the numbers of its clusters, named after the largest two."""
    n_themes = levels.get("coarse", 1)
    theme_of = _groups_of_clusters(hierarchy, n_themes)
    children = []
    for theme in range(n_themes):
        members = [cluster for cluster in clusters if theme_of[cluster.id] == theme]
        largest = sorted(members, key=lambda cluster: -cluster.size)[:2]
        name = " · ".join(cluster.name for cluster in largest)
        children.append({"name": name, "clusters": [cluster.id for cluster in members], "children": []})
    return {
        "name": "all texts",
        "clusters": [cluster.id for cluster in clusters],
        "levels": levels,
        "children": children,
    }


def _groups_of_clusters(hierarchy: Hierarchy, n_groups: int) -> NDArray[np.int64]:
    """Return the group of each cluster at a coarser number."""
    groups = np.empty(hierarchy.n_clusters, dtype=np.int64)
    groups[hierarchy.cluster_of] = hierarchy.cut(min(n_groups, hierarchy.n_clusters))
    return groups
