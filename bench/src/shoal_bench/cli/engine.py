"""``shoal-bench engine``: how encoding and predicting scale with the workers of Ray."""

from __future__ import annotations

import typer

EXAMPLES = "\n\n    ".join(
    (
        "\nExamples:",
        "shoal-bench engine --texts 20000",
        "shoal-bench engine --texts 50000 --workers 4 --precision int8",
        "RAY_ADDRESS=head:6379 shoal-bench engine --texts 1000000 --workers 64 --json",
    )
)


def engine(
    texts: int = typer.Option(20_000, min=2000, help="How many made texts are encoded and predicted."),
    workers: int = typer.Option(4, min=2, help="Workers of one thread each; compared with one."),
    precision: str = typer.Option("float32", help="Arithmetic of the encoder: float32 or int8."),
    data_set: str | None = typer.Option(None, help="A data set to take words from; default: Python's own docstrings."),
    machines: int = typer.Option(50, min=1, help="Machines of the plan."),
    cores: int = typer.Option(8, min=1, help="Cores of each."),
    plan: int = typer.Option(100_000_000, min=1, help="Texts of the plan."),
    json: bool = typer.Option(False, help="Print the result as one JSON object."),
) -> None:
    """Encode and predict the same texts with one worker and with several, in one run, and plan for many machines.

    The labels of both must be equal. Run nothing else meanwhile.
    """
    from shoal.cli.console import print_json, print_table, say
    from shoal_bench.cli.made import real_texts
    from shoal_bench.engine_scaling import measure_scaling, planned_hours
    from shoal_bench.made_texts import made_texts

    made, _ = made_texts(*real_texts(data_set), texts)
    (one, several), moved = measure_scaling(made, (1, workers), precision)
    ratios = {
        "encode": round(one.encode_seconds / several.encode_seconds, 2),
        "predict": round(one.predict_seconds / several.predict_seconds, 2),
    }
    constants = {
        "per_second": round(texts / one.predict_seconds, 1),
        "driver_seconds": several.driver_seconds,
        "start_seconds": round(several.start_seconds, 1),
    }
    planned = planned_hours(plan, machines, cores, **constants)
    facts = {
        "records": [one.as_dict(), several.as_dict()],
        "ratios": ratios,
        "bytes_per_text": moved,
        "constants": constants,
        "plan": {"texts": plan, "machines": machines, "cores": cores, **planned},
    }
    if json:
        print_json(facts)
        return
    columns = ["workers", "start, s", "encode, s", "texts/s", "predict, s", "texts/s "]
    rows = [
        [
            str(each.workers),
            f"{each.start_seconds:.1f}",
            f"{each.encode_seconds:.1f}",
            f"{texts / each.encode_seconds:.0f}",
            f"{each.predict_seconds:.1f}",
            f"{texts / each.predict_seconds:.0f}",
        ]
        for each in (one, several)
    ]
    print_table(f"{texts:,} texts, {precision}", columns, rows, right=columns)
    say(
        f"{workers} workers are {ratios['encode']} times as fast as one in encoding, {ratios['predict']} in predicting."
    )
    say(
        f"Moved per text: {moved['encode_bytes']:.0f} bytes to encode, {moved['predict_bytes']:.0f} to predict. "
        f"The driver needs {1e6 * constants['driver_seconds']:.1f} µs per text."
    )
    say(
        f"By these constants, predicting {plan:,} texts takes {planned['hours']:.1f} hours on {machines} machines of "
        f"{cores} cores: {planned['workers_hours']:.1f} for the workers, {planned['driver_hours']:.1f} for the driver."
    )
