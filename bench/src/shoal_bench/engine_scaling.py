"""How encoding and predicting scale with the workers of Ray, and the constants that a plan for more machines needs."""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import numpy as np
import polars as pl

from shoal.corpus.sources.blocks import open_source
from shoal.encoder.backbone import BUILTIN
from shoal.encoder.representation import CachedEncoder
from shoal.encoder.shards import EncodeBlock
from shoal.encoder.transformer import TransformerEncoder
from shoal.engine import use_engine
from shoal.methods.base import TextClusterer
from shoal.methods.persistence import load
from shoal.methods.shoal import Shoal
from shoal.sorting import Sorter, Sorting

# Texts that the model for predicting is fitted on, and its clusters.
FITTED_TEXTS, N_CLUSTERS = 2000, 20
ROUNDS = 3


@dataclass(frozen=True)
class Scaling:
    """What one number of workers took.

    Parameters
    ----------
    workers : int
        Their number, of one thread each.
    start_seconds : float
        From nothing to workers that have loaded the encoder.
    encode_seconds, predict_seconds : float
        For all texts, the median of several rounds. Each round of predicting sends the model to the workers anew.
    driver_seconds : float
        Processor time per text of the process that gives out blocks and collects the rows, once the workers have the
        model.
    """

    workers: int
    n_texts: int
    start_seconds: float
    encode_seconds: float
    predict_seconds: float
    driver_seconds: float

    def as_dict(self) -> dict[str, float]:
        """Return it with texts per second."""
        per_second = {
            "encode_per_second": self.n_texts / self.encode_seconds,
            "predict_per_second": self.n_texts / self.predict_seconds,
        }
        return {name: round(value, 8) for name, value in {**asdict(self), **per_second}.items()}


def measure_scaling(
    texts: Sequence[str],
    workers: Iterable[int],
    precision: str = "float32",
    backbone: str = BUILTIN,
    rounds: int = ROUNDS,
) -> tuple[list[Scaling], dict[str, float]]:
    """Encode and predict the same texts with each number of workers; labels must not differ.

    Parameters
    ----------
    texts : sequence of str
        Distinct texts.
    workers : iterable of int
        Numbers of workers.
    precision : {"float32", "int8"}
        Arithmetic of the encoder.
    backbone : str, default="builtin"
        The encoder.
    rounds : int, default=3
        How often each is measured.

    Returns
    -------
    (list of Scaling, dict)
        A record per number of workers, and the bytes per text that are moved.
    """
    encoder = TransformerEncoder.load(backbone, precision=precision)
    with tempfile.TemporaryDirectory() as folder:
        fitted = Shoal(N_CLUSTERS, backbone=backbone, encoder_precision=precision, cache=False)
        fitted.fit(list(texts[:FITTED_TEXTS])).save(Path(folder) / "model")
        pl.DataFrame({"text": texts}).write_parquet(Path(folder) / "texts.parquet")
        model, records, answers = load(Path(folder) / "model"), [], []
        for number in workers:
            record, frame = _measured(encoder, model, Path(folder) / "texts.parquet", texts, number, rounds)
            records.append(record)
            answers.append(frame["cluster"])
    if not all(answer.equals(answers[0]) for answer in answers):
        raise RuntimeError("the labels depend on the number of workers")
    letters = sum(len(text.encode()) for text in texts)
    moved = {
        "encode_bytes": round(letters / len(texts) + encoder.dimension * np.dtype(np.float32).itemsize, 1),
        "predict_bytes": round(frame.estimated_size() / len(texts), 1),
    }
    return records, moved


def _measured(
    encoder: TransformerEncoder, model: TextClusterer, table: Path, texts: Sequence[str], workers: int, rounds: int
) -> tuple[Scaling, pl.DataFrame]:
    """Measure one number of workers."""
    cached = CachedEncoder(encoder, cache=False)
    clock = _Clock()
    with ExitStack() as stack:
        with clock.of("start"):
            engine = stack.enter_context(use_engine("ray", workers))
            list(engine.map_blocks(EncodeBlock(encoder), [["a"]] * (2 * workers)))
        for _ in range(rounds):
            with clock.of("encode"):
                cached.encode(texts)
            with clock.of("predict"):
                sorted_frames = Sorting(Sorter(model, "text"), open_source(str(table))).frames()
                frames = [next(sorted_frames)]
                with clock.of("collect"):
                    frames.extend(sorted_frames)
    seconds = {name: median(each) for name, each in clock.seconds.items()}
    driver = median(clock.processor["collect"]) / max(len(texts) - len(frames[0]), 1)
    record = Scaling(workers, len(texts), seconds["start"], seconds["encode"], seconds["predict"], driver)
    return record, pl.concat(frames)


class _Clock:
    """Seconds on the wall, and of this process's processor time, by name."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)
        self.processor: defaultdict[str, list[float]] = defaultdict(list)

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Time a block."""
        wall, own = time.perf_counter(), time.process_time()
        yield
        self.seconds[name].append(time.perf_counter() - wall)
        self.processor[name].append(time.process_time() - own)


def planned_hours(
    n_texts: int, machines: int, cores: int, *, per_second: float, driver_seconds: float, start_seconds: float
) -> dict[str, float]:
    """Return what predicting would take on many machines, by constants that were measured on one.

    Workers divide the texts; the driver handles every text once, alone. Whichever takes longer decides.

    Parameters
    ----------
    n_texts : int
        How many.
    machines, cores : int
        A worker runs on each core.
    per_second : float
        Texts that one worker predicts in a second.
    driver_seconds : float
        Processor time of the driver per text.
    start_seconds : float
        Until the workers have begun.

    Examples
    --------
    >>> plan = planned_hours(36_000_000, 10, 2, per_second=500, driver_seconds=1e-5, start_seconds=36)
    >>> plan["workers_hours"], plan["driver_hours"], plan["hours"]
    (1.0, 0.1, 1.01)
    """
    workers, driver = n_texts / (per_second * machines * cores), n_texts * driver_seconds
    hours = {"workers_hours": workers, "driver_hours": driver, "hours": max(workers, driver) + start_seconds}
    hours["core_hours"] = hours["hours"] * machines * cores
    return {name: round(seconds / 3600, 3) for name, seconds in hours.items()}
