"""Pictures: they show the numbers of the records, and incomplete results do not stop them."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from shoal_bench.report import pictures
from shoal_bench.report.drawing import Album, log_scale
from shoal_bench.report.ranks import rank_methods
from shoal_bench.report.summary import summarise

PNG = b"\x89PNG\r\n\x1a\n"


def summary_of(suite, records, **changes):
    return summarise(suite.model_copy(update=changes), {record["key"]: record for record in records})


def drawn(drawings):
    """Return the panels of the only picture."""
    figure = Figure()
    drawings[0].draw(figure)
    return figure.get_axes()


def names_of(summary, album):
    """Return the names of the files that are drawn of a suite."""
    before = len(album.files)
    blocks = pictures.draw_pictures(summary, album)
    files = album.files[before:]
    assert all(f"({album.place}/{file.name})" in block for file, block in zip(files, blocks, strict=True))
    assert all(file.read_bytes().startswith(PNG) for file in files)
    return [file.name for file in files]


def horizontal_lines(panel):
    return sorted(float(line.get_ydata()[0]) for line in panel.lines if line.get_linestyle() == ":")


def test_score_against_time_shows_ours_and_dots_the_published(made_suite, made_records):
    figure = Figure()
    pictures.score_against_time(figure, summary_of(made_suite, made_records), "acc")
    mean, agnews, tweet, *_ = figure.get_axes()
    assert {text.get_text() for text in mean.texts} == {"Alpha | <i>k-means</i>", "Beta", "Gamma"}
    assert [entry.get_text() for entry in mean.get_legend().get_texts()] == ["Epsilon (not on every set)"]
    assert horizontal_lines(agnews) == [70.0, 85.5]
    assert horizontal_lines(tweet) == [50.0, 60.0]
    drawn = [tuple(map(float, container[0].get_xydata()[0])) for container in agnews.containers]
    # seconds for 1,000 texts: 10 s on 8,000; 10 s and 40 s of encoding on 8,000; 300 s on 5,000
    assert drawn == [(1.25, 72.0), (6.25, 76.5), (60.0, 82.0), (6.25, 55.0)]


def test_bars_are_the_means(made_suite, made_records):
    (panel,) = drawn(pictures.bars(summary_of(made_suite, made_records, kind="bars", metrics=("acc",))))
    heights = [bar.get_height() for bar in panel.containers[4].patches]  # bars, errors, bars, errors, …
    assert heights == [82.0, 67.0, 30.0, 46.0]


def test_a_curve_is_the_mean_of_the_seeds(made_suite, made_records):
    panel, *_ = drawn(pictures.training(summary_of(made_suite, made_records)))
    assert panel.lines[0].get_xydata().tolist() == [[0, 78.0], [20, 80.0], [40, 82.0]]
    assert horizontal_lines(panel) == [85.5]


def test_distances_are_solid_on_classes_and_dashed_on_clusters(made_suite, made_records):
    summary = summary_of(made_suite, made_records, data_sets=("agnews",), kind="curves")
    within, between = drawn(pictures.distances(summary))
    for panel, true, found in ((within, 1.2, 1.0), (between, 0.4, 0.5)):
        by_dash = {line.get_linestyle(): float(line.get_ydata()[0]) for line in panel.lines}
        assert by_dash == pytest.approx({"-": true, "--": found})


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("bars", ["made-bars.png", "made-training.png"]),
        ("curves", ["made-distances.png", "made-training.png"]),
        ("strengths", ["made-strengths.png"]),
    ],
)
def test_each_kind_of_suite_has_its_pictures(tmp_path, made_suite, made_records, kind, names):
    rows = tuple(row.model_copy(update={"series": row.method, "x": 0.2}) for row in made_suite.rows)
    similar = {"mean": 0.8, "n": 4, "counts": [0, 0, 1, 3]}
    records = [{**record, "pair_similarity": similar} for record in made_records]
    summary = summary_of(made_suite, records, kind=kind, rows=rows, data_sets=("agnews", "tweet"))
    assert names_of(summary, Album(tmp_path, "p")) == names


def test_maps_show_every_text_at_every_look_by_cluster(tmp_path, made_suite, made_records):
    places = {"x": [0, 999, 500, 3], "y": [0, 10, 999, 4], "cluster": [0, 8, 0, 8]}
    records = [
        {
            **record,
            "trace": [
                {**evaluation, "epoch": 1 + evaluation["step"] // 20, "map": places} for evaluation in record["trace"]
            ],
        }
        for record in made_records
    ]
    summary = summary_of(made_suite, records, kind="maps", data_sets=("agnews", "tweet"))
    panels = drawn(pictures.maps(summary))
    titles = [panel.get_title() for panel in panels]
    assert titles == ["start: ACC 76.0", "epoch 1: ACC 78.0", "epoch 2: ACC 80.0"]
    zero, eight = panels[0].collections
    assert zero.get_offsets().tolist() == [[0, 0], [500, 999]]
    assert eight.get_offsets().tolist() == [[999, 10], [3, 4]]
    assert zero.get_facecolor().tolist() != eight.get_facecolor().tolist()
    album = Album(tmp_path)
    assert names_of(summary, album) == ["made-map-agnews-2.png", "made-map-tweet-2.png", "made-training.png"]
    without = summary_of(made_suite, made_records, kind="maps")
    assert names_of(without, Album(tmp_path)) == ["made-training.png"]


def test_a_training_is_drawn_once(tmp_path, made_suite, made_records):
    summary = summary_of(made_suite, made_records, kind="curves", data_sets=("agnews",))
    album = Album(tmp_path)
    assert "made-training.png" in names_of(summary, album)
    assert "made-training.png" not in names_of(summary, album)


def test_a_score_that_no_look_has_is_not_drawn_through_training(tmp_path, made_suite, made_records):
    summary = summary_of(made_suite, made_records, metrics=("purity",))
    assert names_of(summary, Album(tmp_path)) == ["made-time.png", "made-ranks.png"]


def test_a_fit_that_took_no_time_at_all_is_drawn(tmp_path, made_suite, made_records):
    records = [{**record, "seconds": 0.0} for record in made_records]
    assert "made-time.png" in names_of(summary_of(made_suite, records), Album(tmp_path))


def test_data_sets_without_results_have_no_panel(made_suite, made_records):
    records = [record for record in made_records if record["cell"]["data_set"] == "tweet"]
    rows = tuple(row.model_copy(update={"series": row.method, "x": 0.2}) for row in made_suite.rows)
    summary = summary_of(made_suite, records, kind="strengths", rows=rows)
    for drawings in (pictures.strengths(summary), pictures.distances(summary)):
        assert {panel.get_title().partition(":")[0] for panel in drawn(drawings)} == {"tweet"}


def test_a_single_point_has_room_on_both_sides_and_few_numbers():
    panel = Figure().subplots()
    panel.plot([40], [1])
    log_scale(panel, "x", [40])
    assert panel.get_xlim() == (20, 80)


def test_the_first_result_of_a_suite_is_enough(tmp_path, made_suite, made_records):
    two = [record for record in made_records if record["cell"]["data_set"] == "tweet" and record["cell"]["seed"] == 0]
    assert names_of(summary_of(made_suite, two[:2]), Album(tmp_path)) == ["made-time.png"]
    assert names_of(summary_of(made_suite, two[:1]), Album(tmp_path)) == []
    assert names_of(summary_of(made_suite, []), Album(tmp_path)) == []


def test_the_ranks_are_written_out():
    figure = Figure()
    pictures.critical_difference(figure, rank_methods(["a", "b", "c"], [[3, 2, 1]] * 5))
    texts = {text.get_text() for text in figure.get_axes()[0].texts}
    assert {"a  1.00", "b  2.00", "3.00  c"} <= texts


def test_a_sweep_is_the_scores_by_x(made_suite, made_records):
    rows = tuple(
        row.model_copy(update={"series": "made up", "x": float(place)}) for place, row in enumerate(made_suite.rows[:3])
    )
    agnews, *others = drawn(pictures.sweep(summary_of(made_suite, made_records, kind="sweep", rows=rows)))
    assert agnews.get_title() == "agnews: ACC"
    assert agnews.containers[0][0].get_xydata().tolist() == [[0, 72.0], [1, 76.5], [2, 82.0]]
    assert len(others) == 2 * 4 - 1


def test_silhouettes_are_drawn_where_the_trace_has_them(made_suite, made_records, tmp_path):
    plain = summary_of(made_suite, made_records, kind="silhouette")
    assert "made-silhouette.png" not in names_of(plain, Album(tmp_path))
    seen = [
        {**record, "trace": [{**evaluation, "silhouette": evaluation["step"] / 100} for evaluation in record["trace"]]}
        for record in made_records
    ]
    summary = summary_of(made_suite, seen, kind="silhouette")
    assert "made-silhouette.png" in names_of(summary, Album(tmp_path))
    panel, *_ = drawn(pictures.training(summary, metric="silhouette"))
    assert panel.lines[0].get_ydata().tolist() == pytest.approx([0.0, 0.2, 0.4])
