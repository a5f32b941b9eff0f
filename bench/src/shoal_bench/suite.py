"""Suites: a table or a figure of a paper, as a short declarative file.

The files are ``suites/*.toml`` here; a path to one of the user's own works in their place. A row names a method of
Shoal or a peer, or neither, and is then *not yet* there.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.errors import DataError, ParameterError
from shoal.methods import find_method
from shoal_bench.cell import Cell
from shoal_bench.data_sets import DataSet, find_data_set
from shoal_bench.suite_checks import check_suite
from shoal_bench.tiers import Tier

FOLDER = Path(__file__).parent / "suites"
PAPER, QUICK = "paper", "quick"


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes
    ----------
    name : str
        What the table calls it.
    method : str, optional
        The method's name in Shoal; a row with neither method nor peer is *not yet* there.
    params : mapping
        Its parameters; ``preset`` names one of the method's presets, over which the others win.
    paper : mapping
        Further parameters in the tier ``paper``: the paper's own values.
    paper_for : mapping of data set to mapping
        The same for one data set.
    cost : {"cheap", "expensive"}
        What a fit costs.
    peer : str, optional
        The foreign tool that runs it.
    peer_options : mapping
        What that tool is told.
    series : str, optional
        In a figure, the curve that the row is a point of.
    x : float, optional
        Where on the curve.
    published_backbone : str
        What the published figures were made with.
    published : mapping of metric to mapping of data set to float
        The published figures, in percent.
    why_behind : str
        Why ours stays behind them, as far as is known.
    extras : sequence of str
        What else is measured at the start of its training and after each stage: ``places``,
        ``pairs``, ``ranking``; or at every evaluation: ``maps``.
    train_share : mapping of data set to float
        The part of the texts that is fitted; the scores are then those of the others. All, where it is not named.
    quick : bool
        Whether the tier ``quick`` measures it; one end of a sweep and one of its kind are enough there.
    """

    name: str
    method: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    paper: Mapping[str, Any] = field(default_factory=dict)
    paper_for: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    cost: str = "cheap"
    peer: str | None = None
    peer_options: Mapping[str, Any] = field(default_factory=dict)
    series: str | None = None
    x: float | None = None
    published_backbone: str = ""
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    why_behind: str = ""
    extras: Sequence[str] = ()
    train_share: Mapping[str, float] = field(default_factory=dict)
    quick: bool = True

    @property
    def runnable(self) -> bool:
        """Whether there is something to run."""
        return self.method is not None or self.peer is not None

    def runs_in(self, tier: Tier) -> bool:
        """Tell whether the tier measures it unasked."""
        return self.runnable and (self.quick or tier.name != QUICK)

    def cell(self, data_set: DataSet, tier: Tier, seed: int, n_texts: int | None = None) -> Cell:
        """Return the fit that this row asks for; ``n_texts`` wins over the tier's."""
        wanted = tier.texts(self.cost) if n_texts is None else n_texts
        texts = wanted if wanted is not None and wanted < data_set.n_texts else None
        params = {**self._params(data_set.name, tier), "n_clusters": data_set.n_classes}
        method, share = None if self.peer else self.method, self.train_share.get(data_set.name)
        return Cell(method, params, data_set.name, texts, seed, self.peer, tuple(self.extras), share)

    def _params(self, data_set: str, tier: Tier) -> dict[str, Any]:
        """Return the parameters that are not the method's defaults, so that the same fit has the same key."""
        if self.peer is not None:
            return dict(self.peer_options)
        if self.method is None:
            raise ParameterError(f"row {self.name!r} has no method yet; there is nothing to run.")
        papers = {**self.paper, **self.paper_for.get(data_set, {})} if tier.name == PAPER else {}
        params = {**self.params, **papers}
        method = find_method(self.method)
        preset = params.pop("preset", None)
        params = {**(method.presets[preset] if preset else {}), **params}
        defaults = method.defaults()
        return {name: value for name, value in params.items() if value != defaults[name]}


@dataclass(frozen=True)
class Suite:
    """A table or a figure.

    Attributes
    ----------
    name : str
        Its name on the command line.
    title, source : str
        What it shows, and which table of which paper it is.
    kind : str
        How it is shown: table, curves, silhouette, bars, strengths, sweep, stages, scatter, maps, pairs, topics.
    data_sets, metrics : tuple of str
        Its columns.
    rows : tuple of Row
        Its rows.
    remark : str
        How data and backbones differ from the paper's.
    quick_data_sets : tuple of str
        The data sets of the tier ``quick``; all if there are none.
    """

    name: str
    title: str
    source: str
    kind: str
    data_sets: tuple[str, ...]
    metrics: tuple[str, ...]
    rows: tuple[Row, ...]
    remark: str = ""
    quick_data_sets: tuple[str, ...] = ()

    @property
    def paper(self) -> str:
        """Which paper it is of, by its name."""
        return self.name.partition("-")[0]

    @property
    def runnable(self) -> bool:
        """Whether a row can be run."""
        return any(row.runnable for row in self.rows)

    def data_sets_in(self, tier: Tier) -> tuple[str, ...]:
        """Return the data sets that the tier measures."""
        return self.quick_data_sets if tier.name == QUICK and self.quick_data_sets else self.data_sets

    def cells(self, tier: Tier) -> Iterator[tuple[Row, Cell]]:
        """Yield every cell that can be asked for in this tier, with its row; unasked it may measure fewer."""
        for name in self.data_sets:
            data_set = find_data_set(name)
            for row in filter(lambda row: row.runnable, self.rows):
                for seed in tier.seeds:
                    yield row, row.cell(data_set, tier, seed)


def suite_names() -> list[str]:
    """Return the names of the suites that come with Shoal.

    Examples
    --------
    >>> "sccl-table1" in suite_names()
    True
    """
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def load_suite(name: str) -> Suite:
    """Read a suite by its name, or by the path of a file.

    Raises
    ------
    ParameterError
        If there is none, or its file does not say what a suite must.

    Examples
    --------
    >>> load_suite("sccl-table1").rows[0].published["acc"]["agnews"]
    27.6
    """
    if name in suite_names():
        return _parsed(name, FOLDER / f"{name}.toml")
    if name.endswith(".toml"):
        return _parsed(Path(name).stem, Path(name))
    raise ParameterError(
        f"there is no suite {name!r}; the suites are {', '.join(suite_names())}, or pass the path of a .toml file."
    )


def _parsed(name: str, file: Path) -> Suite:
    """Read and check a file."""
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as reason:
        raise DataError(f"suite {file} cannot be read ({reason.strerror}); check the path.") from reason
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as reason:
        raise ParameterError(f"suite {file} is not valid TOML in UTF-8 ({reason}); fix it.") from reason
    check_suite(file, content)
    facts: dict[str, Any] = {"kind": "table", "metrics": ("acc", "nmi"), **content}
    for key in ("data_sets", "quick_data_sets", "metrics"):
        facts[key] = tuple(dict.fromkeys(facts.get(key, ())))
    facts["rows"] = tuple(Row(**row) for row in content["rows"])
    return Suite(name=name, **facts)
