"""Fitting a cell with a clock, and scoring what comes out. Labels are for scores only."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import nn

from shoal.encoder.representation import CachedEncoder, make_representation
from shoal.encoder.vector_cache import EncodedTexts, cached_vectors, vector_key
from shoal.methods import find_method
from shoal.methods.inputs import rows_of
from shoal.methods.reading import plan_reading
from shoal.metrics import inter_cluster_distance, intra_cluster_distance, nmi, reliability, scores, silhouette
from shoal.training import Callback, CorpusViews, VectorCorpus
from shoal.vectors import Vectors
from shoal_bench.cell import Cell
from shoal_bench.data_sets import LabelledTexts
from shoal_bench.private_cache import private_cache
from shoal_bench.snapshots import MAPS, START, Snapshots, text_map
from shoal_bench.topics import topic_facts

# Texts whose augmented views are compared with them, and the bins of their cosines from 0 to 1.
COMPARED_TEXTS = 1_000
BINS = 50
# Texts that the silhouette through a training is the mean of.
SILHOUETTE_TEXTS = 2_000


def measure(cell: Cell, data: LabelledTexts) -> dict[str, Any]:
    """Fit a cell on texts and return what its record says of it.

    Parameters
    ----------
    cell : Cell
        What to fit.
    data : LabelledTexts
        The sample it asks for.

    Returns
    -------
    dict
        ``scores``, ``n_found``, ``outliers``, ``seconds``, ``encode_seconds`` and so on.
    """
    fitted, scored = (data, data) if cell.train_share is None else data.split(cell.train_share)
    facts = _measure_peer(cell, data) if cell.peer is not None else _measure_method(cell, fitted, scored)
    found = np.asarray(facts.pop("labels"), dtype=np.int64)
    return {
        "n_texts": len(data.texts),
        "scores": all_scores(scored.labels, with_outliers_as_cluster(found)),
        **({} if cell.k_is_told else {"n_clusters": len(set(data.labels))}),
        "n_found": len(set(found[found >= 0].tolist())),
        "outliers": float((found < 0).mean()),
        **facts,
    }


def all_scores(classes: Sequence[str], labels: NDArray[np.int64]) -> dict[str, float]:
    """Return the scores, and NMI by the geometric mean too, as DECCRL and ClusterBERT define it."""
    return {**scores(classes, labels), "nmi_geometric": 100 * nmi(classes, labels, "geometric")}


def with_outliers_as_cluster(labels: ArrayLike) -> NDArray[np.int64]:
    """Give all texts without a cluster (-1) one cluster of their own, as if the tool had meant it.

    Examples
    --------
    >>> with_outliers_as_cluster([0, -1, 1, -1]).tolist()
    [0, 2, 1, 2]
    """
    found = np.asarray(labels, dtype=np.int64)
    return np.where(found < 0, found.max(initial=-1) + 1, found)


def _measure_method(cell: Cell, data: LabelledTexts, scored: LabelledTexts) -> dict[str, Any]:
    """Fit a method of Shoal on texts, and predict those to be scored, which may be others."""
    model = find_method(cell.method or "")(**cell.params, random_state=cell.seed)
    params = model.get_params()
    encoded = encoded_by(params, data.texts)
    snapshots = Snapshots(model, data, cell.extras)
    with private_cache(params.get("backbone")):
        if encoded is not None:
            cached_vectors(encoded.key, lambda: encoded.content)
        trace = Trace(data.labels, snapshots, maps=MAPS in cell.extras)
        model.fit(data.texts, callbacks=[trace])
        seconds = round(trace.seconds(), 3)
        if trace.evaluations:
            snapshots.take(trace.evaluations[-1]["stage"], model.transform(data.texts), model.labels_)
        labels = model.labels_ if scored is data else model.predict(scored.texts)
    # of a method that neither trains nor chooses there is nothing to tell
    outcome = model.outcome_ if model.outcome_["stages"] or model.outcome_["choice"] else None
    return {
        "labels": labels,
        "levels": model.n_clusters_choice_.levels,
        "reliability": asdict(reliability(data.labels, model.labels_.tolist(), model.probabilities_.max(axis=1))),
        "fitted_scores": None if scored is data else all_scores(data.labels, model.labels_),
        "start_scores": None if outcome is None else all_scores(data.labels, model.start_labels_),
        "undone_scores": None if model.undone_labels_ is None else all_scores(data.labels, model.undone_labels_),
        "seconds": seconds,
        "stages": snapshots.stages,
        "extras": snapshots.found(),
        "encode_seconds": None if encoded is None else encoded.seconds,
        "starts_from_vectors": encoded is not None,
        "outcome": outcome,
        "trace": trace.evaluations,
        "pair_similarity": trace.pair_similarity,
        "topics": topic_facts(model, data.texts),
    }


def _measure_peer(cell: Cell, data: LabelledTexts) -> dict[str, Any]:
    """Run a foreign tool on the texts and on the vectors that our own `kmeans` has of them."""
    from shoal_bench.peers import run_peer

    encoded = encoded_by(find_method("kmeans").defaults(), data.texts)
    vectors, seconds = (None, None) if encoded is None else (encoded.content.vectors, encoded.seconds)
    answer = run_peer(cell.as_dict(), data.texts, data.labels, vectors)
    return {**answer, "encode_seconds": seconds, "starts_from_vectors": True}


class _Encoded(NamedTuple):
    """Vectors by their key in the vector cache, and what encoding took; None if the cache had them."""

    key: str
    content: EncodedTexts
    seconds: float | None


def encoded_by(params: dict[str, Any], texts: Sequence[str]) -> _Encoded | None:
    """Return the vectors that a method with these parameters takes from the cache; None if it takes none.

    They are made before the clock of the fit starts. A method that keeps vectors has the parameter ``cache``; if it
    has no ``representation``, that is a transformer with vectors of length one.
    """
    if not params.get("cache"):
        return None
    options = {"normalize": True, **params, **plan_reading(rows_of(list(texts)), params).options}
    representation = make_representation(params.get("representation", "transformer"), options)
    if not isinstance(representation, CachedEncoder):
        return None
    representation.fit(texts)
    encoder, took = representation.encoder, []

    def encode() -> EncodedTexts:
        started = time.perf_counter()
        vectors = np.asarray(encoder.encode(list(texts)), dtype=np.float32)
        took.append(round(time.perf_counter() - started, 3))
        return EncodedTexts(vectors, getattr(encoder, "truncated", 0))

    key = vector_key(encoder.fingerprint, texts)
    content = cached_vectors(key, encode)
    return _Encoded(key, content, took[0] if took else None)


class Trace(Callback):
    """Scores a training at every evaluation, on a clock that stands still meanwhile.

    Parameters
    ----------
    labels : sequence of str
        The true classes.
    snapshots : Snapshots, optional
        Takes stock whenever a stage begins: of what the stage before has come to.
    maps : bool, default=False
        Whether to draw a map of some texts at every evaluation.

    Attributes
    ----------
    evaluations : list of dict
        ``stage``, ``step``, ``epoch``, ``seconds`` since the start, ``acc``, ``nmi``, ``purity``, the label-free
        signs, and the distances within and between clusters, found (``intra``, ``inter``) and true (``intra_true``,
        ``inter_true``): SCCL, figure 4. And ``silhouette``: DECCRL,
        figure 3. With ``maps`` also ``map``, see :func:`~shoal_bench.snapshots.text_map`.
    pair_similarity : dict or None
        Cosines between texts and their augmented views before training (SCCL, figure 5): ``mean``, ``n``, and
        ``counts`` in equal bins from 0 to 1; None if no view changes the text.
    """

    def __init__(self, labels: Sequence[str], snapshots: Snapshots | None = None, maps: bool = False) -> None:
        self.labels = labels
        self.snapshots = snapshots
        self.maps = maps
        self.evaluations: list[dict[str, Any]] = []
        self.pair_similarity: dict[str, Any] | None = None
        self._started = time.perf_counter()
        self._spent = 0.0

    def seconds(self) -> float:
        """Return the time since the start that the trace itself did not take."""
        return time.perf_counter() - self._started - self._spent

    def on_start(self, views: CorpusViews | VectorCorpus, encoder: nn.Module) -> None:
        """Compare the views."""
        arrived = time.perf_counter()
        if isinstance(views, CorpusViews) and len(set(views.starts)) > 1:
            self.pair_similarity = pair_similarity(views, encoder)
        self._spent += time.perf_counter() - arrived

    def on_embeddings(self, record: dict[str, Any], embeddings: Vectors, labels: NDArray[np.int64]) -> None:
        """Score."""
        arrived = time.perf_counter()
        if self.snapshots is not None and record["step"] == 0:
            self.snapshots.take(self.evaluations[-1]["stage"] if self.evaluations else START, embeddings, labels)
        found = scores(self.labels, labels)
        self.evaluations.append(
            {
                **{name: value for name, value in record.items() if name != "event"},
                "seconds": round(self.seconds(), 3),
                **{metric: found[metric] for metric in ("acc", "nmi", "purity")},
                "intra_true": float(intra_cluster_distance(embeddings, self.labels)),
                "inter_true": float(inter_cluster_distance(embeddings, self.labels)),
                **({"map": text_map(embeddings, labels)} if self.maps else {}),
                "silhouette": silhouette(embeddings, labels, sample_size=SILHOUETTE_TEXTS).value,
            }
        )
        self._spent += time.perf_counter() - arrived


def pair_similarity(views: CorpusViews, encoder: nn.Module) -> dict[str, Any]:
    """Return the distribution of the cosines between texts and their augmented views."""
    rows = np.random.RandomState(0).permutation(views.n_texts)[:COMPARED_TEXTS]
    with torch.inference_mode():
        original, *augmented = (
            nn.functional.normalize(encoder(views.tokens, start + rows).float(), dim=1) for start in views.starts
        )
        cosines = torch.cat([(original * view).sum(dim=1) for view in augmented]).cpu().numpy()
    counts, _ = np.histogram(cosines.clip(0, 1), bins=BINS, range=(0, 1))
    return {"mean": float(cosines.mean()), "n": len(cosines), "counts": counts.tolist()}
