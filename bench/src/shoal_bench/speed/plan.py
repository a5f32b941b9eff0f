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

KIND = "speed"
RATIOS = {
    "encode-titles": "encode short texts, beside SentenceTransformer",
    "encode-sentences": "encode long texts, beside SentenceTransformer",
    "train-step": "a training step, everything trainable, beside a plain loop",
    "train-step-last-two": "a training step of the last two layers, the rest cached, beside a plain loop",
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


@dataclass(frozen=True)
class SpeedTier:
    """How much is measured.

    Attributes
    ----------
    n_texts, repeats : int
        Texts of a ratio, and its turns.
    batch_size, steps : int
        Texts of a training step, and steps of a turn.
    sizes : tuple of int
        Numbers of texts at which growth is measured.
    """

    n_texts: int
    repeats: int
    batch_size: int
    steps: int
    sizes: tuple[int, ...]

    def resized(self, n_texts: int | None = None, sizes: Sequence[int] = ()) -> SpeedTier:
        """Return it with other numbers of texts, where they are given."""
        least = min([self.n_texts if n_texts is None else n_texts, *sizes])
        if least < 2:
            raise ParameterError(f"{least} texts are too few to measure; pass 2 or more.")
        resized = replace(self, sizes=tuple(sorted(set(sizes or self.sizes))))
        if n_texts is None:
            return resized
        return replace(resized, n_texts=n_texts, batch_size=min(self.batch_size, n_texts))


SPEED_TIERS = {
    "quick": SpeedTier(1_000, 3, 100, 1, (1_000, 3_000)),
    "standard": SpeedTier(4_000, 5, 400, 1, (1_000, 3_000, 10_000, 30_000)),
    "paper": SpeedTier(10_000, 5, 400, 3, (1_000, 3_000, 10_000, 30_000, 100_000, 200_000)),
}


def find_speed_tier(name: str) -> SpeedTier:
    """Return the tier called ``name``.

    Examples
    --------
    >>> find_speed_tier("quick").sizes
    (1000, 3000)
    """
    if name not in SPEED_TIERS:
        raise ParameterError(f"there is no tier {name!r}; the tiers are {', '.join(SPEED_TIERS)}.")
    return SPEED_TIERS[name]


@dataclass(frozen=True)
class SpeedOptions:
    """What is wanted.

    Attributes
    ----------
    tier : SpeedTier
        How much.
    threads : int
        Threads of each process.
    measures : sequence of str
        Which of ``MEASURES``; all if there are none.
    method : str, default="kmeans"
        The method that is fitted.
    backbone : str, default="builtin"
        The backbone.
    """

    tier: SpeedTier
    threads: int
    measures: Sequence[str] = ()
    method: str = "kmeans"
    backbone: str = "builtin"

    def __post_init__(self) -> None:
        unknown = [name for name in self.measures if name not in MEASURES]
        if unknown:
            raise ParameterError(f"there is no measure {unknown[0]!r}; the measures are {', '.join(MEASURES)}.")
        if self.threads < 1:
            raise ParameterError(f"threads={self.threads} but the least is 1; pass threads >= 1.")
        find_method(self.method)


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
        return key_of({**self.as_facts(), "version": __version__})

    @property
    def title(self) -> str:
        """What it is called."""
        return f"{self.measure} · {self.n_texts:,} texts"

    def as_facts(self) -> dict[str, Any]:
        """Return what a record says of it: of a backbone's folder only the name."""
        return {**asdict(self), "backbone": Path(self.backbone).name}


def requests_for(options: SpeedOptions) -> list[SpeedRequest]:
    """List what is to be measured: ratios first, then growth from small to large.

    A method that trains its encoder cannot start from vectors; ``growth-cluster`` is omitted for it.

    Parameters
    ----------
    options : SpeedOptions
        What is wanted.

    Returns
    -------
    list of SpeedRequest

    Examples
    --------
    >>> options = SpeedOptions(find_speed_tier("quick"), threads=1, measures=["growth-fit", "fit"])
    >>> [request.title for request in requests_for(options)]
    ['fit · 1,000 texts', 'growth-fit · 1,000 texts', 'growth-fit · 3,000 texts']
    """
    tier, threads, backbone = options.tier, options.threads, options.backbone
    titles, sentences = source_of("titles"), source_of("sentences")
    requests = []
    for measure in RATIOS:
        texts = sentences if measure == "encode-sentences" else titles
        request = SpeedRequest(measure, tier.n_texts, texts, tier.repeats, threads, backbone)
        if measure in ("fit", "predict"):
            request = replace(request, method=options.method)
        elif measure.startswith("train-step"):
            n_texts = tier.batch_size * tier.steps
            request = replace(request, n_texts=n_texts, batch_size=tier.batch_size, steps=tier.steps)
        requests.append(request)
    takes_vectors = "representation" in find_method(options.method).defaults()
    for size in tier.sizes:
        repeats = 3 if size <= REPEATED_SIZE else 1
        for measure in GROWTHS:
            if takes_vectors or measure != "growth-cluster":
                requests.append(SpeedRequest(measure, size, titles, repeats, threads, backbone, options.method))
    return [request for request in requests if request.measure in (options.measures or MEASURES)]
