from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from made_data import table_of
from shoal_bench.report import pictures, stages
from shoal_bench.report.drawing import Album
from shoal_bench.report.suite_chapter import suite_chapter
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
        suite = made_suite.model_copy(
            update={"kind": kind, "rows": tuple(row for row in made_suite.rows if row.name in rows)}
        )
        return summarise(suite, {record["key"]: record for record in records})

    return make


def test_the_table_has_the_mean_of_the_seeds_after_every_stage(staged):
    columns, rows = table_of(stages.stage_table(staged("stages")))
    assert columns == ["method", "data set", "after", "ACC", "NMI", "silhouette", "Dunn"]
    assert rows[:3] == [
        ["Gamma", "agnews", "start", "51.0", "40.0", "0.000", "0.050"],
        ["", "", "adaptation", "61.0", "40.0", "0.100", "0.050"],
        ["", "", "clustering", "71.0", "40.0", "0.200", "0.050"],
    ]
    assert rows[-3][1] == "mean of 4"
    assert len(rows) == 3 * 5


def test_one_row_is_drawn_by_data_set_and_several_by_row(staged):
    for rows, n_lines in ((("Gamma",), 4), (("Beta", "Gamma"), 2)):
        figure = Figure()
        pictures.stages(staged("stages", rows))[0].draw(figure)
        acc = figure.get_axes()[0]
        assert len(acc.lines) == n_lines
        assert acc.lines[0].get_ydata().tolist() == [51, 61, 71]
        assert [label.get_text() for label in acc.get_xticklabels()] == NAMES


def test_each_kind_has_its_picture_or_table(staged, tmp_path):
    for kind, name in (("stages", "made-stages.png"), ("scatter", "made-places.png")):
        album = Album(tmp_path, "p")
        pictures.draw_pictures(staged(kind), album)
        assert album.files[0] == tmp_path / "p" / name
        assert album.files[0].is_file()
    _, pairs = table_of(stages.pairs_table(staged("pairs")))
    assert pairs[0] == ["other class, moved apart", "a / b", "3, 9", "0.500", "0.250"]
    assert len(pairs) == 3 * 4  # the first three of a kind on each of four sets
    assert "### Pairs" in suite_chapter(staged("pairs"), [])
    assert "### After each stage" in suite_chapter(staged("stages"), [])


def test_without_stages_there_is_nothing_to_show(made_suite, made_records):
    summary = summarise(
        made_suite.model_copy(update={"kind": "stages"}), {record["key"]: record for record in made_records}
    )
    assert stages.stage_names(summary) == stages.measures_of(summary) == []
    assert pictures.places(summary) == pictures.stages(summary) == []
    assert stages.pairs_table(summary) == stages.stage_table(summary) == ""
    assert "### After each stage" not in suite_chapter(summary, [])
