"""The method that docs/architecture.md builds in one file and one line keeps every promise."""

from __future__ import annotations

import inspect
import itertools
import re
import sys
from pathlib import Path

import polars as pl
import pytest

import shoal
from command_line import caller
from methods import test_every_method as promises
from shoal.cli import main
from shoal.methods import METHODS, Method

PAGE = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
SMALL = {"n_clusters": 2, "max_steps": 3, "batch_size": 16, "learning_rate": 1e-3}


def block(title: str) -> str:
    """Return the code below ``<!-- title -->``."""
    return re.search(rf"<!-- {re.escape(title)} -->\n```python\n(.*?)```", PAGE, re.DOTALL)[1]


@pytest.fixture
def registered(tmp_path_factory, monkeypatch):
    """Write the file and run the line; nothing else is done."""
    folder = tmp_path_factory.mktemp("package")
    (folder / "center_pull.py").write_text(block("center_pull.py"), encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    before = dict(METHODS)
    exec(block("registration"), {"METHODS": METHODS, "Method": Method})
    yield METHODS["center-pull"]
    METHODS.clear()
    METHODS.update(before)
    sys.modules.pop("center_pull", None)


@pytest.fixture(scope="module")
def backbone(tmp_path_factory):
    return promises.tiny_backbone(tmp_path_factory.mktemp("backbone"))


@pytest.fixture
def build(registered, backbone):
    return lambda **params: registered(**{**SMALL, "backbone": backbone, **params})


@pytest.fixture
def fitted(build):
    return build().fit(promises.TEXTS)


def cases():
    """Return every test of ``test_every_method`` with each of its sets of arguments."""
    for name, test in vars(promises).items():
        if name.startswith("test_"):
            marks = [mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"]
            sets = [[dict(zip(mark.args[0], values, strict=True)) for values in mark.args[1]] for mark in marks]
            for number, chosen in enumerate(itertools.product(*sets)):
                given = {key: value for part in chosen for key, value in part.items()}
                yield pytest.param(test, given, id=f"{name}-{number}")


def test_there_are_promises():
    assert len(list(cases())) > 10


@pytest.mark.parametrize(("promise", "given"), list(cases()))
def test_it_keeps_every_promise(promise, given, request):
    needed = [name for name in inspect.signature(promise).parameters if name not in given]
    promise(**given, **{name: request.getfixturevalue(name) for name in needed})


def test_the_command_line_knows_it(registered, backbone, tmp_path, capsys, monkeypatch):
    run = caller("shoal", main, capsys, monkeypatch)
    assert "center-pull" in run("methods").out
    listed = run("methods", "center-pull", "--json").json["center-pull"]
    assert (listed["summary"], listed["parameters"]["pull"]) == ("fine-tuning: k-means as a loss", 1.0)
    assert "Weight of the loss." in run("methods", "center-pull").out.replace("\n", " ")
    assert "pull : float, default=1.0\n    Weight of the loss." in registered.estimator.__doc__
    assert "pull: 'float' = 1.0" in str(inspect.signature(registered.estimator))

    texts = tmp_path / "texts.csv"
    pl.DataFrame({"text": promises.TEXTS}).write_csv(texts)
    options = [
        f"--set={name}={value}" for name, value in {**SMALL, "backbone": backbone}.items() if name != "n_clusters"
    ]
    fit = ("fit", texts, "--method", "center-pull", "--clusters", 2, *options, "--out", tmp_path / "run")
    refused = run(*fit, "--set", "pull=0")
    assert (refused.code, refused.err.strip()) == (4, "Error: pull=0 but it must be a number > 0.")
    assert run(*fit).code == 0
    labels = pl.read_parquet(tmp_path / "run" / "assignments.parquet")["cluster"].to_list()
    assert shoal.load(tmp_path / "run").predict(promises.TEXTS).tolist() == labels
    assert run("predict", tmp_path / "run", texts, "--out", tmp_path / "sorted.csv").code == 0
