"""``shoal-bench glosses``: corpora with known classes from WordNet."""

from __future__ import annotations

from pathlib import Path

import typer

from shoal_bench.glosses import KINDS

EXAMPLES = "\n\n    ".join(
    (
        "\nExamples:",
        "shoal-bench glosses --kind nouns --each 1000 --out nouns.tsv",
        "shoal fit nouns.tsv --text text --label label --clusters 24 --json",
    )
)


def glosses(
    out: Path = typer.Option(..., help="A new .tsv file with the columns label and text."),
    kind: str = typer.Option("nouns", help="nouns or verbs: their definitions; words: nouns, a word or two each."),
    each: int = typer.Option(1000, min=1, help="Texts of a class at the most."),
    seed: int = typer.Option(0, min=0, help="The seed."),
    wordnet_dir: Path | None = typer.Option(
        None, help="The folder of WordNet's files; default: NLTK's or the system's."
    ),
) -> None:
    """Write definitions or words of WordNet, with the lexicographers' files as classes.

    `words` showed that rare words must not be compared by their spelling, and has set no constant of the default
    method; the others had no part in it at all.
    """
    from shoal.augment.wordnet_files import find_wordnet
    from shoal.cli.console import say
    from shoal.errors import ParameterError
    from shoal_bench.drawn_texts import check_new_table, write_table
    from shoal_bench.glosses import glosses

    if kind not in KINDS:
        raise ParameterError(f"--kind {kind!r} is unknown; pass {', '.join(KINDS)}.")
    check_new_table(out)
    data = (find_wordnet(wordnet_dir) / f"data.{KINDS[kind]}").read_text(encoding="utf-8")
    texts, files = glosses(data, kind, each, seed)
    write_table(out, texts, files)
    say(f"{len(texts)} texts of {len(set(files))} classes: {out}")
