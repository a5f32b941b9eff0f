from __future__ import annotations

import polars as pl
import pytest
from typer.testing import CliRunner

from shoal.errors import ParameterError
from shoal_bench.cli import app
from shoal_bench.made_texts import made_texts

TEXTS = ["red apple pie", "green pear", "ripe plum jam", "fast car", "slow old car", "new red lorry"]
LABELS = ["fruit"] * 3 + ["cars"] * 3


def test_texts_are_distinct_and_keep_to_the_words_of_their_class():
    words = {
        label: {w for t, own in zip(TEXTS, LABELS, strict=True) if own == label for w in t.split()} for label in LABELS
    }
    texts, labels = made_texts(TEXTS, LABELS, 300)
    assert len(set(texts)) == len(labels) == 300
    assert all(set(text.split()) <= words[label] for text, label in zip(texts, labels, strict=True))


def test_fewer_are_the_head_of_more_and_the_seed_decides():
    assert made_texts(TEXTS, LABELS, 50)[0] == made_texts(TEXTS, LABELS, 80)[0][:50]
    assert made_texts(TEXTS, LABELS, 50, seed=1) != made_texts(TEXTS, LABELS, 50)


def test_the_command_writes_a_table(tmp_path):
    out = tmp_path / "made.parquet"
    assert CliRunner().invoke(app, ["made", "--texts", "300", "--out", str(out)]).exit_code == 0
    table = pl.read_parquet(out)
    assert (table.columns, len(table), table["label"].n_unique()) == (["text", "label"], 300, 20)
    failed = CliRunner().invoke(app, ["made", "--texts", "3", "--out", str(out)])
    assert isinstance(failed.exception, ParameterError | SystemExit)
    assert len(pl.read_parquet(out)) == 300


@pytest.mark.parametrize("name", ["made.csv", "made"])
def test_other_files_are_refused(tmp_path, name):
    assert CliRunner().invoke(app, ["made", "--texts", "3", "--out", str(tmp_path / name)]).exit_code != 0
