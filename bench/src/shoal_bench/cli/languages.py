"""``shoal-bench languages``: the default method in many languages, each alone and all together."""

from __future__ import annotations

from pathlib import Path

import typer

EXAMPLES = "\n\n    ".join(
    (
        "\nExamples:",
        "shoal-bench languages",
        "shoal-bench languages --method kmeans --backbone e5 --language de --language mixed",
        "shoal-bench languages --descriptions FOLDER --long",
    )
)


def languages(
    descriptions: Path | None = typer.Option(
        None, help="A folder with Packages.xz and Translation-XX.bz2 of a Debian release, instead of made sentences."
    ),
    long: bool = typer.Option(False, "--long", help="Whole descriptions instead of their first lines."),
    language: list[str] = typer.Option([], help="Only this language, or mixed; may be repeated."),
    method: str = typer.Option("shoal", help="The method."),
    backbone: str = typer.Option("auto", help="The encoder."),
    keep_language: bool = typer.Option(False, "--keep-language", help="Let texts be grouped by language too."),
    seed: int = typer.Option(0, min=0, help="The seed."),
    json: bool = typer.Option(False, help="Print the result as one JSON object."),
) -> None:
    """Fit texts with known topics in each language alone and in all together; score them by topic and by language."""
    from shoal.cli.console import print_json, print_table
    from shoal.methods import find_method
    from shoal.metrics import nmi, scores
    from shoal_bench.languages import MIXED, package_descriptions, parallel_sentences

    everything = parallel_sentences() if descriptions is None else package_descriptions(descriptions, seed, long=long)
    rows = []
    for code in language or [*dict.fromkeys(everything.languages), MIXED]:
        corpus = everything if code == MIXED else everything.of(code)
        params = {"n_clusters": len(set(corpus.topics)), "backbone": backbone, "random_state": seed}
        model = find_method(method)(**params, keep_language=keep_language).fit(corpus.texts)
        found = scores(corpus.topics, model.labels_)
        by_language = nmi(corpus.languages, model.labels_) if code == MIXED else None
        rows.append(
            {
                "language": code,
                "texts": len(corpus.texts),
                "encoder": model.reading_.backbone,
                "acc": round(found["acc"], 1),
                "nmi": round(found["nmi"], 1),
                "nmi with language": None if by_language is None else round(by_language, 1),
            }
        )
    if json:
        print_json({"rows": rows})
        return
    columns = list(rows[0])
    shown = [["" if row[name] is None else str(row[name]) for name in columns] for row in rows]
    print_table(f"{method}, backbone={backbone}", columns, shown, ["texts", *columns[3:]])
