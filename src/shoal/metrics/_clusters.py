"""Points sorted by cluster, and distances computed in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import DataError
from shoal.metrics._labels import Labels, encode
from shoal.vectors import unit_rows

Floats: TypeAlias = NDArray[np.float64]

# distances in memory at once: 128 MB, and a few times that during the computation
BLOCK_ENTRIES = 2**24


@dataclass(frozen=True)
class Clusters:
    """Points sorted by cluster, so that ``reduceat`` can fold each cluster."""

    points: Floats
    owner: NDArray[np.intp]
    starts: NDArray[np.intp]
    sizes: NDArray[np.intp]

    @property
    def centres(self) -> Floats:
        """The mean of each cluster."""
        sums: Floats = np.add.reduceat(self.points, self.starts, axis=0)
        return sums / self.sizes[:, None]


def _matrix(vectors: ArrayLike) -> NDArray[Any]:
    """Return the vectors as an array of numbers, not yet converted to float64."""
    try:
        matrix = np.asarray(vectors)
    except ValueError as error:
        raise DataError("vectors has rows of different lengths; pass an array of shape (n, d).") from error
    if matrix.dtype.kind not in "fiub":
        raise DataError(f"vectors has dtype {matrix.dtype}; pass a dense array of real numbers, shape (n, d).")
    return matrix


def group(vectors: ArrayLike, labels: Labels, metric: str = "euclidean") -> Clusters:
    """Check the input, drop the rows without a cluster, sort the others, and normalise or centre them."""
    codes = encode(labels, "labels").codes
    matrix = _matrix(vectors)
    if matrix.ndim != 2 or matrix.shape[0] != codes.size or matrix.size == 0:
        raise DataError(
            f"vectors has shape {matrix.shape} and labels has {codes.size} entries; "
            "pass vectors of shape (n, d) and n labels, n and d at least 1."
        )
    order = np.argsort(codes, kind="stable")[(codes < 0).sum() :]
    points = matrix[order].astype(np.float64, copy=False)
    if n_bad := int((~np.isfinite(points).all(axis=1)).sum()):
        raise DataError(f"vectors has {n_bad} rows with NaN or infinite values; remove them or label them -1.")
    # a common offset changes no Euclidean distance but costs precision in |x|² + |y|² - 2xy
    points = unit_rows(points) if metric == "cosine" else points - points.sum(axis=0) / max(order.size, 1)
    sizes = np.bincount(codes[order])
    return Clusters(points, codes[order], np.cumsum(sizes) - sizes, sizes)


def blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Split the rows so that a block of the distance matrix fits in memory."""
    step = max(1, BLOCK_ENTRIES // n_columns)
    return (slice(start, start + step) for start in range(0, n_rows, step))


def cosine_distances(rows: Floats, columns: Floats) -> Floats:
    """One minus the cosine, for vectors of unit length; what is within rounding error of zero is zero."""
    distances = 1 - rows @ columns.T
    distances[distances <= np.finfo(np.float64).eps * rows.shape[1]] = 0
    return distances
