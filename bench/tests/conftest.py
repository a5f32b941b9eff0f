"""A data set of three topics in a folder of its own, and a suite on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli_tickets import made_table
from made_data import write_data_set

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
