"""What the speed suite measures, and how much of it in which tier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from shoal import __version__
from shoal.errors import ParameterError
from shoal.methods import find_method
from shoal_bench.results import key_of
from shoal_bench.speed.texts import source_of
from shoal_bench.tiers import SpeedTier

KIND = "speed"
RATIOS = {
    "encode-titles": "encode short texts, beside SentenceTransformer",
    "encode-sentences": "encode long texts, beside SentenceTransformer",
    "encode-titles-int8": "encode short texts in 8-bit integers, beside SentenceTransformer in float32",
    "train-step": "a training step, everything trainable, beside a plain loop",
    "train-step-last-two": "a training step of the last two layers, the rest cached, beside a plain loop",
    "processes-train-step": "a training step by one process per thread, beside one process with all threads",
    "processes-train-step-last-two": "the same of the last two layers, the rest cached",
    "fit": "fit, from texts to named clusters, beside encoding alone",
    "predict": "predict from a saved model, beside encoding alone",
}
GROWTHS = {
    "growth-fit": "fit, from texts to named clusters",
    "growth-cluster": "fit on given vectors: clustering alone",
    "growth-predict": "predict from a saved model",
}
MEASURES = {**RATIOS, **GROWTHS}
# Up to this size a growth is timed three times; a larger one is long enough to be steady.
REPEATED_SIZE = 3_000
LEAST_TEXTS = 2


@dataclass(frozen=True)
class SpeedRequest:
    """One measure, to be taken in a process of its own.

    Its values are its identity: two tiers that ask for the same share the result.

    Attributes
    ----------
    measure : str
        One of ``MEASURES``.
    n_texts : int
        How many texts.
    texts : str
        Where they are from.
    repeats : int
        How often it is timed.
    threads : int
        Threads of the process.
    backbone : str
        The backbone.
    method : str or None
        The method that is fitted, if one is.
    batch_size, steps : int or None
        Of training, if there is any.
    """

    measure: str
    n_texts: int
    texts: str
    repeats: int
    threads: int
    backbone: str = "builtin"
    method: str | None = None
    batch_size: int | None = None
    steps: int | None = None

    @property
    def key(self) -> str:
        """What names it in the results, under this version of Shoal."""
        return key_of({**self.as_dict(), "version": __version__})

    @property
    def title(self) -> str:
        """What it is called."""
        return f"{self.measure} · {self.n_texts:,} texts"

    def as_dict(self) -> dict[str, Any]:
        """Return what a record says of it: of a backbone's folder only the name."""
        return {**asdict(self), "backbone": Path(self.backbone).name}


def planned(
    tier: SpeedTier,
    threads: int,
    *,
    measures: Sequence[str] = (),
    method: str = "kmeans",
    backbone: str = "builtin",
    n_texts: int | None = None,
    sizes: Sequence[int] = (),
) -> list[SpeedRequest]:
    """List what is to be measured: ratios first, then growth from small to large.

    A method that trains its encoder cannot start from vectors; ``growth-cluster`` is omitted for it.

    Parameters
    ----------
    tier : SpeedTier
        How much.
    threads : int
        Threads of each process.
    measures : sequence of str
        Which of ``MEASURES``; all if there are none.
    method, backbone : str
        What is fitted, and with which encoder.
    n_texts : int, optional
        Texts of a ratio, instead of the tier's.
    sizes : sequence of int
        Sizes of the growth, instead of the tier's.

    Returns
    -------
    list of SpeedRequest

    Examples
    --------
    >>> from shoal_bench.tiers import find_tier
    >>> [request.title for request in planned(find_tier("quick").speed, threads=1, measures=["growth-fit", "fit"])]
    ['fit · 1,000 texts', 'growth-fit · 1,000 texts', 'growth-fit · 3,000 texts']
    """
    unknown = [name for name in measures if name not in MEASURES]
    if unknown:
        raise ParameterError(f"there is no measure {unknown[0]!r}; the measures are {', '.join(MEASURES)}.")
    if threads < 1:
        raise ParameterError(f"threads={threads} but the least is 1; pass threads >= 1.")
    least = min([tier.n_texts if n_texts is None else n_texts, *sizes])
    if least < LEAST_TEXTS:
        raise ParameterError(f"{least} texts are too few to measure; pass {LEAST_TEXTS} or more.")
    takes_vectors = "representation" in find_method(method).defaults()
    whole = n_texts or tier.n_texts
    titles = SpeedRequest("", whole, source_of("titles"), tier.repeats, threads, backbone)
    fitted = replace(titles, method=method)
    batch_size = min(tier.batch_size, whole)
    trained = replace(titles, n_texts=batch_size * tier.steps, batch_size=batch_size, steps=tier.steps)
    kinds = {
        **dict.fromkeys(RATIOS, titles),
        "encode-sentences": replace(titles, texts=source_of("sentences")),
        **{measure: trained for measure in RATIOS if "train-step" in measure},
        **dict.fromkeys(("fit", "predict"), fitted),
    }
    requests = [replace(request, measure=measure) for measure, request in kinds.items()]
    for size in sorted(set(sizes or tier.sizes)):
        sized = replace(fitted, n_texts=size, repeats=3 if size <= REPEATED_SIZE else 1)
        growths = [measure for measure in GROWTHS if takes_vectors or measure != "growth-cluster"]
        requests += [replace(sized, measure=measure) for measure in growths]
    return [request for request in requests if request.measure in (measures or MEASURES)]
