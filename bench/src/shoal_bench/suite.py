"""Suites: a table or a figure of a paper, as a short declarative file.

The files are ``suites/*.toml`` here; a path to one of the user's own works in their place. A row names a method of
Shoal or a peer, or neither, and is then *not yet* there. What a file may say is declared in the two classes here, and
checked before anything is run.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, Strict, ValidationError, model_validator
from pydantic_core import ErrorDetails

from shoal.errors import DataError, ParameterError
from shoal.methods import find_method
from shoal.n_clusters import parse_wanted
from shoal_bench.cell import Cell
from shoal_bench.data_sets import DataSet, find_data_set
from shoal_bench.peers import find_peer
from shoal_bench.tiers import TIERS, Tier

FOLDER = Path(__file__).parent / "suites"
PAPER, QUICK = "paper", "quick"
# The bench gives these itself: the classes of the data set, unless a row lets its method find them, and the seed.
GIVEN = ("n_clusters", "random_state")

Text = Annotated[str, Field(min_length=1)]
Number = Annotated[float, Strict()]
Share = Annotated[float, Strict(), Field(gt=0, lt=1)]
Params = Mapping[str, Any]
Metric = Literal["acc", "nmi", "ari", "purity", "nmi_geometric"]
Extra = Literal["places", "pairs", "ranking", "maps"]
Kind = Literal[
    "table", "bars", "curves", "silhouette", "strengths", "sweep", "stages", "scatter", "maps", "pairs", "topics"
]
_SHAPES = {
    "string_type": "a text",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "mapping_type": "a table",
    "model_type": "a table",
    "dict_type": "a table",
}


def _data_set_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse what is no name of a data set, and name each once."""
    for name in names:
        if not name or name != Path(name).name:  # records hold no path
            raise ValueError(f"{name!r} is no name of a data set; pass its file's without .tsv.gz.")
    return tuple(dict.fromkeys(names))


DataSets = Annotated[tuple[str, ...], AfterValidator(_data_set_names)]


class Row(BaseModel, frozen=True, extra="forbid"):
    """A row of a table.

    Attributes
    ----------
    name : str
        What the table calls it.
    method : str, optional
        The method's name in Shoal; a row with neither method nor peer is *not yet* there.
    params : mapping
        Its parameters; ``preset`` names one of the method's presets, over which the others win. With ``n_clusters``
        as ``"auto"`` or a range the method finds it; otherwise it is told the number of classes.
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

    name: Text
    method: str | None = None
    params: Params = {}
    paper: Params = {}
    paper_for: Mapping[str, Params] = {}
    cost: Literal["cheap", "expensive"] = "cheap"
    peer: str | None = None
    peer_options: Params = {}
    series: str | None = None
    x: Number | None = None
    published_backbone: str = ""
    published: Mapping[str, Mapping[str, Number]] = {}
    why_behind: str = ""
    extras: tuple[Extra, ...] = ()
    train_share: Mapping[str, Share] = {}
    quick: Annotated[bool, Strict()] = True

    @model_validator(mode="after")
    def _can_be_run(self) -> Row:
        """Refuse what no method and no peer could do."""
        if self.method is not None and self.peer is not None:
            raise ValueError("it has a method and a peer; omit one of them.")
        if self.train_share and self.peer is not None:
            raise ValueError("it has a train_share but a peer does not predict new texts; omit it.")
        settings = [self.params, self.paper, *self.paper_for.values()]
        if self.method is not None:
            for params in settings:
                _check_params(self.method, params)
        if self.peer is not None:
            _check_names(f"option of {self.peer}", self.peer_options, find_peer(self.peer).options)
        try:
            json.dumps([*settings, self.peer_options], allow_nan=False)
        except (TypeError, ValueError) as reason:
            raise ValueError(f"a parameter is no text, number, truth value or list ({reason}); pass one.") from reason
        return self

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
        n_clusters = self.params.get("n_clusters", data_set.n_classes)
        params = {**self._params(data_set.name, tier), "n_clusters": n_clusters}
        share = self.train_share.get(data_set.name)
        return Cell(self.method, params, data_set.name, texts, seed, self.peer, tuple(self.extras), share)

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


class Suite(BaseModel, frozen=True, extra="forbid"):
    """A table or a figure.

    Attributes
    ----------
    name : str
        Its name on the command line.
    title, source : str
        What it shows, and which table of which paper it is.
    data_sets : tuple of str
        Its columns.
    rows : tuple of Row
        Its rows.
    kind : str
        How it is shown: table, curves, silhouette, bars, strengths, sweep, stages, scatter, maps, pairs, topics.
    metrics : tuple of str
        One table for each.
    remark : str
        How data and backbones differ from the paper's.
    quick_data_sets : tuple of str
        The data sets of the tier ``quick``; all if there are none.
    shown_tier : str, optional
        The tier whose results the page shows; by default the one with the most.
    """

    title: Text
    source: Text
    data_sets: Annotated[DataSets, Field(min_length=1)]
    rows: Annotated[tuple[Row, ...], Field(min_length=1)]
    name: Annotated[str, Field(max_length=0)] = ""  # that of its file, which does not say it
    kind: Kind = "table"
    metrics: tuple[Metric, ...] = ("acc", "nmi")
    remark: str = ""
    quick_data_sets: DataSets = ()
    shown_tier: str | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> Suite:
        """Refuse names that mean nothing here."""
        _check_names("quick data set", self.quick_data_sets, self.data_sets)
        _check_names("tier", [self.shown_tier] if self.shown_tier else [], TIERS)
        names = [row.name for row in self.rows]
        for row in self.rows:
            if names.count(row.name) > 1:
                raise ValueError(f"two rows are called {row.name!r}; give each a name of its own.")
            where = f"of row {row.name!r}"
            _check_names(f"published metric {where}", row.published, self.metrics)
            figures = (name for each in row.published.values() for name in each)
            for key, given in (("published", figures), ("paper_for", row.paper_for), ("train_share", row.train_share)):
                _check_names(f"data set in {key} {where}", given, self.data_sets)
        return self

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
    file = FOLDER / f"{name}.toml" if name in suite_names() else Path(name)
    if file.suffix != ".toml":
        raise ParameterError(
            f"there is no suite {name!r}; the suites are {', '.join(suite_names())}, or pass the path of a .toml file."
        )
    content: dict[str, Any] = {}
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8-sig"))
        return Suite.model_validate(content).model_copy(update={"name": file.stem})
    except OSError as reason:
        raise DataError(f"suite {file} cannot be read ({reason.strerror}); check the path.") from reason
    except ValidationError as reason:
        raise ParameterError(f"suite {file}: {_sentence(reason.errors()[0], content)}") from reason
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as reason:
        raise ParameterError(f"suite {file} is not valid TOML in UTF-8 ({reason}); fix it.") from reason


def _sentence(error: ErrorDetails, content: Mapping[str, Any]) -> str:
    """Say what is wrong in a suite's file, and what would be right."""
    path, where, keys = list(error["loc"]), "a suite", Suite.model_fields
    if path[:1] == ["rows"] and len(path) > 1:
        row = content["rows"][path[1]]
        name = row.get("name") if isinstance(row, dict) else None
        path, where, keys = path[2:], f"row {name!r}" if name else f"row {int(path[1]) + 1}", Row.model_fields
    key = ".".join(map(str, path))
    if error["type"] in ("missing", "too_short", "string_too_short"):
        return f"{where} has no {key!r}; give it one."
    if error["type"] == "extra_forbidden":
        return f"{where} has the key {key!r}; the keys are {', '.join(keys)}."
    if error["type"] == "value_error":
        return f"{where}: {error['ctx']['error']}"
    right = f"must be {_SHAPES[error['type']]}" if error["type"] in _SHAPES else error["msg"].partition(" ")[2]
    return f"{where} has {key} = {error['input']!r}; it {right}."


def _check_names(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    """Refuse names that are not among the known ones."""
    for name in names:
        if name not in known:
            raise ValueError(f"the {what} {name!r} is unknown; pass some of {', '.join(known)}.")


def _is_to_be_found(name: str, value: Any) -> bool:
    """Tell whether a method is to find the number of clusters: ``"auto"`` or a range, no number."""
    return name == "n_clusters" and isinstance(value, str) and parse_wanted(value).exact is None


def _check_params(method: str, params: Params) -> None:
    """Refuse parameters that the method does not have, or does not get from a suite."""
    found = find_method(method)
    for name in GIVEN:
        if name in params and not _is_to_be_found(name, params[name]):
            raise ValueError(f"{name} = {params[name]!r} is the bench's to choose; omit it.")
    found.check_names({name: value for name, value in params.items() if name != "preset"})
    if "preset" in params:
        _check_names(f"preset of {method}", [params["preset"]], list(found.presets) or ["none"])
