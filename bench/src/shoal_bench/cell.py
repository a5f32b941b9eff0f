"""A cell: one fit to measure. ``python -m shoal_bench.cell`` reads one as JSON, runs it, and prints its record.

Each cell has a process of its own, so that peak memory is its own and a crash is only its own.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from shoal_bench.child import answer
from shoal_bench.results import Record, attempted, key_of, new_record

# Of these data sets more than a tenth of the texts is longer than the encoder reads at once.
LONG_TEXTS = ("dbpedia", "yelp")


@dataclass(frozen=True)
class Cell:
    """One fit to measure: a method, or a peer, on a data set, with a seed.

    Attributes
    ----------
    method : str or None
        A method of Shoal; None for a peer.
    params : mapping
        Its parameters, ``n_clusters`` among them.
    data_set : str
        The data set's name.
    n_texts : int or None
        Size of the fixed sample; None for all texts.
    seed : int
        ``random_state``.
    peer : str or None
        A foreign tool.
    extras : tuple of str
        What else to measure during the fit; the fit is the same with and without, and so is its key.
    train_share : float or None
        The part of the texts that is fitted, the rest being for scores; None to fit and score all of them.

    Examples
    --------
    >>> cell = Cell("kmeans", {"n_clusters": 4}, "agnews", None, 0)
    >>> cell.key("checksum") == Cell.of(cell.as_dict()).key("checksum")
    True
    """

    method: str | None
    params: Mapping[str, Any]
    data_set: str
    n_texts: int | None
    seed: int
    peer: str | None = None
    extras: tuple[str, ...] = ()
    train_share: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values; options that came later are omitted unless they are set, so that old keys stay."""
        return {name: value for name, value in asdict(self).items() if name not in ("extras", "train_share") or value}

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Cell:
        """Undo :meth:`as_dict`."""
        return cls(**{**content, "extras": tuple(content.get("extras", ()))})

    def key(self, data_sha256: str) -> str:
        """Return what names this fit on this content; no table and no tier is part of it."""
        return key_of(replace(self, extras=()).as_dict(), data_sha256)

    @property
    def k_is_told(self) -> bool:
        """Whether the fit is told the number of clusters, and does not find it."""
        return isinstance(self.params.get("n_clusters"), int)

    def settings(self) -> dict[str, Any]:
        """Return every parameter of the method as it would be now, defaults included; of a peer its options."""
        if self.method is None:
            return dict(self.params)
        from shoal.methods import find_method

        # What a fit makes of 'auto' on these data sets, all in English: results of before there was an 'auto' count.
        settled = {"backbone": "builtin", "long_texts": "chunk" if self.data_set in LONG_TEXTS else "truncate"}
        settings = {**find_method(self.method).defaults(), **self.params, "random_state": self.seed}
        settings |= {name: value for name, value in settled.items() if settings.get(name) == "auto"}
        plain: dict[str, Any] = json.loads(json.dumps(settings, default=repr))
        return plain


def changed_defaults(record: Record) -> list[str]:
    """Name the parameters with another default than today's; one that is new since then changed nothing."""
    then, now = record.get("settings", {}), Cell.of(record["cell"]).settings()
    return [name for name in then if name in now and then[name] != now[name]]


def run(cell: Cell) -> Record:
    """Run a cell here and return its record; whatever goes wrong in the fit is in the record.

    Parameters
    ----------
    cell : Cell
        What to run.

    Returns
    -------
    dict
        One line of the results.
    """
    from shoal.environment import machine, peak_memory_mb, threads, versions
    from shoal_bench.data_sets import find_data_set

    data_set = find_data_set(cell.data_set)
    from shoal_bench.measure import measure  # heavy, and of no use without data

    record = blank_record(cell, data_set.sha256)
    facts = attempted(lambda: measure(cell, data_set.load(n_texts=cell.n_texts)))
    own = {"peak_memory_mb": peak_memory_mb(), "threads": threads(), "versions": versions(), "machine": machine()}
    own["versions"] |= facts.pop("versions", {})
    finite: Record = _finite({**record, **own, **facts})
    return finite


def blank_record(cell: Cell, data_sha256: str) -> Record:
    """Return what is known of a cell before it has run."""
    return new_record(
        cell.key(data_sha256),
        cell=cell.as_dict(),
        settings=cell.settings(),
        data_sha256=data_sha256,
        n_texts=cell.n_texts,
        n_clusters=cell.params.get("n_clusters") if cell.k_is_told else None,
    )


def _finite(value: Any) -> Any:
    """Replace what JSON has no word for by None."""
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


if __name__ == "__main__":
    answer(lambda question: run(Cell.of(question)))
