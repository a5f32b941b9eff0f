"""``shoal-bench choice``: how well the default method chooses among its candidates."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from shoal.cli.console import print_json, print_table, say
from shoal.errors import ParameterError
from shoal_bench.cli.speed import numbers_of, tell
from shoal_bench.results import Record, Results

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shoal_bench.candidates import Weighed

DEFAULT_FILE = Path("bench/results/choice.jsonl")
EXAMPLES = "\n\n    ".join(
    (
        "\nExamples:",
        "shoal-bench choice --sample 1000",
        "shoal-bench choice --data-set tweet --data-set agnews --sample 0.8 --sample all --seeds 0,1,2",
        "shoal-bench choice --shown-only",
    )
)


def choice(
    data_set: list[str] = typer.Option([], help="Only this data set; may be repeated.  [default: all declared]"),
    sample: list[str] = typer.Option(
        ["1000"], help="`all`, a number of texts, or a share below 1 such as 0.8; may be repeated."
    ),
    seeds: str = typer.Option("0", help="Seeds, e.g. 0,1,2."),
    results: Path = typer.Option(DEFAULT_FILE, help="The file that results are added to."),
    shown_only: bool = typer.Option(False, "--shown-only", help="Fit nothing; show what the results have."),
    json: bool = typer.Option(False, help="Print the result as one JSON object."),
) -> None:
    """Score every candidate of the default method, and judge its constants by leave-one-set-out.

    The table has, per data set and sample: plain k-means, the answer, which candidate it was, the best candidate, and
    the regret, best minus answer, in points of ACC (means over the seeds). `held out` is the regret with the constants
    that are best on all other data sets.
    """
    from shoal_bench.data_sets import DATA_SETS, find_data_set

    file = Results(results, tell)
    wanted = [
        {"data_set": name, "sample": _amount(amount), "seed": seed}
        for name in data_set or DATA_SETS
        for amount in sample
        for seed in numbers_of("seeds", seeds)
    ]
    if not shown_only:
        file.prepare()
        for request in wanted:
            _weigh(request, find_data_set(str(request["data_set"])).sha256, file)
    facts = summary(list(file.by_key().values()))
    if json:
        print_json(facts)
    elif not facts["rows"]:
        say(f"{results} has no results yet; run without --shown-only.")
    else:
        columns = ["data set", "sample", "seeds", "k-means", "answer", "candidate", "best", "regret", "held out"]
        rows = [[_cell(row[column]) for column in columns] for row in facts["rows"]]
        print_table("The choice of the default method", columns, rows, right=columns[2:5] + columns[6:])
        say("Means over data sets: " + ", ".join(f"{name} {value:.2f}" for name, value in facts["means"].items()) + ".")


def summary(records: Sequence[Record]) -> dict[str, Any]:
    """Return the rows of the table, and the means over the data sets, from records."""
    import numpy as np

    from shoal_bench.candidates import Weighed, held_out

    by_set: dict[str, list[Weighed]] = {}
    by_row: dict[tuple[str, float | None], list[Weighed]] = {}
    for record in records:
        weighed = Weighed(**record["weighed"])
        by_set.setdefault(record["data_set"], []).append(weighed)
        by_row.setdefault((record["data_set"], record["sample"]), []).append(weighed)
    held = {name: (rules, regret) for name, rules, regret in held_out(by_set)} if len(by_set) > 1 else {}
    rows = []
    for (name, sample), every in sorted(by_row.items(), key=lambda item: (item[0][0], str(item[0][1]))):
        rules = held.get(name, (None, 0.0))[0]
        answers = [each.answer() for each in every]
        rows.append(
            {
                "data set": name,
                "sample": "all" if sample is None else f"{sample:g}",
                "seeds": len(every),
                "k-means": _mean([each.acc["k-means"] for each in every]),
                "answer": _mean([each.acc[answer] for each, answer in zip(every, answers, strict=True)]),
                "candidate": " / ".join(dict.fromkeys(answers)),
                "best": _mean([each.best for each in every]),
                "regret": _mean([each.regret() for each in every]),
                "held out": None if rules is None else _mean([each.regret(rules) for each in every]),
            }
        )
    means = (
        {column: float(np.mean([row[column] for row in rows])) for column in ("k-means", "answer", "best", "regret")}
        if rows
        else {}
    )
    if held:
        means["held out"] = float(np.mean([regret for _, regret in held.values()]))
    return {"rows": rows, "means": means, "constants": {name: asdict(rules) for name, (rules, _) in held.items()}}


def _weigh(request: Mapping[str, Any], sha256: str, results: Results) -> None:
    """Weigh the candidates of one request, unless the results have them."""
    from shoal.methods import find_method
    from shoal.progress import progress
    from shoal_bench.candidates import weigh
    from shoal_bench.data_sets import find_data_set, sample_rows
    from shoal_bench.measure import encoded_by
    from shoal_bench.results import key_of, new_record

    key = key_of(request, sha256)
    if key in results.by_key():
        return
    data = find_data_set(request["data_set"]).load()
    encoded = encoded_by(find_method("shoal").defaults(), data.texts)
    if encoded is None:
        raise ParameterError("the default method keeps no vectors, so that its candidates cannot be weighed here.")
    n_texts, amount = len(data.texts), request["sample"]
    size = None if amount is None else min(n_texts, round(amount * n_texts) if amount < 1 else int(amount))
    rows, part = sample_rows(n_texts, size), data.sample(size)
    with progress(f"{request['data_set']}, {len(rows)} texts", 1, unit="fits") as bar:
        weighed = weigh(part.texts, part.labels, encoded.content.vectors[rows], request["seed"])
        bar.advance(1)
    results.append(new_record(key, **request, n_texts=len(rows), weighed=asdict(weighed)))


def _amount(given: str) -> float | None:
    """Read the size of a sample."""
    if given == "all":
        return None
    try:
        amount = float(given)
    except ValueError:
        amount = 0.0
    if amount <= 0 or (amount > 1 and amount != int(amount)):
        raise ParameterError(f"--sample {given!r} is no size; pass `all`, a number of texts, or a share below 1.")
    return amount


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:.1f}" if isinstance(value, float) else str(value)
