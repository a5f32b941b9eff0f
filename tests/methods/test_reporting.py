"""``model.plot()`` and ``model.report()``: the page and the map of a model in memory."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest

import shoal
from cli_tickets import made_table
from shoal.errors import RunFolderError
from shoal.methods.two_stage import TwoStage

matplotlib.use("Agg")
TEXTS = [text or "" for text in made_table(60, empty=(3,))["body"]]


@pytest.fixture(scope="module")
def model():
    return TwoStage(3, representation="tfidf").fit(TEXTS)


def test_a_report_of_a_model_shows_itself_and_is_saved(model, tmp_path):
    report = model.report()
    assert report.save(tmp_path / "page.html").stat().st_size > 20_000
    assert "<iframe srcdoc=" in report._repr_html_()
    assert "<script>" not in report._repr_html_().partition(">")[0]
    assert "TwoStage(n_clusters=3" in report.html
    assert report.html.count('class="card ') == 3


def test_plot_takes_axes_and_returns_them(model):
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert model.plot(ax) is ax
    places = model.places_
    model.plot(Figure().subplots(), names=False)
    assert model.places_ is places, "the map is found once"


def test_vectors_alone_have_a_report_too():
    rng = np.random.default_rng(0)
    vectors = np.vstack([rng.normal(size=(20, 4)) + 5, rng.normal(size=(20, 4)) - 5])
    assert "row 3" in TwoStage(2).fit(vectors).report().html


def test_a_loaded_model_says_where_its_texts_are(model, tmp_path):
    model.save(tmp_path / "model")
    with pytest.raises(RunFolderError, match="shoal report RUN"):
        shoal.load(tmp_path / "model").report()
