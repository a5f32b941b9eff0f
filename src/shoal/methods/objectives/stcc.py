"""STCC: binary codes of the texts, and a network that learns to predict them (Xu et al. 2017)."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_matrix, diags
from scipy.sparse.linalg import eigsh
from sklearn.utils.extmath import randomized_svd
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, dropout

from shoal.clusterers import graph_of, nearest_neighbours, smoothing_matrix
from shoal.training import Objective, VectorBatch
from shoal.vectors import Vectors

CODES = ("average", "lsa", "laplacian", "lpi")
# Neighbours of a text in the graph of the Laplacian, as in the authors' code.
NEIGHBOURS = 15


class CodeObjective(Objective):
    """Predict the binary code of each text: a sum of logistic losses (equation 10 of the paper).

    Parameters
    ----------
    encoder : nn.Module
        The network, with vectors of length ``dimension``.
    codes : ndarray of shape (n_texts, n_bits)
        The codes.
    dimension : int
        Length of the vectors.
    drop : float
        Share of the vector's values that training hides.
    """

    codes: Tensor

    def __init__(self, encoder: nn.Module, codes: NDArray[np.bool_], *, dimension: int, drop: float) -> None:
        super().__init__(encoder)
        self.drop = drop
        self.register_buffer("codes", torch.from_numpy(codes.astype(np.float32)))
        self.predict = nn.Linear(dimension, codes.shape[1])

    def forward(self, batch: VectorBatch) -> dict[str, Tensor]:
        """Return the mean over texts of the summed logistic losses."""
        (h,) = self.encode(batch)
        wanted = self.codes[torch.from_numpy(batch.rows).to(self.codes.device)]
        found = self.predict(dropout(h, self.drop, self.training))
        return {"codes": binary_cross_entropy_with_logits(found, wanted, reduction="sum") / len(batch)}


def binary_codes(kind: str, weights: csr_matrix, averages: Vectors, n_bits: int) -> NDArray[np.bool_]:
    """Reduce the texts to few dimensions, and cut each at its median.

    Parameters
    ----------
    kind : {"average", "lsa", "laplacian", "lpi"}
        The reduction: none, of the texts' mean word vectors; or of TF-IDF, by latent semantic analysis, Laplacian
        eigenmaps, or locality preserving indexing, their linear form.
    weights : csr_matrix of shape (n, n_words)
        TF-IDF, rows of length one.
    averages : ndarray of shape (n, d)
        Mean word vectors.
    n_bits : int
        Dimensions to reduce to; fewer if there are fewer.

    Returns
    -------
    ndarray of bool, shape (n, n_bits)

    Examples
    --------
    >>> points = np.array([[1.0, 5.0], [2.0, 4.0], [3.0, 3.0]])
    >>> binary_codes("average", csr_matrix((3, 1)), points, 2).astype(int).tolist()
    [[0, 1], [0, 0], [1, 0]]
    """
    reduced = averages if kind == "average" or not weights.nnz else _REDUCTIONS[kind](weights, n_bits)
    codes: NDArray[np.bool_] = reduced > np.median(reduced, axis=0)
    return codes


def _lsa(weights: csr_matrix, n_bits: int) -> NDArray[np.float64]:
    """Left singular vectors, times their values."""
    n_bits = max(1, min(n_bits, min(weights.shape) - 1))
    left, values, _ = randomized_svd(weights.astype(np.float64), n_bits, random_state=0)
    return np.asarray(left * values)


def _laplacian(weights: csr_matrix, n_bits: int) -> NDArray[np.float64]:
    """Eigenvectors of the normalised neighbour graph, but for the first, which knows only degrees."""
    matrix = smoothing_matrix(graph_of(nearest_neighbours(weights, NEIGHBOURS))).astype(np.float64)
    if n_bits + 1 >= matrix.shape[0] - 1:
        return _lsa(weights, n_bits)
    start = np.random.RandomState(0).random_sample(matrix.shape[0])  # eigsh would draw its own
    values, vectors = eigsh(matrix, n_bits + 1, v0=start)
    return np.asarray(vectors[:, np.argsort(-values)[1:]])


def _lpi(weights: csr_matrix, n_bits: int) -> NDArray[np.float64]:
    """Directions of LSA space along which neighbours stay together: Zᵀ G Z a = λ Zᵀ D Z a."""
    points = _lsa(weights, max(200, n_bits))
    graph = graph_of(nearest_neighbours(weights, NEIGHBOURS)).astype(np.float64)
    if not graph.nnz:
        return points[:, :n_bits]
    degrees = diags(np.asarray(graph.sum(axis=1)).ravel())
    near, scale = points.T @ (graph @ points), points.T @ (degrees @ points)
    ridge = 1e-6 * np.trace(scale) * np.eye(len(scale))
    return np.asarray(points @ eigh(near, scale + ridge)[1][:, ::-1][:, :n_bits])


_REDUCTIONS = {"lsa": _lsa, "laplacian": _laplacian, "lpi": _lpi}
