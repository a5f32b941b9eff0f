"""``shoal inspect``: how training moved the texts of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from shoal.cli.tables import Json

if TYPE_CHECKING:
    from shoal.methods.base import TextClusterer

EXAMPLES = """
Examples:

    shoal inspect runs/tickets-clusterbert-1 --pairs

    shoal inspect runs/tickets-sccl-1 --pairs --label topic --top 3

    shoal inspect runs/tickets-sccl-1 --pairs --json
"""
MAX_TEXTS = 10_000


def inspect(
    run: Path = typer.Argument(..., help="A run folder of `shoal fit`."),
    pairs: bool = typer.Option(False, "--pairs", help="Show the pairs of texts whose cosine training changed most."),
    label: str | None = typer.Option(
        None, help="A column with known classes, to tell good moves from bad; default: the run's."
    ),
    top: int = typer.Option(5, min=1, help="How many pairs of each kind."),
    backbone: str | None = typer.Option(
        None, help="The transformer that the training started from, if it was not the built-in one."
    ),
    json: Json = False,
) -> None:
    """Show pairs of texts that training moved together, moved apart, or left close.

    The cosines are those of the encoder before and after training; for DEC, IDEC, DCN and AE + k-means, those of the
    network's input and of its code. With classes there are five kinds of pairs, as in table 5 of ClusterBERT, otherwise
    three. All pairs of up to 10,000 distinct texts are compared; for more texts, a fixed random sample of 10,000.
    """
    if not pairs:
        raise typer.BadParameter("nothing to show; pass --pairs.")
    from shoal.cli.console import print_json, say
    from shoal.methods.persistence import load
    from shoal.metrics import moved_pairs

    model = load(run)
    _use_backbone(model, backbone)
    texts, classes, rows = _texts_of(run, label)
    before, after = model.before_and_after(texts)
    trained = before is not after
    found = [
        {
            "kind": pair.kind,
            "same_class": pair.same_class,
            "before": pair.before,
            "after": pair.after,
            "texts": [
                {"row": rows[i], "text": texts[i], **({"class": classes[i]} if classes is not None else {})}
                for i in (pair.left, pair.right)
            ],
        }
        for pair in moved_pairs(before, after, classes, n=top, max_texts=MAX_TEXTS)
    ]
    compared = min(len(texts), MAX_TEXTS)
    if json:
        facts = {"run": str(run), "trained": trained, "n_texts": len(texts), "n_compared": compared}
        print_json({**facts, "pairs": found})
        return
    _print(found)
    if not trained:
        say(f"This run of {type(model).__name__} trained no encoder: nothing moved.")
    sample = "" if compared == len(texts) else f", a sample of {len(texts)}"
    say(f"All pairs of {compared} distinct texts were compared{sample}.")


def _use_backbone(model: TextClusterer, given: str | None) -> None:
    """Take the untrained encoder from where the user says; a run may come from someone else and is not asked."""
    from dataclasses import replace

    from shoal.encoder.backbone import BUILTIN
    from shoal.encoder.packaged import BACKBONES
    from shoal.errors import ParameterError
    from shoal.methods.auto_encoded import AutoEncoded
    from shoal.methods.base import TextClusterer

    inside = isinstance(model, AutoEncoded) or type(model).before_and_after is TextClusterer.before_and_after
    named = model.reading_.backbone
    if given is not None:
        model.reading_ = replace(model.reading_, backbone=given)
    elif named not in (BUILTIN, *BACKBONES) and not inside:
        raise ParameterError(
            f"this run was trained from backbone={named!r}, and opening a run loads nothing from elsewhere; if you "
            "trust that backbone, name it with --backbone."
        )


def _texts_of(run: Path, label: str | None) -> tuple[list[str], list[str] | None, list[int]]:
    """Return the distinct texts of a run, their classes if known, and the first row of each."""
    import polars as pl

    from shoal.corpus import Corpus
    from shoal.run_folder import RunFolder

    folder = RunFolder.open(run)
    data: dict[str, Any] = folder.read_info()["data"]
    column = label or data["label_column"]
    corpus = Corpus.of(pl.read_parquet(folder.assignments), text=data["text_column"], label=column)
    rows: dict[str, int] = {}
    for row, text in enumerate(corpus.texts):
        if text and (corpus.labels is None or corpus.labels[row]):
            rows.setdefault(text, row)
    classes = None if corpus.labels is None else [str(corpus.labels[row]) for row in rows.values()]
    return list(rows), classes, list(rows.values())


def _print(found: list[dict[str, Any]]) -> None:
    """Print the pairs, one table per kind."""
    from shoal.cli.console import print_table, shortened

    titles = {True: "Same class, ", False: "Other class, ", None: ""}
    kinds = list(dict.fromkeys((pair["kind"], pair["same_class"]) for pair in found))
    for kind, same in kinds:
        lines = [
            [
                f"{pair['before']:.3f}",
                f"{pair['after']:.3f}",
                "\n".join(each.get("class", "") for each in pair["texts"]),
                "\n".join(shortened(each["text"]) for each in pair["texts"]),
            ]
            for pair in found
            if (pair["kind"], pair["same_class"]) == (kind, same)
        ]
        title = (titles[same] + kind).capitalize()
        print_table(title, ["before", "after", "class", "texts"], lines, right=["before", "after"])
