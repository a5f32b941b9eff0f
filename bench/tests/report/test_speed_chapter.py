"""The chapter on speed: ratios, sizes and exponents as they are in the records."""

from __future__ import annotations

import pytest

from made_data import table_of
from shoal_bench.report.drawing import Album
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
    blocks = speed_chapter(records, Album(folder, "p"))
    return blocks, folder


def tables(blocks):
    return [table_of(block)[1] for block in blocks if block.startswith("| ")]


def test_the_latest_ratio_counts(chapter):
    rows = tables(chapter[0])[0]
    assert [row[2:7] for row in rows] == [["**2.50**", "2.00 to 3.00", "250", "1,000", "made-up titles"]]


def test_exponents_are_fitted(chapter):
    (items,) = [block.splitlines() for block in chapter[0] if block.startswith("- ")]
    assert len(items) == 1
    assert "time n^1.00, of which encoding n^1.00, the rest n^1.00, peak memory n^0.00" in items[0]
    assert "(1,000 to 10,000 texts)" in items[0]


def test_repeated_texts_are_said(chapter):
    sizes = tables(chapter[0])[1]
    assert [row[-1] for row in sizes] == ["made-up titles", "made-up titles, repeated with small changes"]
    assert [row[:4] for row in sizes] == [
        ["1,000", "10.00", "5.00", "5.00"],
        ["10,000", "100.00", "50.00", "50.00"],
    ]


def test_the_command_reaches_the_sizes_and_the_pictures_are_there(chapter):
    blocks, folder = chapter
    assert blocks[:2] == ["## Speed", "```sh\nshoal-bench --suite speed --tier standard\n```"]
    assert {file.name for file in (folder / "p").iterdir()} == {"speed-ratios.png", "speed-growth.png"}
    assert any("(p/speed-growth.png)" in block for block in blocks)


def test_nothing_measured_is_no_chapter(tmp_path):
    assert speed_chapter([measure("encode-titles", 5, status="failed")], Album(tmp_path)) == []


def test_memory_that_the_system_does_not_count_is_left_out(tmp_path):
    records = [{**record, "peak_memory_mb": None} for record in GROWTH]
    assert "-" in tables(speed_chapter(records, Album(tmp_path)))[-1][0]
