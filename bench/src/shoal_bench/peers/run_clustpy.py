"""Deep clustering of ClustPy on given vectors; run by ``answer.py``. It does not see the texts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import MagicMock

PACKAGES = ("clustpy", "torch", "scikit-learn", "numpy")

ALGORITHMS = ("DEC", "IDEC", "DCN")


def _without_torchvision() -> None:
    """Let ClustPy be imported where torchvision is built for another torch: only what it does with images needs it."""
    try:
        import torchvision  # type: ignore[import-not-found]  # noqa: F401
    except (ImportError, OSError, RuntimeError):
        for name in ("torchvision", "torchvision.models", "torchvision.models._api"):
            sys.modules[name] = MagicMock()


def prepare(
    n_clusters: int, seed: int, algorithm: str, pretrain_epochs: int, clustering_epochs: int
) -> Callable[[Sequence[str], Any], Sequence[int]]:
    """Import ClustPy and return the function to be timed.

    Parameters
    ----------
    n_clusters, seed : int
        Number of clusters; ``random_state``.
    algorithm : {"DEC", "IDEC", "DCN"}
        The class in ``clustpy.deep``.
    pretrain_epochs, clustering_epochs : int
        Epochs of the autoencoder alone and of the clustering.
    """
    if algorithm not in ALGORITHMS:
        raise ValueError(f"algorithm={algorithm!r}; pass one of {', '.join(ALGORITHMS)}.")
    _without_torchvision()
    from clustpy import deep  # type: ignore[import-not-found]

    model = getattr(deep, algorithm)(
        n_clusters, pretrain_epochs=pretrain_epochs, clustering_epochs=clustering_epochs, random_state=seed
    )

    def fit(texts: Sequence[str], vectors: Any) -> Sequence[int]:
        # DEC's paper (Xie et al. 2016, section 4.2) scales vectors so that their mean squared norm is the dimension
        scale = (vectors.shape[1] / (vectors**2).sum(axis=1).mean()) ** 0.5
        labels: Sequence[int] = model.fit(vectors * scale).labels_
        return labels

    return fit
