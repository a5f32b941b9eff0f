"""Maps: texts on a plane, for pictures of what a training does to them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.vectors import Vectors

# As many texts as figure 2 of MLM + DEC has; whole numbers up to the second are as fine as a picture shows.
MAPPED_TEXTS = 1_000
SIDE = 999
PERPLEXITY = 30.0


def text_map(vectors: Vectors, clusters: NDArray[np.int64]) -> dict[str, Any]:
    """Place some texts on a plane by t-SNE; the same texts for any vectors of the same corpus.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        Vectors of all texts.
    clusters : ndarray of int64, shape (n,)
        Their clusters.

    Returns
    -------
    dict
        ``x`` and ``y`` from 0 to ``SIDE``, and ``cluster``: lists with a whole number per text.

    Examples
    --------
    >>> points = np.repeat(np.eye(2, dtype=np.float32), 5, axis=0)
    >>> found = text_map(points, np.repeat([0, 1], 5))
    >>> len(found["x"]), sorted(found["cluster"])
    (10, [0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    """
    from sklearn.manifold import TSNE

    rows = np.random.RandomState(0).permutation(len(vectors))[:MAPPED_TEXTS]
    sample = vectors[rows]
    if np.isfinite(sample).all() and np.ptp(sample, axis=0).any():
        tsne = TSNE(perplexity=min(PERPLEXITY, (len(rows) - 1) / 3), init="pca", random_state=0)
        places = tsne.fit_transform(sample)
    else:  # a collapsed space is one point, and t-SNE would crash on it
        places = np.zeros((len(rows), 2))
    low, high = places.min(axis=0), places.max(axis=0)
    x, y = np.rint(SIDE * (places - low) / np.maximum(high - low, 1e-12)).astype(int).T
    return {"x": x.tolist(), "y": y.tolist(), "cluster": np.asarray(clusters)[rows].tolist()}
