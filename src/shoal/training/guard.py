"""Do no harm: label-free signs of degradation, checked at every evaluation of the corpus.

Training without labels can make things worse: clusters run empty, one absorbs the rest, the vectors collapse,
neighbours are separated. None of that needs labels to be detected.

Whether the clusters of now are better than those of the start is judged by what training cannot change, the words of
the texts: texts with much the same words should share a cluster. Training sharpens its own space around right and
wrong clusters alike, and a weak start separates what belongs together, so neither of these spaces can be the judge
alone; without words, or where most texts share none, the judgement is the mean over both, and so each has its home and
its foreign ground.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from shoal.metrics import size_entropy
from shoal.vectors import Vectors, unit_rows

SAMPLE = 1000
JUDGED = 5000  # texts whose neighbours judge
POOL = 20_000  # texts among which neighbours are looked for
NEIGHBOURS = 10
TOLD = 0.5  # words judge if at least this share of the texts has one that others have too
# Each limit marks where a change is no longer a refinement. They are wide: a run that merely fails to help is
# judged by its quality, not by these.
EMPTY_SHARE = 0.1  # a tenth of the clusters have lost all their texts
ENTROPY_DROP = 0.15  # about seven of twenty equal clusters are gone
COSINE_SHARE = 0.5  # the mean cosine has moved halfway from its start to 1
RANK_SHARE = 0.25  # three quarters of the directions that K clusters need are gone
HARM = 0.002  # a stage's final gain this far below 0 is not kept: about the noise of 5,000 texts
REGRET = 0.02  # nor one this far below the best
PROOF = 2.0  # nor, at the end of the run, one of fewer standard errors: of ends that changed nothing, 2 % have more


@dataclass(frozen=True)
class Signs:
    """What can be measured without labels.

    Attributes
    ----------
    size_entropy : float
        Evenness of the cluster sizes; 1 for equal ones.
    empty_clusters : int
        Clusters without a text.
    mean_cosine : float
        Mean cosine of two texts; 1 when all vectors point the same way.
    effective_rank : float
        Number of directions the vectors actually use (Roy and Vetterli 2007).
    agreement : float
        Share of a text's nearest neighbours *in the starting space* that are in its cluster.
    quality : float
        ``agreement`` less what cluster sizes alone would give: the modularity of the clusters on the starting
        space's graph of neighbours (Newman and Girvan 2004). One cluster for everything has quality 0.
    gain : float
        How much better than the clusters of the start these are at keeping texts with similar words together (see the
        top of this file): 0 at the start, below 0 if they are worse.
    gain_error : float
        Standard error of ``gain`` over the texts that judge.
    """

    size_entropy: float
    empty_clusters: int
    mean_cosine: float
    effective_rank: float
    agreement: float
    quality: float
    gain: float = 0.0
    gain_error: float = 0.0

    @property
    def proven(self) -> bool:
        """Whether the gain is more than chance."""
        return self.gain > PROOF * self.gain_error

    def as_dict(self) -> dict[str, Any]:
        """Return the signs as JSON values."""
        return {name: None if math.isnan(value) else value for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, signs: Mapping[str, Any]) -> Signs:
        """Reverse :meth:`as_dict`."""
        values: dict[str, Any] = {name: math.nan if value is None else value for name, value in signs.items()}
        return cls(**values)


class Guard:
    """Compares a run with its start.

    Parameters
    ----------
    start : ndarray of shape (n, d)
        The vectors before any training.
    n_clusters : int
        The number of clusters asked for.
    seed : int
        Seed of the sample of at most ``SAMPLE`` texts on which geometry is measured.
    words : ndarray of shape (n, m), optional
        Vectors of the texts' words, which training does not change.
    """

    def __init__(self, start: Vectors, n_clusters: int, seed: int, words: Vectors | None = None) -> None:
        self.n_clusters = n_clusters
        rng = np.random.default_rng(seed)
        self.pool = np.sort(rng.choice(len(start), min(POOL, len(start)), replace=False))
        n = len(self.pool)
        self.sample = np.sort(rng.choice(n, min(SAMPLE, n), replace=False))
        # At most half an average cluster: more neighbours than a cluster has texts could never agree.
        self.n_neighbours = min(NEIGHBOURS, n - 1, max(1, n // (2 * n_clusters)))
        self.neighbours = self._neighbours(start, self.sample)
        self.judged, self.alike = self._alike(words, rng)
        self.start: Signs | None = None
        self.start_labels = np.empty(0, dtype=np.int64)

    def evaluate(self, embeddings: Vectors, labels: NDArray[np.int64]) -> Signs:
        """Return the signs; later evaluations are compared with the first."""
        sizes = np.bincount(labels, minlength=self.n_clusters)
        pooled, sample = labels[self.pool], embeddings[self.pool[self.sample]]
        if self.start is None:
            self.start_labels = pooled
        agreement = float(_agreement(pooled, self.sample, self.neighbours).mean())
        gain, gain_error = self._gain(embeddings, pooled)
        signs = Signs(
            size_entropy=size_entropy(labels, self.n_clusters),
            empty_clusters=int((sizes == 0).sum()),
            mean_cosine=_mean_cosine(sample),
            effective_rank=_effective_rank(sample),
            agreement=agreement,
            quality=agreement - float(np.square(sizes / sizes.sum()).sum()),
            gain=gain,
            gain_error=gain_error,
        )
        if self.start is None:
            self.start = signs
        return signs

    def _gain(self, embeddings: Vectors, labels: NDArray[np.int64]) -> tuple[float, float]:
        """Return how much better than the start's clusters these keep neighbours together, and its standard error."""
        if np.array_equal(labels, self.start_labels) or not np.isfinite(embeddings).all():
            return 0.0, 0.0
        grounds = [(self.judged, self.alike)]
        if not len(self.alike):
            own = self._neighbours(embeddings, self.sample)
            grounds = [(self.sample, self.neighbours), (self.sample, own)]
        gains = np.mean([_kept(labels, *ground) - _kept(self.start_labels, *ground) for ground in grounds], axis=0)
        return float(gains.mean()), float(gains.std() / math.sqrt(len(gains)))

    def _alike(self, words: Vectors | None, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the texts that judge, and the neighbours of each in words; none if most texts share no word."""
        nobody = self.sample[:0], self.neighbours[:0]
        if words is None:
            return nobody
        told = np.flatnonzero(words[self.pool].any(axis=1))
        if len(told) < max(TOLD * len(self.pool), self.n_neighbours + 1):
            return nobody
        judged = np.sort(rng.choice(len(told), min(JUDGED, len(told)), replace=False))
        return told[judged], told[_nearest(words[self.pool[told]], judged, self.n_neighbours)]

    def _neighbours(self, vectors: Vectors, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the neighbours of some rows of the pool in the pool."""
        return _nearest(vectors[self.pool], rows, self.n_neighbours)

    def alarm(self, now: Signs) -> str:
        """Say what has gone wrong since the start; an empty string if nothing has."""
        start = self.start or now
        if not math.isfinite(now.mean_cosine):
            return "vectors are not finite"
        if now.mean_cosine > start.mean_cosine + COSINE_SHARE * (1 - start.mean_cosine):
            return f"vectors collapsed: mean cosine {start.mean_cosine:.2f}, now {now.mean_cosine:.2f}"
        if now.effective_rank < RANK_SHARE * min(self.n_clusters - 1, start.effective_rank):
            return f"vectors lost directions: rank {start.effective_rank:.1f}, now {now.effective_rank:.1f}"
        if now.gain > 0:  # other sizes than those of a worse partition are no harm
            return ""
        if now.empty_clusters > start.empty_clusters + EMPTY_SHARE * self.n_clusters:
            return f"clusters ran empty: {start.empty_clusters} at the start, {now.empty_clusters} now"
        if now.size_entropy < start.size_entropy - ENTROPY_DROP:
            return f"cluster sizes became uneven: entropy {start.size_entropy:.2f}, now {now.size_entropy:.2f}"
        return ""

    def regret(self, best: Signs, now: Signs, margin: float = REGRET) -> str:
        """Say why an end without an alarm is still worse than the best state; an empty string if it is not."""
        if now.gain < best.gain and now.gain < max(-HARM, best.gain - margin):
            return f"neighbours were separated: gain over the start {best.gain:.3f} at best, {now.gain:.3f} at the end"
        return ""

    def doubt(self, end: Signs) -> str:
        """Say that the clusters of a run's end were not shown to be better than other ones at its start, or nothing."""
        if end.proven or not end.gain_error:  # the same clusters do no harm
            return ""
        return f"no gain beyond chance: {end.gain:.4f} over the start, with a standard error of {end.gain_error:.4f}"

    def state_dict(self) -> dict[str, Any]:
        """Return what it stores about the start."""
        return {
            "n_clusters": self.n_clusters,
            "pool": self.pool,
            "sample": self.sample,
            "judged": self.judged,
            "neighbours": self.neighbours,
            "alike": self.alike,
            "start": self.start and self.start.as_dict(),
            "start_labels": self.start_labels,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Guard:
        """Reverse :meth:`state_dict`."""
        guard = cls.__new__(cls)
        guard.n_clusters = state["n_clusters"]
        for name in ("pool", "sample", "judged", "neighbours", "alike", "start_labels"):
            setattr(guard, name, np.asarray(state[name]))
        guard.n_neighbours = guard.neighbours.shape[1]
        guard.start = state["start"] and Signs.from_dict(state["start"])
        return guard


class BestState:
    """A state to roll back to, the best one so far: its weights, step and signs."""

    def __init__(self) -> None:
        self.step = -1
        self.signs: Signs | None = None
        self.weights: dict[str, Tensor] = {}

    def offer(self, step: int, signs: Signs, module: nn.Module, *, always: bool = False) -> None:
        """Keep the current state if its gain is the highest so far, or ``always``."""
        if always or self.signs is None or signs.gain >= self.signs.gain:
            self.step, self.signs = step, signs
            self.weights = {name: value.clone() for name, value in learnt_state(module).items()}

    def restore(self, module: nn.Module) -> None:
        """Restore the weights, of another stage those that this one has too."""
        shapes = {name: value.shape for name, value in module.state_dict().items()}
        shared = {name: value for name, value in self.weights.items() if shapes.get(name) == value.shape}
        module.load_state_dict(shared, strict=False)

    def state_dict(self) -> dict[str, Any]:
        """Return everything."""
        return {"step": self.step, "signs": self.signs and self.signs.as_dict(), "weights": dict(self.weights)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Undo :meth:`state_dict`."""
        self.step, self.weights = state["step"], dict(state["weights"])
        self.signs = state["signs"] and Signs.from_dict(state["signs"])


def learnt_state(module: nn.Module) -> dict[str, Tensor]:
    """Return the trained parameters and the buffers: what a checkpoint must hold."""
    frozen = {name for name, parameter in module.named_parameters() if not parameter.requires_grad}
    return {name: tensor.detach() for name, tensor in module.state_dict().items() if name not in frozen}


def _agreement(
    labels: NDArray[np.int64], rows: NDArray[np.int64], neighbours: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return, for some rows, the share of their neighbours that are in the row's cluster."""
    together = labels[neighbours] == labels[rows][:, None]
    return together.mean(axis=1) if together.size else np.ones(1)


def _kept(labels: NDArray[np.int64], rows: NDArray[np.int64], neighbours: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the agreement, scaled: 0 is what the sizes alone would give, 1 is all."""
    chance = float(np.square(np.bincount(labels) / len(labels)).sum())
    return (_agreement(labels, rows, neighbours) - chance) / max(1 - chance, 1e-12)


def _nearest(vectors: Vectors, rows: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Return the ``k`` rows nearest by cosine to each of ``rows``, itself excluded, (len(rows), k)."""
    points = unit_rows(vectors)
    found = np.empty((len(rows), k), dtype=np.int64)
    for first in range(0, len(rows), 100):  # in blocks, for the memory
        block = rows[first : first + 100]
        similarity = points[block] @ points.T
        similarity[np.arange(len(block)), block] = -np.inf
        found[first : first + 100] = np.argpartition(-similarity, max(k - 1, 0), axis=1)[:, :k]
    return found


def _mean_cosine(vectors: Vectors) -> float:
    """Mean cosine over all pairs of different rows."""
    n = len(vectors)
    total = np.square(unit_rows(vectors).astype(np.float64).sum(axis=0)).sum()
    return float((total - n) / (n * (n - 1))) if n > 1 else 0.0


def _effective_rank(vectors: Vectors) -> float:
    """Exponential of the entropy of the covariance's spectrum."""
    if not np.isfinite(vectors).all():
        return 0.0
    values = np.linalg.svd(vectors - vectors.mean(axis=0), compute_uv=False).astype(np.float64) ** 2
    shares = values[values > 0] / max(values.sum(), 1e-300)
    return float(np.exp(-np.sum(shares * np.log(shares)))) if len(shares) else 0.0
