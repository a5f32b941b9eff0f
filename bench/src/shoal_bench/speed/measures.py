"""Taking one measure, in this process."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal import load
from shoal.cache import cache_folder
from shoal.encoder.transformer import TransformerEncoder
from shoal.environment import machine, peak_memory_mb, versions
from shoal.methods import find_method
from shoal.methods.base import TextClusterer
from shoal_bench.private_cache import private_cache
from shoal_bench.results import Record, attempted, new_record
from shoal_bench.speed.figures import in_turns
from shoal_bench.speed.plain_loop import PlainLoop, TrainerLoop
from shoal_bench.speed.plan import KIND, SpeedRequest
from shoal_bench.speed.texts import read_texts, varied_texts, varied_vectors

MOST_CLUSTERS = 20
MAX_LENGTH = 64
WARM_UP_TEXTS = 64
# A model to predict with is fitted on so many texts; vectors that are varied come from so many.
MODEL_TEXTS = 1_000

Facts = dict[str, Any]


def take(request: SpeedRequest) -> Record:
    """Take a measure here and return its record; what goes wrong is in the record.

    Parameters
    ----------
    request : SpeedRequest
        What to measure. The threads are those of this process: whoever starts it pins them.

    Returns
    -------
    dict
        One line of the results.
    """

    def taken() -> Facts:
        source = read_texts(request.texts)
        texts = varied_texts(source, request.n_texts)
        with private_cache(request.backbone):
            return {"repeated_texts": request.n_texts > len(source), **TAKERS[request.measure](request, texts)}

    facts = attempted(taken)
    return {**speed_record(request.key, request.as_dict()), "peak_memory_mb": peak_memory_mb(), **facts}


def speed_record(key: str, facts: Facts) -> Record:
    """Return a record of the speed suite: some facts, and where and when they were found."""
    return new_record(key, kind=KIND, **facts, versions=versions(), machine=machine())


def _take_encode(request: SpeedRequest, texts: Sequence[str]) -> Facts:
    """Encode beside SentenceTransformer: the same weights, threads and texts."""
    from sentence_transformers import SentenceTransformer

    precision = "int8" if request.measure.endswith("int8") else "float32"
    ours = TransformerEncoder.load(request.backbone, max_length=MAX_LENGTH, precision=precision)
    with tempfile.TemporaryDirectory() as folder:
        ours.save(Path(folder))
        their_encode = partial(SentenceTransformer(folder, device="cpu").encode, show_progress_bar=False)
    head = texts[:WARM_UP_TEXTS]
    difference = np.abs(ours.encode(head) - their_encode(head)).max()
    facts = in_turns(partial(_seconds, ours.encode, texts), partial(_seconds, their_encode, texts), request.repeats)
    return {**facts, "reference": "SentenceTransformer.encode", "largest_difference": float(difference)}


def _take_train_step(request: SpeedRequest, texts: Sequence[str]) -> Facts:
    """Train beside the plain loop; frozen layers are computed before the clock starts."""
    batch_size, steps = request.batch_size or len(texts), request.steps or 1
    layers = 2 if request.measure.endswith("last-two") else None
    ours = TrainerLoop(texts, batch_size, request.backbone, layers)
    plain = PlainLoop(texts, batch_size, request.backbone)
    ours.seconds(1)
    plain.seconds(1)
    facts = in_turns(partial(ours.seconds, steps), partial(plain.seconds, steps), request.repeats)
    reference = "plain loop, everything padded and trained"
    return {**facts, "reference": reference, "padding": ours.padding, "reference_padding": plain.padding}


def _take_processes_train_step(request: SpeedRequest, texts: Sequence[str]) -> Facts:
    """Train by several processes of one thread beside one process of several; starting them is not timed."""
    batch_size, steps = request.batch_size or len(texts), request.steps or 1
    layers = 2 if request.measure.endswith("last-two") else None
    several, one = (
        TrainerLoop(texts, batch_size, request.backbone, layers, processes, warm_up=2)
        for processes in (request.threads, 1)
    )
    facts = in_turns(partial(several.seconds, steps), partial(one.seconds, steps), request.repeats)
    return {**facts, "reference": f"one process of {request.threads} threads", "padding": several.padding}


def _fit(request: SpeedRequest, texts: Sequence[str]) -> Callable[[], Any]:
    """Return the work of a fit, from texts to named clusters."""
    _fitted(request, texts[:WARM_UP_TEXTS])
    return partial(_fitted, request, texts)


def _predict(request: SpeedRequest, texts: Sequence[str]) -> Callable[[], Any]:
    """Return the work of loading a saved model, which was fitted on few texts, and predicting."""
    folder = cache_folder() / "model"  # which is this measure's own
    _fitted(request, texts[:MODEL_TEXTS]).save(folder)
    return lambda: load(folder).predict(texts)


def _take_ratio(request: SpeedRequest, texts: Sequence[str]) -> Facts:
    """Do some work beside encoding alone; both load the backbone and find no vectors in the cache."""
    max_length = find_method(request.method or "").defaults().get("max_length", MAX_LENGTH)  # all that the method reads

    def encode() -> NDArray[np.float32]:
        return TransformerEncoder.load(request.backbone, max_length=max_length).encode(texts)

    work = WORKS[request.measure](request, texts)
    ours, encoding = (partial(_cold_seconds, request, each) for each in (work, encode))
    return {**in_turns(ours, encoding, request.repeats), "reference": "load the backbone and encode"}


def _take_growth(request: SpeedRequest, texts: Sequence[str]) -> Facts:
    """Do some work, encoding and the rest apart."""
    return _growth(request, WORKS[request.measure.removeprefix("growth-")](request, texts))


def _take_growth_cluster(request: SpeedRequest, texts: Sequence[str]) -> Facts:
    """Fit on vectors: the first texts' own, then the same again with a little noise."""
    head = texts[:MODEL_TEXTS]
    encoder = TransformerEncoder.load(request.backbone, max_length=MAX_LENGTH)
    encoder.encode(head[:WARM_UP_TEXTS])
    estimated = _seconds(encoder.encode, head) / len(head) * request.n_texts
    vectors = varied_vectors(encoder.encode(head), request.n_texts)
    _model(request, WARM_UP_TEXTS).fit(vectors[:WARM_UP_TEXTS])
    facts = _growth(request, lambda: _model(request, len(vectors)).fit(vectors))
    return {
        **facts,
        "repeated_texts": request.n_texts > len(head),
        "encode_seconds": None,
        "reference": f"encode as many texts, estimated from {len(head)}",
        "reference_seconds": estimated,
        "ratio": estimated / facts["seconds"],
    }


def _growth(request: SpeedRequest, work: Callable[[], Any]) -> Facts:
    """Time some work with the time inside the encoder apart; of several runs the middle one counts."""
    base = peak_memory_mb()
    runs = []
    for _ in range(request.repeats):
        with _encoding_clock() as encoding:
            total = _cold_seconds(request, work)
        runs.append((total, sum(encoding)))
    seconds, encode_seconds = sorted(runs)[(len(runs) - 1) // 2]
    peak = peak_memory_mb()
    return {
        "seconds": seconds,
        "encode_seconds": encode_seconds,
        "other_seconds": seconds - encode_seconds,
        "reference": "the encoding in it",
        "reference_seconds": encode_seconds or None,
        "ratio": encode_seconds / seconds if encode_seconds else None,
        "added_memory_mb": None if base is None or peak is None else round(peak - base, 1),
    }


@contextlib.contextmanager
def _encoding_clock() -> Iterator[list[float]]:
    """Note the seconds of each call of an encoder's ``encode``; this process is there for nothing else."""
    encode = TransformerEncoder.encode
    spent: list[float] = []

    def clocked(self: TransformerEncoder, texts: Sequence[str]) -> NDArray[np.float32]:
        started = time.perf_counter()
        vectors = encode(self, texts)
        spent.append(time.perf_counter() - started)
        return vectors

    TransformerEncoder.encode = clocked  # type: ignore[method-assign]
    try:
        yield spent
    finally:
        TransformerEncoder.encode = encode  # type: ignore[method-assign]


def _cold_seconds(request: SpeedRequest, work: Callable[[], Any]) -> float:
    """Return how long some work takes when the cache is empty."""
    with private_cache(request.backbone):
        return _seconds(work)


def _seconds(work: Callable[..., Any], *arguments: Any) -> float:
    """Return how long some work takes."""
    started = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - started


def _model(request: SpeedRequest, n_texts: int) -> TextClusterer:
    """Build the method."""
    method = find_method(request.method or "")
    backbone = {"backbone": request.backbone} if "backbone" in method.defaults() else {}
    return method(n_clusters=min(MOST_CLUSTERS, n_texts // 2), **backbone)


def _fitted(request: SpeedRequest, texts: Sequence[str]) -> TextClusterer:
    """Fit the method."""
    return _model(request, len(texts)).fit(list(texts))


WORKS = {"fit": _fit, "predict": _predict}
TAKERS: dict[str, Callable[[SpeedRequest, Sequence[str]], Facts]] = {
    **dict.fromkeys(("encode-titles", "encode-sentences", "encode-titles-int8"), _take_encode),
    **dict.fromkeys(("train-step", "train-step-last-two"), _take_train_step),
    **dict.fromkeys(("processes-train-step", "processes-train-step-last-two"), _take_processes_train_step),
    **dict.fromkeys(("fit", "predict"), _take_ratio),
    **dict.fromkeys(("growth-fit", "growth-predict"), _take_growth),
    "growth-cluster": _take_growth_cluster,
}
