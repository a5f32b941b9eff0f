"""Fewer dimensions before clustering: PCA and UMAP; once fitted, each is a pure function of one row."""

from __future__ import annotations

from typing import ClassVar, Protocol, Self

import numpy as np
from sklearn.decomposition import PCA

from shoal.clusterers.base import State
from shoal.clusterers.threads import torch_threads_kept
from shoal.errors import MissingExtraError, ParameterError
from shoal.vectors import BLOCK_ROWS, Vectors, squared_distances


class Reducer(Protocol):
    """A map to fewer dimensions, learnt from vectors."""

    kind: ClassVar[str]

    def transform(self, vectors: Vectors) -> Vectors:
        """Return the rows in the reduced space."""

    def state(self) -> State:
        """Return its arrays, for safetensors."""

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Rebuild it from its arrays."""


class Projection:
    """An affine projection: (x - mean) · componentsᵀ."""

    kind: ClassVar[str] = "projection"

    def __init__(self, mean: Vectors, components: Vectors) -> None:
        self.mean = mean
        self.components = components

    def transform(self, vectors: Vectors) -> Vectors:
        """Return (n, number of components)."""
        return ((vectors - self.mean) @ self.components.T).astype(np.float32)

    def state(self) -> State:
        """Return mean and components."""
        return {"mean": self.mean, "components": self.components}

    @classmethod
    def from_state(cls, state: State) -> Projection:
        """Rebuild it from :meth:`state`."""
        return cls(np.asarray(state["mean"], np.float32), np.asarray(state["components"], np.float32))


class Neighbours:
    """A map known at some points, extended to others by their nearest neighbours.

    UMAP's own ``transform`` runs a stochastic descent whose result depends on which texts are passed together. Here
    a row maps to the mean of its nearest points' positions, weighted by 1/d⁴: a known point keeps its position, a
    new one falls between its neighbours, whatever other rows are passed with it.
    """

    kind: ClassVar[str] = "neighbours"

    def __init__(self, points: Vectors, places: Vectors, n_neighbors: int) -> None:
        self.points = points
        self.places = places
        self.n_neighbors = n_neighbors

    def transform(self, vectors: Vectors) -> Vectors:
        """Return (n, dimension of the places)."""
        blocks = [self._carry(vectors[i : i + BLOCK_ROWS]) for i in range(0, len(vectors), BLOCK_ROWS)]
        return np.concatenate(blocks)

    def _carry(self, vectors: Vectors) -> Vectors:
        """Map one block of rows."""
        distances = squared_distances(vectors, self.points)
        count = min(self.n_neighbors, len(self.points))
        nearest = np.argpartition(distances, count - 1, axis=1)[:, :count]
        squared = np.take_along_axis(distances, nearest, axis=1)
        # The floor gives a known point's own position all the weight; it is relative, for vectors of any scale.
        floor = np.maximum(1e-6 * squared.max(axis=1, keepdims=True), 1e-100)
        weights = 1 / np.maximum(squared, floor) ** 2
        weights /= weights.sum(axis=1, keepdims=True)
        placed = np.einsum("nk,nkd->nd", weights, self.places[nearest].astype(np.float64))
        return np.asarray(placed, dtype=np.float32)

    def state(self) -> State:
        """Return points, places and the number of neighbours."""
        return {"points": self.points, "places": self.places, "n_neighbors": np.array([self.n_neighbors])}

    @classmethod
    def from_state(cls, state: State) -> Neighbours:
        """Rebuild it from :meth:`state`."""
        points, places = (np.asarray(state[name], np.float32) for name in ("points", "places"))
        return cls(points, places, int(state["n_neighbors"][0]))


def fit_pca(vectors: Vectors, n_components: int, rng: np.random.RandomState) -> Projection:
    """Principal components."""
    most = min(vectors.shape)
    if not 1 <= n_components <= most:
        raise ParameterError(
            f"n_components={n_components} but {len(vectors)} vectors of dimension {vectors.shape[1]} allow "
            f"1 to {most}; pass a value in that range."
        )
    model = PCA(n_components, random_state=rng).fit(vectors)
    # contiguous, because safetensors would write rows of any other layout in the wrong order
    return Projection(model.mean_.astype(np.float32), np.ascontiguousarray(model.components_, dtype=np.float32))


@torch_threads_kept()  # numba changes them, when it is imported and when it runs
def fit_umap(vectors: Vectors, n_components: int, rng: np.random.RandomState, *, n_neighbors: int = 15) -> Neighbours:
    """Uniform manifold approximation (McInnes et al. 2018), by the umap-learn package."""
    try:
        import umap
    except ImportError as reason:
        raise MissingExtraError("reducer='umap'", "umap") from reason
    if n_neighbors < 2:
        raise ParameterError(f"n_neighbors={n_neighbors} but UMAP needs at least 2; pass n_neighbors >= 2.")
    if not 1 <= n_components <= len(vectors) - 2:  # UMAP's spectral start needs more points than dimensions
        raise ParameterError(
            f"n_components={n_components} but UMAP on {len(vectors)} texts gives 1 to {len(vectors) - 2}; "
            "pass a value in that range, or more texts."
        )
    n_neighbors = min(n_neighbors, len(vectors) - 1)
    seed = int(rng.randint(np.iinfo(np.int32).max))
    model = umap.UMAP(n_neighbors=n_neighbors, n_components=n_components, random_state=seed, n_jobs=1)
    places = np.asarray(model.fit_transform(vectors), dtype=np.float32)
    return Neighbours(vectors, places, n_neighbors)
