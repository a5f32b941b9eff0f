"""Places of texts on a map, by t-SNE on the graph of neighbours; many texts are sampled, true to density."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.clusterers import fit_umap, nearest_neighbours
from shoal.errors import ParameterError
from shoal.progress import progress
from shoal.vectors import Vectors, unit_rows

Places = NDArray[np.float64]
METHODS = ("tsne", "umap")

# More points are no more to see, but more to wait for.
MAX_PLACED = 20_000
# Neighbours a point is held by; t-SNE's perplexity is a third of their number.
N_NEIGHBOURS = 60
# The first iterations pull clusters apart, the others give them their shape. Twice as many look the same.
_EARLY, _LATER = 75, 150
_EARLY_EXAGGERATION = 12.0
# Slightly more attraction than plain t-SNE: gaps between clusters become visible.
_EXAGGERATION = 1.2
# Below this Barnes-Hut is faster than the Fourier transform.
_MANY = 4_000
# So few rows have no neighbourhoods: they are shown along their main directions.
_FEW = 10
_CHUNK = 25
# The axes of a map mean nothing: one may be this much longer than it was.
_STRETCH = 1.35
# The golden angle: points on such a spiral never line up.
_ANGLE = np.pi * (3 - np.sqrt(5))


def place(
    vectors: Vectors,
    *,
    by: str = "tsne",
    seed: int = 0,
    max_placed: int = MAX_PLACED,
    start: Places | None = None,
    label: str = "Map",
) -> Places:
    """Give each row a place on a map, so that rows near in space are near on the map.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        The rows.
    by : {"tsne", "umap"}
        How: t-SNE, or UMAP, which is an extra.
    seed : int, default=0
        Seed of the sample.
    max_placed : int, default=20000
        Rows that get a place. If there are more, each has the same chance, so that density stays true.
    start : ndarray of shape (n, 2), optional
        Places to start from, so that two maps of the same rows can be compared.
    label : str
        What the progress line says.

    Returns
    -------
    ndarray of float64, shape (n, 2)
        From -1 to 1, the centre at 0; NaN for rows without a place.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = np.vstack([rng.normal(0, 0.1, (30, 5)) + 1, rng.normal(0, 0.1, (30, 5)) - 1]).astype(np.float32)
    >>> found = place(rows)
    >>> left, right = found[:30].mean(axis=0), found[30:].mean(axis=0)
    >>> bool(np.linalg.norm(left - right) > 2 * found[:30].std())
    True
    """
    if by not in METHODS:
        raise ParameterError(f"a map by {by!r} is unknown; pass one of {', '.join(METHODS)}.")
    places = np.full((len(vectors), 2), np.nan)
    chosen = np.arange(len(vectors))
    if len(vectors) > max_placed:
        chosen = np.sort(np.random.default_rng(seed).choice(len(vectors), max_placed, replace=False))
    if not len(chosen):
        return places
    # Equal rows would only see each other: one of them is placed, the others are put around it.
    rounded = np.ascontiguousarray(np.round(vectors[chosen], 3) + 0.0)  # + 0.0: no negative zero
    keys = rounded.view(np.dtype((np.void, rounded.dtype.itemsize * rounded.shape[1]))).ravel()
    _, first, copies = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))  # by first occurrence: the order of bytes means nothing
    first, copies = np.sort(first), order[copies]
    distinct = chosen[first]
    found = _laid_out(vectors[distinct], None if start is None else start[distinct], by, label)
    places[chosen] = _around(_scaled(found), copies)
    return places


def _laid_out(rows: Vectors, start: Places | None, by: str, label: str) -> Places:
    """Lay out distinct rows; a handful of them along their main directions."""
    if len(rows) < 2:
        return np.zeros((len(rows), 2))
    points = unit_rows(rows.astype(np.float32, copy=False)) if rows.shape[1] > 1 else rows.astype(np.float32)
    if start is None:
        start = _main_directions(points)
    if len(rows) <= _FEW:
        return start
    if by == "umap":
        return np.asarray(fit_umap(points, 2, np.random.RandomState(0)).places, dtype=np.float64)
    from openTSNE import TSNEEmbedding
    from openTSNE.affinity import PerplexityBasedNN
    from openTSNE.nearest_neighbors import PrecomputedNeighbors

    near = nearest_neighbours(points, min(N_NEIGHBOURS, len(rows) - 1))
    distances = np.sqrt(np.maximum(2 - 2 * near.cosines, 1e-9)).astype(np.float64)
    affinities = PerplexityBasedNN(
        knn_index=PrecomputedNeighbors(near.indices, distances), perplexity=near.indices.shape[1] / 3, n_jobs=1
    )
    spread = start / max(float(start[:, 0].std()), 1e-12) * 1e-4
    # One thread: the same seed gives the same map.
    method = "fft" if len(rows) > _MANY else "bh"
    embedding = TSNEEmbedding(spread, affinities, n_jobs=1, negative_gradient_method=method, random_state=0)
    with progress(label, _EARLY + _LATER, unit="rounds") as bar:
        for step in range(0, _EARLY + _LATER, _CHUNK):
            early = step < _EARLY
            exaggeration, momentum = (_EARLY_EXAGGERATION, 0.5) if early else (_EXAGGERATION, 0.8)
            embedding.optimize(_CHUNK, exaggeration=exaggeration, momentum=momentum, inplace=True)
            bar.advance(_CHUNK)
    return np.asarray(embedding, dtype=np.float64)


def _main_directions(points: Vectors) -> Places:
    """Return the first two principal components; their signs are fixed by the largest entry."""
    centred = points - points.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T.astype(np.float64) @ centred)
    main = directions[:, ::-1][:, :2]
    main = main * np.sign(main[np.abs(main).argmax(axis=0), np.arange(main.shape[1])])
    found = np.zeros((len(points), 2))
    found[:, : main.shape[1]] = centred @ main
    return found


def _scaled(places: Places) -> Places:
    """Fit places into -1 to 1; a few far away do not shrink all others, and no axis is stretched by much."""
    if len(places) < 2:
        return places
    low, high = np.quantile(places, [0.002, 0.998], axis=0)
    middle, half = (low + high) / 2, (high - low) / 2
    half = np.maximum(half, max(float(half.max()) / _STRETCH, 1e-12))
    scaled: Places = np.clip((places - middle) / (1.05 * half), -1, 1)
    return scaled


def _around(distinct: Places, copies: NDArray[np.int64]) -> Places:
    """Put copies of a row around its place, on a spiral that grows with the root of their number."""
    order = np.argsort(copies, kind="stable")
    starts = np.searchsorted(copies[order], np.arange(len(distinct)))
    number = np.empty(len(copies))
    number[order] = np.arange(len(copies)) - starts[copies[order]]
    radius = 0.004 * np.sqrt(number) * min(1.0, np.sqrt(2_000 / max(1.0, number.max(initial=0.0))))
    around: Places = np.stack([np.cos(_ANGLE * number), np.sin(_ANGLE * number)], axis=1)
    return np.asarray(distinct[copies] + radius[:, None] * around)
