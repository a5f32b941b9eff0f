"""What the file of a suite may say: its keys, their shapes, and the names and values in them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from shoal.errors import ParameterError
from shoal.methods import find_method
from shoal_bench.peers import find_peer

KINDS = (
    *("table", "bars", "curves", "silhouette", "strengths", "sweep"),
    *("stages", "scatter", "maps", "pairs", "topics"),
)
COSTS = ("cheap", "expensive")
METRICS = ("acc", "nmi", "ari", "purity")
EXTRAS = ("places", "pairs", "ranking", "maps")
# The bench gives these itself: the classes of the data set, and the seed of the cell.
GIVEN = ("n_clusters", "random_state")

Content = Mapping[str, Any]


def _all(kind: type, values: Iterable[Any]) -> bool:
    """Tell whether every value is of a kind."""
    return all(isinstance(value, kind) for value in values)


_FITS: dict[str, Callable[[Any], bool]] = {
    "a text": lambda value: isinstance(value, str),
    "true or false": lambda value: isinstance(value, bool),
    "a number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "a table": lambda value: isinstance(value, dict),
    "a table of tables": lambda value: isinstance(value, dict) and _all(dict, value.values()),
    "a list of texts": lambda value: isinstance(value, list) and _all(str, value),
    "a list of tables": lambda value: isinstance(value, list) and _all(dict, value),
}
SUITE_KEYS = {
    **dict.fromkeys(("title", "source", "kind", "remark"), "a text"),
    **dict.fromkeys(("data_sets", "quick_data_sets", "metrics"), "a list of texts"),
    "rows": "a list of tables",
}
ROW_KEYS = {
    **dict.fromkeys(("name", "method", "cost", "peer", "series", "published_backbone", "why_behind"), "a text"),
    **dict.fromkeys(("params", "paper", "peer_options", "train_share"), "a table"),
    **dict.fromkeys(("paper_for", "published"), "a table of tables"),
    "x": "a number",
    "quick": "true or false",
    "extras": "a list of texts",
}


def check_suite(file: Path, content: Content) -> None:
    """Refuse a suite that cannot be run or shown.

    Parameters
    ----------
    file : Path
        Where it stands, for the message.
    content : mapping
        What the file says.

    Raises
    ------
    ParameterError
        With the file, the row, what is wrong, and what would be right.
    """
    where = f"suite {file}"
    _check_keys(f"{where}: a suite", content, SUITE_KEYS, needed=("title", "source", "data_sets", "rows"))
    _check_names(where, "kind", [content.get("kind", "table")], KINDS)
    _check_names(where, "metric", content.get("metrics", ()), METRICS)
    _check_names(where, "quick data set", content.get("quick_data_sets", ()), content["data_sets"])
    for name in content["data_sets"]:
        if not name or name != Path(name).name:  # records hold no path
            raise ParameterError(f"{where}: {name!r} is no name of a data set; pass its file's without .tsv.gz.")
    names: list[str] = []
    for number, row in enumerate(content["rows"], start=1):
        _check_keys(f"{where}: row {number}", row, ROW_KEYS, needed=("name",))
        if row["name"] in names:
            raise ParameterError(f"{where}: two rows are called {row['name']!r}; give each a name of its own.")
        names.append(row["name"])
        _check_row(f"{where}: row {row['name']!r}", row, content)


def _check_keys(where: str, content: Content, shapes: Mapping[str, str], needed: tuple[str, ...]) -> None:
    """Refuse keys that do not exist, values of another shape, and miss what must be there."""
    for key, value in content.items():
        if key not in shapes:
            raise ParameterError(f"{where} has the key {key!r}; the keys are {', '.join(shapes)}.")
        if not _FITS[shapes[key]](value):
            raise ParameterError(f"{where} has {key} = {value!r}; it must be {shapes[key]}.")
    for key in needed:
        if not content.get(key):
            raise ParameterError(f"{where} has no {key!r}; give it one.")


def _check_names(where: str, what: str, names: Iterable[str], known: Iterable[str]) -> None:
    """Refuse names that are not among the known ones."""
    for name in names:
        if name not in known:
            raise ParameterError(f"{where}: the {what} {name!r} is unknown; pass some of {', '.join(known)}.")


def _check_row(where: str, row: Content, suite: Content) -> None:
    """Refuse a row that cannot be run or shown."""
    if row.get("cost", "cheap") not in COSTS:
        raise ParameterError(f"{where} has cost = {row['cost']!r}; pass 'cheap' or 'expensive'.")
    if "method" in row and "peer" in row:
        raise ParameterError(f"{where} has a method and a peer; omit one of them.")
    _check_names(where, "extra", row.get("extras", ()), EXTRAS)
    _check_names(where, "data set of paper_for", row.get("paper_for", ()), suite["data_sets"])
    _check_names(where, "metric", row.get("published", ()), suite.get("metrics", METRICS[:2]))
    for metric, figures in row.get("published", {}).items():
        _check_names(where, f"data set of its published {metric}", figures, suite["data_sets"])
        _check_keys(f"{where}: its published {metric}", figures, dict.fromkeys(figures, "a number"), needed=())
    _check_split(where, row, suite)
    settings = [row.get("params", {}), row.get("paper", {}), *row.get("paper_for", {}).values()]
    try:
        if "method" in row:
            for params in settings:
                _check_params(row["method"], params)
        if "peer" in row:
            options = find_peer(row["peer"]).options
            _check_names(f"the peer {row['peer']!r}", "option", row.get("peer_options", ()), options)
        json.dumps([*settings, row.get("peer_options", {})], allow_nan=False)
    except ParameterError as reason:
        raise ParameterError(f"{where}: {reason}") from reason
    except (TypeError, ValueError) as reason:
        raise ParameterError(f"{where}: a parameter is no text, number, truth value or list ({reason}).") from reason


def _check_split(where: str, row: Content, suite: Content) -> None:
    """Refuse a split that leaves nothing to fit or to score, or that a peer could not keep."""
    shares = row.get("train_share", {})
    _check_names(where, "data set of train_share", shares, suite["data_sets"])
    _check_keys(f"{where}: its train_share", shares, dict.fromkeys(shares, "a number"), needed=())
    for name, share in shares.items():
        if not 0 < share < 1:
            raise ParameterError(f"{where} has train_share = {share} for {name}; pass a part between 0 and 1.")
    if shares and "peer" in row:
        raise ParameterError(f"{where} has a train_share but a peer does not predict new texts; omit it.")


def _check_params(method: str, params: Content) -> None:
    """Refuse parameters that the method does not have, or does not get from a suite."""
    found = find_method(method)
    for name in GIVEN:
        if name in params:
            raise ParameterError(f"{name} = {params[name]!r} is the bench's to choose; omit it.")
    found.check_names({name: value for name, value in params.items() if name != "preset"})
    preset = params.get("preset")
    if preset is not None and preset not in found.presets:
        there = ", ".join(found.presets) or "none"
        raise ParameterError(f"{method!r} has no preset {preset!r}; its presets: {there}.")
