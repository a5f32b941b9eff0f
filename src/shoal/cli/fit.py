"""``shoal fit``: from a file of texts to named clusters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from shoal.cli.job import FitResult

EXAMPLES = """
Examples:

    shoal fit tickets.csv --text body --clusters 20

    shoal fit answers.xlsx --clusters 12 --method tfidf-kmeans --preset clusterbert

    cat titles.txt | shoal fit - --clusters 8 --out runs/titles --json

    shoal fit queries.jsonl --clusters 30 --set reducer=umap --set n_init=5 --label intent
"""


def fit(
    file: str | None = typer.Argument(
        None, help="csv, tsv, jsonl, json, parquet, xlsx or txt, also .gz; - for standard input."
    ),
    text: str | None = typer.Option(None, help="The column with the texts; found by itself if only one fits."),
    id: str | None = typer.Option(None, help="A column with ids."),
    label: str | None = typer.Option(None, help="A column with known classes, for scores and nothing else."),
    method: str | None = typer.Option(None, help="See `shoal methods`.  [default: kmeans]", show_default=False),
    preset: str | None = typer.Option(None, help="A method's named set of parameters."),
    clusters: int | None = typer.Option(None, help="The number of clusters.  [default: 8]", show_default=False),
    set_: list[str] = typer.Option([], "--set", metavar="NAME=VALUE", help="A parameter of the method; repeatable."),
    config: Path | None = typer.Option(None, help="A TOML file with the same names as keys, parameters under [set]."),
    backbone: str | None = typer.Option(None, help="A transformer: builtin, a folder, or a hub name."),
    vectors: Path | None = typer.Option(None, help="A .npy file with one vector a text, used instead of an encoder."),
    seed: int | None = typer.Option(None, help="The random seed.  [default: 0]", show_default=False),
    encoding: str | None = typer.Option(None, help="The file's encoding; found by itself."),
    format: str | None = typer.Option(None, help="The file's format; found by its name or content."),
    out: Path | None = typer.Option(None, help="The run folder.  [default: runs/FILE-METHOD-N]", show_default=False),
    overwrite: bool = typer.Option(False, help="Replace the run folder if it exists."),
    resume: Path | None = typer.Option(None, help="Go on with this interrupted run."),
    json: bool = typer.Option(False, help="Print the result as one JSON object."),
) -> None:
    """Cluster a file of texts, name the clusters, and save a model that sorts new texts the same way."""
    from shoal.cli import job
    from shoal.cli.settings import first_given, parse_assignments, read_config
    from shoal.errors import ParameterError

    if (file is None) == (resume is None):
        raise ParameterError("pass either a FILE to cluster or --resume RUN to go on with an interrupted run.")
    if resume is not None:
        result = job.resume_fit(resume)
    else:
        settings = read_config(config)
        asked = job.FitJob(
            source=str(file),
            text=first_given(text, settings.get("text")),
            id=first_given(id, settings.get("id")),
            label=first_given(label, settings.get("label")),
            encoding=encoding,
            format=format,
            vectors=None if vectors is None else str(vectors),
            method=first_given(method, settings.get("method")),
            preset=first_given(preset, settings.get("preset")),
            params={
                **settings.get("set", {}),
                **parse_assignments(set_),
                **_given(
                    n_clusters=first_given(clusters, settings.get("clusters")),
                    backbone=first_given(backbone, settings.get("backbone")),
                    random_state=first_given(seed, settings.get("seed")),
                ),
            },
        )
        result = job.start_fit(asked, out, overwrite=overwrite)
    report(result, as_json=json)


def _given(**params: Any) -> dict[str, Any]:
    """Return the parameters that are not None."""
    return {name: value for name, value in params.items() if value is not None}


def report(result: FitResult, *, as_json: bool) -> None:
    """Tell what came out: one JSON object, or a table of clusters and what to know about it."""
    from shoal.cli.console import print_clusters, print_json, print_scores, say

    if as_json:
        print_json(result.as_json())
        return
    print_clusters(result.clusters, result.n_texts)
    if result.scores:
        print_scores(result.scores)
    for remark in result.remarks():
        say(remark)
    say(f"The run is in [bold]{result.run}[/]; sort new texts with: shoal predict {result.run} FILE")
