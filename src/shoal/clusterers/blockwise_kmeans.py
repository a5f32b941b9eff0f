"""k-means by map and reduce: each block of rows gives sums, which are added in the order of the blocks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.engine import current_engine
from shoal.progress import progress
from shoal.vectors import Vectors, membership, unit_rows

# The same for every engine and number of workers: how rows are divided decides the last digit of a sum.
BLOCK_ROWS = 16_384


@dataclass(frozen=True)
class BlockSums:
    """What one block of rows tells about the clusters.

    Parameters
    ----------
    sums : ndarray of shape (n_clusters, d)
        The sum of the rows of each cluster.
    counts : ndarray of shape (n_clusters,)
        Their numbers.
    spread : float
        The sum of the squared distances of the rows to the nearest centre.
    farthest : float
        The largest of these distances.
    row : ndarray of shape (d,)
        The row that it belongs to.
    """

    sums: NDArray[np.float64]
    counts: NDArray[np.int64]
    spread: float
    farthest: float
    row: NDArray[np.float64]


@dataclass(frozen=True)
class AssignBlock:
    """Assigns the rows of a block to the nearest centre, in double precision: no label depends on who computes it."""

    centers: NDArray[np.float64]
    spherical: bool

    def __call__(self, block: Vectors) -> BlockSums:
        """Return the sums of a block.

        Examples
        --------
        >>> found = AssignBlock(np.array([[0.0], [10.0]]), spherical=False)(np.array([[1.0], [2.0], [9.0]]))
        >>> found.sums.tolist(), found.counts.tolist(), found.spread, found.row.tolist()
        ([[3.0], [9.0]], [2, 1], 6.0, [2.0])
        """
        points: Any = np.asarray(block, dtype=np.float64)
        points = unit_rows(points) if self.spherical else points
        lengths = np.einsum("ij,ij->i", self.centers, self.centers)
        partial = lengths - 2 * (points @ self.centers.T)  # all of the squared distance that differs between centres
        labels = partial.argmin(axis=1)
        distances = np.einsum("ij,ij->i", points, points) + partial[np.arange(len(points)), labels]
        sums = membership(labels, len(self.centers), np.float64) @ points
        counts = np.bincount(labels, minlength=len(self.centers))
        worst = int(distances.argmax())
        return BlockSums(sums, counts, float(distances.sum()), float(distances[worst]), points[worst])


def lloyd_in_blocks(
    vectors: Vectors, centers: Vectors, *, spherical: bool, max_iter: int
) -> tuple[Vectors, float, int]:
    """Alternate assignment and means until no row changes its cluster; the engine's workers share the blocks.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        The rows, perhaps on disk.
    centers : ndarray of shape (n_clusters, d)
        Where to start.
    spherical : bool
        Compare rows of length one, with centres of length one.
    max_iter : int
        Passes over the rows, at most.

    Returns
    -------
    centers : ndarray of shape (n_clusters, d)
    spread : float
        The mean squared distance of a row to the nearest centre before the last move.
    n_iter : int
        The number of passes.

    Notes
    -----
    The result is the same, to the last bit, for any number of workers. An empty cluster restarts at the row farthest
    from its centre, of those that are the farthest of their blocks.

    Examples
    --------
    >>> vectors = np.repeat(np.eye(2, dtype=np.float32), [3, 2], axis=0)
    >>> lloyd_in_blocks(vectors, np.array([[1.0, 0.2], [0.1, 0.3]]), spherical=True, max_iter=9)[0].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    engine = current_engine()
    blocks = [engine.keep(np.asarray(vectors[i : i + BLOCK_ROWS])) for i in range(0, len(vectors), BLOCK_ROWS)]
    found: Any = np.asarray(centers, dtype=np.float64)
    before, total, iteration = None, None, 0
    with progress("k-means", max_iter, unit="passes") as bar:
        while iteration < max_iter:
            iteration += 1
            total = _added(engine.map_blocks(AssignBlock(found, spherical), blocks))
            if before is not None and np.array_equal(total.sums, before):  # only if no row has moved
                break
            before = total.sums
            found = total.sums / np.maximum(total.counts, 1)[:, None]
            empty = np.flatnonzero(total.counts == 0)[: len(total.rows)]
            found[empty] = total.rows[: len(empty)]
            found = unit_rows(found) if spherical else found
            bar.advance(1)
    spread = 0.0 if total is None else total.spread / len(vectors)
    return found.astype(np.float32), spread, iteration


@dataclass(frozen=True)
class _Total:
    """The sums of all blocks, and their farthest rows, the farthest first."""

    sums: NDArray[np.float64]
    counts: NDArray[np.int64]
    spread: float
    rows: NDArray[np.float64]


def _added(blocks: Iterable[BlockSums]) -> _Total:
    """Add up what the blocks tell, in their order."""
    each = list(blocks)
    sums, counts = each[0].sums.copy(), each[0].counts.copy()
    for block in each[1:]:
        sums += block.sums
        counts += block.counts
    farthest = sorted(range(len(each)), key=lambda i: -each[i].farthest)
    return _Total(sums, counts, sum(block.spread for block in each), np.stack([each[i].row for i in farthest]))
