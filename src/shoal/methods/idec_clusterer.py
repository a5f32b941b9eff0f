"""IDEC as a clusterer of any vectors: after a representation, a reducer, or another method's training.

It is here and not in ``clusterers``, which does not depend on training.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from shoal.clusterers import State
from shoal.clusterers.student_t import StudentT
from shoal.encoder.auto_encoder import VectorEncoder
from shoal.methods.idec import IDEC, PRESETS
from shoal.training import Callback
from shoal.vectors import Vectors, cluster_means

_ENCODER, _HEAD = "encoder.", "head."


class LatentClusters:
    """Student-t clusters of an auto-encoder's codes, as a partition of its input vectors.

    Parameters
    ----------
    encoder : VectorEncoder
        Maps vectors to codes.
    head : StudentT
        The clusters of the codes.
    centers : ndarray of shape (n_clusters, d)
        Means of the clusters in the space of the vectors.
    history : sequence of dict
        Records of the training.
    outcome : dict, optional
        Outcome of the training.
    """

    kind: ClassVar[str] = "latent-student-t"

    def __init__(
        self,
        encoder: VectorEncoder,
        head: StudentT,
        centers: Vectors,
        history: Sequence[dict[str, Any]] = (),
        outcome: dict[str, Any] | None = None,
    ) -> None:
        self.encoder = encoder
        self.head = head
        self.centers = centers
        self.history = history
        self.outcome = outcome
        self.n_iter = 1 if outcome is None else int(outcome["stages"][-1]["steps"])

    def scores(self, vectors: Vectors) -> NDArray[np.float64]:
        """Return log q of the codes of the vectors."""
        return self.head.scores(self.encoder.encode(vectors))

    def state(self) -> State:
        """Return the network, the clusters of its codes, and the means."""
        parts = ((_ENCODER, self.encoder.state()), (_HEAD, self.head.state()))
        return {"centers": self.centers, **{prefix + name: a for prefix, part in parts for name, a in part.items()}}

    @classmethod
    def from_state(cls, state: State) -> LatentClusters:
        """Restore the clusters from a state."""
        encoder, head = (
            {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}
            for prefix in (_ENCODER, _HEAD)
        )
        weights = {name: np.asarray(array, dtype=np.float32) for name, array in encoder.items()}
        centers = np.asarray(state["centers"], dtype=np.float32)
        return cls(VectorEncoder.from_state(weights), StudentT.from_state(head), centers)


def fit_idec(
    vectors: Vectors,
    n_clusters: int,
    rng: np.random.RandomState,
    *,
    n_init: int = 10,
    checkpoints: Path | None = None,
    callbacks: Sequence[Callback] = (),
    device: str = "auto",
) -> LatentClusters:
    """Train IDEC on vectors with ClusterBERT's values: 150 epochs, Adam at 1e-4, a code of length K + 1.

    What ClusterBERT does not specify, the other layers and pre-training, is as in :class:`~shoal.methods.idec.IDEC`.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        The vectors.
    n_clusters : int
        The number of clusters.
    rng : RandomState
        The random generator.
    n_init : int, default=10
        Number of k-means starts.
    checkpoints, callbacks
        As in ``fit``.
    device : str, default="auto"
        Where to train.

    Examples
    --------
    >>> points = np.repeat(np.eye(2, dtype=np.float32), 5, axis=0)
    >>> found = fit_idec(points, 2, np.random.RandomState(0)).scores(points).argmax(axis=1)
    >>> bool((found[:5] == found[0]).all() and found[0] != found[9])
    True
    """
    seed = int(rng.randint(np.iinfo(np.int32).max))
    model = IDEC(n_clusters, **PRESETS["clusterbert"], n_init=n_init, device=device, random_state=seed)
    model.fit(vectors, checkpoints=checkpoints, callbacks=callbacks)
    return LatentClusters(
        model.encoder_,
        cast(StudentT, model.clusterer_),
        cluster_means(vectors, model.labels_, n_clusters),
        model.history_,
        model.outcome_,
    )
