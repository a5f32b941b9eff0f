"""A data set of three topics in a folder of its own, and a suite on it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from cli_tickets import made_table

SUITE = """
title = "Three topics"
source = "made up"
data_sets = ["topics"]

[[rows]]
name = "BoW"
method = "bow-kmeans"
params = { n_init = 2 }

[[rows]]
name = "TF-IDF"
method = "tfidf-kmeans"
params = { n_init = 2 }

[[rows]]
name = "Later"
[rows.published]
acc = { topics = 50.0 }
"""


def write_data_set(folder: Path, name: str, rows: list[tuple[str, str]]) -> Path:
    """Write rows of (label, text) as a data set."""
    content = "label\ttext\n" + "".join(f"{label}\t{text}\n" for label, text in rows)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.tsv.gz"
    file.write_bytes(gzip.compress(content.encode(), mtime=0))
    return file


@pytest.fixture
def data(tmp_path, monkeypatch) -> Path:
    """A folder with the data set `topics`: 60 texts, three classes."""
    table = made_table(60)
    write_data_set(tmp_path / "data", "topics", list(zip(table["topic"], table["body"], strict=True)))
    monkeypatch.setenv("SHOAL_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def suite_file(tmp_path) -> Path:
    """A suite of two rows that run and one that does not."""
    file = tmp_path / "topics-table.toml"
    file.write_text(SUITE)
    return file
