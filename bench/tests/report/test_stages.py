from __future__ import annotations

from dataclasses import replace

import pytest
from matplotlib.figure import Figure

from shoal_bench.report import stages
from shoal_bench.report.suite_chapter import suite_chapter
from shoal_bench.report.suite_pictures import draw_pictures
from shoal_bench.report.summary import summarise

NAMES = ["start", "adaptation", "clustering"]


@pytest.fixture
def staged(made_suite, made_records):
    """Returns a summary of the made-up suite whose trained row has stages; seeds differ by one."""

    def make(kind, rows=("Gamma",)):
        records = []
        for record in made_records:
            seed = record["cell"]["seed"]
            path = [
                {"stage": name, "acc": 50.0 + 10 * number + seed, "nmi": 40.0, "silhouette": 0.1 * number, "dunn": 0.05}
                for number, name in enumerate(NAMES)
            ]
            pair = {"kind": "moved apart", "same_class": False, "left": 3, "right": 9, "before": 0.5, "after": 0.25}
            extras = {
                "places": {"classes": ["a", "b"], "stages": [[[0, 1], [2, 3]]] * 3},
                "pairs": [{**pair, "classes": ["a", "b"]}] * 4,
            }
            trained = record["cell"]["method"] in ("sccl", "kmeans")
            records.append({**record, "stages": path, "extras": extras} if trained else record)
        suite = replace(made_suite, kind=kind, rows=tuple(row for row in made_suite.rows if row.name in rows))
        return summarise(suite, {record["key"]: record for record in records})

    return make


def test_the_table_has_the_mean_of_the_seeds_after_every_stage(staged):
    table = stages.stage_table(staged("stages"))
    assert table.columns == ["method", "data set", "after", "ACC", "NMI", "silhouette", "Dunn"]
    assert table.rows[:3] == [
        ["Gamma", "agnews", "start", "51.0", "40.0", "0.000", "0.050"],
        ["", "", "adaptation", "61.0", "40.0", "0.100", "0.050"],
        ["", "", "clustering", "71.0", "40.0", "0.200", "0.050"],
    ]
    assert table.rows[-3][1] == "mean of 4"
    assert len(table.rows) == 3 * 5


def test_one_row_is_drawn_by_data_set_and_several_by_row(staged):
    for rows, n_lines in ((("Gamma",), 4), (("Beta", "Gamma"), 2)):
        figure = Figure()
        stages.draw_stages(figure, staged("stages", rows))
        acc = figure.get_axes()[0]
        assert len(acc.lines) == n_lines
        assert acc.lines[0].get_ydata().tolist() == [51, 61, 71]
        assert [label.get_text() for label in acc.get_xticklabels()] == NAMES


def test_each_kind_has_its_picture_or_table(staged, tmp_path):
    for kind, name in (("stages", "made-stages.png"), ("scatter", "made-places.png")):
        drawn = [picture.path for picture in draw_pictures(staged(kind), tmp_path, "p", set())]
        assert drawn[0] == f"p/{name}"
        assert (tmp_path / drawn[0]).is_file()
    pairs = stages.pairs_table(staged("pairs"))
    assert pairs.rows[0] == ["other class, moved apart", "a / b", "3, 9", "0.500", "0.250"]
    assert len(pairs.rows) == 3 * 4  # the first three of a kind on each of four sets
    headings = [block.text for block in suite_chapter(staged("pairs"), []) if hasattr(block, "text")]
    assert "Pairs" in headings
    headings = [block.text for block in suite_chapter(staged("stages"), []) if hasattr(block, "text")]
    assert "After each stage" in headings


def test_without_stages_there_is_nothing_to_show(made_suite, made_records, tmp_path):
    summary = summarise(replace(made_suite, kind="stages"), {record["key"]: record for record in made_records})
    assert stages.stage_names(summary) == stages.measures_of(summary) == []
    assert stages.placed_record(summary) is None
    assert stages.pairs_table(summary) is None
    assert "made-stages.png" not in [picture.path for picture in draw_pictures(summary, tmp_path, "p", set())]
