"""The chapter on speed: ratios, sizes and exponents as they are in the records."""

from __future__ import annotations

import pytest

from shoal_bench.report.page import Bullets, Command, Heading, Table, to_markdown
from shoal_bench.report.speed_chapter import speed_chapter


def measure(name, n_texts, **facts):
    return {
        "schema": 1,
        "kind": "speed",
        "measure": name,
        "n_texts": n_texts,
        "texts": "made-up titles",
        "threads": 1,
        "method": "kmeans",
        "backbone": "builtin",
        "status": "ok",
        "peak_memory_mb": 100.0,
        **facts,
    }


RATIO = {"ratio": 2.5, "ratios": [2.0, 2.5, 3.0], "seconds": 4.0, "reference_seconds": 10.0, "reference": "another"}
GROWTH = [
    measure("growth-fit", n, seconds=n / 100, encode_seconds=n / 200, other_seconds=n / 200, repeated_texts=n > 5000)
    for n in (1_000, 10_000)
]


@pytest.fixture(scope="module")
def chapter(tmp_path_factory):
    older = measure("encode-titles", 1_000, **{**RATIO, "ratio": 9.9})
    records = [older, measure("encode-titles", 1_000, **RATIO), *GROWTH, {"status": "ok", "cell": {}}]
    folder = tmp_path_factory.mktemp("speed")
    blocks = speed_chapter(records, folder, "p")
    return blocks, folder


def test_the_latest_ratio_counts(chapter):
    table = next(block for block in chapter[0] if isinstance(block, Table))
    assert [row[2:7] for row in table.rows] == [["2.50", "2.00 to 3.00", "250", "1,000", "made-up titles"]]


def test_exponents_are_fitted(chapter):
    items = next(block for block in chapter[0] if isinstance(block, Bullets)).items
    assert len(items) == 1
    assert "time n^1.00, of which encoding n^1.00, the rest n^1.00, peak memory n^0.00" in items[0]
    assert "(1,000 to 10,000 texts)" in items[0]


def test_repeated_texts_are_said(chapter):
    sizes = [block for block in chapter[0] if isinstance(block, Table)][1]
    assert [row[-1] for row in sizes.rows] == ["made-up titles", "made-up titles, repeated with small changes"]
    assert [row[:4] for row in sizes.rows] == [
        ["1,000", "10.00", "5.00", "5.00"],
        ["10,000", "100.00", "50.00", "50.00"],
    ]


def test_the_command_reaches_the_sizes_and_the_pictures_are_there(chapter):
    blocks, folder = chapter
    assert Command("shoal-bench --suite speed --tier standard") in blocks
    assert {file.name for file in (folder / "p").iterdir()} == {"speed-ratios.png", "speed-growth.png"}
    assert Heading(2, "Speed") in blocks
    assert "speed-growth.png" in to_markdown(blocks)


def test_nothing_measured_is_no_chapter(tmp_path):
    assert speed_chapter([measure("encode-titles", 5, status="failed")], tmp_path, "p") == []


def test_memory_that_the_system_does_not_count_is_left_out(tmp_path):
    records = [{**record, "peak_memory_mb": None} for record in GROWTH]
    assert "-" in speed_chapter(records, tmp_path, "p")[-1].rows[0]
