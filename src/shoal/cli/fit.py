"""``shoal fit``: from a file of texts to named clusters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from shoal.cli.completion import Method
from shoal.cli.tables import Encoding, Engine, Format, Json, Overwrite, Query, SafeCsv, Sheet, TextColumn, Workers

if TYPE_CHECKING:
    from shoal.fit_result import FitResult
    from shoal.methods.planning import Plan

EXAMPLES = """
Examples:

    shoal fit tickets.csv --text body

    shoal fit tickets.csv --text title,body --clusters 20

    shoal fit answers.xlsx --sheet "May 2024"

    shoal fit notes/

    shoal fit tickets.csv --text body --clusters 5-80 --level coarse

    shoal fit answers.xlsx --clusters 12 --method tfidf-kmeans --preset clusterbert

    cat titles.txt | shoal fit - --clusters 8 --out runs/titles --json

    shoal fit 'tickets/year=*/*.parquet' --text body

    shoal fit 'tickets/*.parquet' --text body --engine ray --workers 4

    shoal fit titles.txt --clusters 20 --method sccl --workers 2

    shoal fit duckdb:///shop.db --query "select id, body from tickets where year = 2024"

    shoal fit year.parquet --text body --precision int8 --memory 4GB --dry-run

    shoal fit titles.txt --clusters 20 --method sccl --reduce umap --cluster idec

    shoal fit titles.txt --clusters 20 --method kmeans --refine iterative-classification

    shoal fit queries.jsonl --clusters 30 --set effort=balanced --set n_neighbors=15 --label intent
"""


def fit(
    file: str | None = typer.Argument(
        None,
        help="csv, tsv, jsonl, json, parquet, xlsx or txt, also .gz; a folder or a 'PATTERN' of such files; an "
        "address: s3://…, duckdb:///…, postgresql://…; - for standard input.",
    ),
    text: TextColumn = None,
    id: str | None = typer.Option(None, help="A column with ids."),
    label: str | None = typer.Option(None, help="A column with known classes, used only for scores."),
    method: Method = None,
    preset: list[str] = typer.Option(
        [], help="A method's named set of parameters; may be repeated, where they differ the later one counts."
    ),
    clusters: str | None = typer.Option(
        None, help="The number of clusters, a range such as 5-80, or auto.  [default: auto]", show_default=False
    ),
    level: str | None = typer.Option(
        None, help="coarse, medium or fine: the run is written with fewer or more clusters; `shoal cut` changes it."
    ),
    set_: list[str] = typer.Option([], "--set", metavar="NAME=VALUE", help="A parameter of the method; repeatable."),
    config: Path | None = typer.Option(None, help="A TOML file with the same names as keys, parameters under [set]."),
    backbone: str | None = typer.Option(
        None, help="The encoder: auto (by language), builtin, multilingual, use, e5, static, a folder, or a hub name."
    ),
    keep_language: bool = typer.Option(
        False, "--keep-language", help="Let texts of several languages be grouped by language too."
    ),
    precision: str | None = typer.Option(
        None, help="Arithmetic of the encoder: float32, or int8, which is faster and changes some labels."
    ),
    reduce: str | None = typer.Option(None, help="A reducer before the final clusters of any method: pca or umap."),
    cluster: str | None = typer.Option(
        None, help="What makes the final clusters of any method's vectors: kmeans, idec, hac-sd, …, instead of its own."
    ),
    refine: str | None = typer.Option(None, help="Refine the clusters of any method: iterative-classification."),
    vectors: Path | None = typer.Option(None, help="A .npy file with one vector per text, used instead of an encoder."),
    pairs: str | None = typer.Option(None, help="Two columns with augmented views of each text, e.g. left,right."),
    stages: bool = typer.Option(
        False, "--stages", help="Keep the vectors and clusters before each stage of the training, as stages/*.npz."
    ),
    date: str | None = typer.Option(None, help="A column with dates: the report shows the clusters over time."),
    group_by: list[str] = typer.Option(
        [], "--group-by", metavar="COLUMN", help="A column with groups, which the report compares; repeatable."
    ),
    write_report: bool = typer.Option(True, "--report/--no-report", help="Write report.html into the run folder."),
    stop_words: str | None = typer.Option(
        None, "--stop-words", help="Words for no name or keyword: a list with commas, or a file with one per line."
    ),
    names_by: str | None = typer.Option(
        None,
        "--names-by",
        metavar="llm",
        help="llm: a language model names the clusters. It is sent their keywords and typical texts, and nothing else.",
    ),
    llm_url: str | None = typer.Option(
        None, help="Its address, OpenAI-compatible, e.g. http://localhost:11434/v1; its key: SHOAL_LLM_KEY."
    ),
    llm_model: str | None = typer.Option(None, help="Its name there."),
    seed: int | None = typer.Option(None, help="The random seed.  [default: 0]", show_default=False),
    query: Query = None,
    encoding: Encoding = None,
    format: Format = None,
    sheet: Sheet = None,
    out: Path | None = typer.Option(None, help="The run folder.  [default: runs/FILE-METHOD-N]", show_default=False),
    overwrite: Overwrite = False,
    memory: str | None = typer.Option(
        None, metavar="AMOUNT", help="The most memory to use, e.g. 4GB: clusters are looked for in a smaller sample."
    ),
    dry_run: bool = typer.Option(
        False, "--dry-run", help="Only say what the fit would take: time, memory, disk, and what would be sampled."
    ),
    safe_csv: SafeCsv = False,
    resume: Path | None = typer.Option(None, help="Continue this interrupted run."),
    engine: Engine = "local",
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Cluster a file of texts, name the clusters, and save a model that sorts new texts the same way."""
    from shoal import fitting
    from shoal.cli.settings import parameters_of, parse_assignments, read_config, whole_or_text, word_list
    from shoal.engine import use_engine
    from shoal.errors import ParameterError

    if (file is None) == (resume is None):
        raise ParameterError("pass either a FILE to cluster or --resume RUN to continue an interrupted run.")
    flags = _given(text=text, id=id, label=label, encoding=encoding, format=format, query=query)
    flags |= _given(method=method, preset="+".join(preset) or None)
    flags |= _given(clusters=clusters and whole_or_text(clusters), level=level)
    flags |= _given(precision=precision, backbone=backbone, vectors=vectors and str(vectors), pairs=pairs, seed=seed)
    flags |= _given(stages=stages or None, safe_csv=safe_csv or None, date=date, group_by=group_by or None)
    flags |= _given(memory=memory, names_by=names_by, llm_url=llm_url, llm_model=llm_model)
    flags |= _given(report=None if write_report else False, stop_words=stop_words and word_list(stop_words))
    flags |= _given(keep_language=keep_language or None, sheet=sheet, reduce=reduce, cluster=cluster, refine=refine)
    flags |= {"set": parse_assignments(set_)} if set_ else {}
    if resume is not None:
        ignored = [*flags, *_given(config=config, out=out, overwrite=overwrite or None, dry_run=dry_run or None)]
        if ignored:
            raise ParameterError(
                f"--resume continues with the original options; omit --{', --'.join(ignored)}, or start a new run."
            )
        with use_engine(engine, workers):
            result = fitting.resume_fit(resume)
    else:
        settings = read_config(config)
        params = {**parameters_of(settings), **parameters_of(flags)}
        chosen = {key: value for key, value in {**settings, **flags}.items() if key in fitting.FitJob.__annotations__}
        job = fitting.FitJob(str(file), **chosen, params=params)
        if dry_run:
            _print_plan(fitting.plan_job(job), as_json=json)
            return
        with use_engine(engine, workers):
            result = fitting.start_fit(job, out, overwrite=overwrite)
    report(result, as_json=json)


def _given(**options: Any) -> dict[str, Any]:
    """Return the options that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def _print_plan(plan: Plan, *, as_json: bool) -> None:
    """Print what a fit would take: one JSON object, or sentences."""
    from shoal.cli.console import print_json

    if as_json:
        print_json(plan.as_json())
    else:
        typer.echo("\n".join([*plan.sentences(), "Nothing was fitted or written: --dry-run."]))


def report(result: FitResult, *, as_json: bool) -> None:
    """Print the result: one JSON object, or a table of clusters and remarks."""
    from shoal.cli.console import elapsed, print_clusters, print_json, print_scores, say

    if as_json:
        facts = {"report": result.report and str(result.report), "elapsed_seconds": round(elapsed(), 3)}
        print_json({**result.as_json(), **facts})
        return
    print_clusters(result.clusters, result.n_texts)
    if result.scores:
        print_scores(result.scores)
    for remark in result.remarks():
        say(remark)
    if result.report is not None:
        say(f"Look at it: {result.report}")
    memory = "" if result.peak_memory_mb is None else f", {result.peak_memory_mb:.0f} MB of memory"
    say(f"{elapsed():.1f} s in all, {result.seconds:.1f} s of them for the fit{memory}.")
    say(f"Saved to {result.run}. To sort new texts: shoal predict {result.run} FILE")
