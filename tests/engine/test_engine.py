"""Engines by name; wrong names and missing packages are told before any work."""

from __future__ import annotations

import pytest

from cli_tickets import in_python
from shoal import TwoStage
from shoal.engine import current_engine, use_engine
from shoal.errors import EngineError, MissingExtraError, ParameterError


def test_without_an_engine_blocks_are_computed_here_in_order():
    assert current_engine().is_local
    assert list(current_engine().map_blocks(len, iter(["", "ab", "c"]))) == [0, 2, 1]


def test_the_engine_before_comes_back_also_after_an_error():
    before = current_engine()

    def fail():
        with use_engine("local") as engine:
            assert current_engine() is engine is not before
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert current_engine() is before


def test_an_unknown_engine():
    with pytest.raises(ParameterError, match=r"engine 'rya' is unknown; pass one of local, ray. Did you mean 'ray'\?"):
        use_engine("rya").__enter__()


@pytest.mark.parametrize("name", ["local", "ray"])
def test_workers_that_cannot_be(name):
    with pytest.raises(ParameterError, match="workers=0 but it needs at least 1"):
        use_engine(name, 0).__enter__()


def test_local_workers_only_train():
    vectors = [[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [0.0, 3.0]]
    with use_engine("local", 2), pytest.raises(ParameterError, match=r"workers=2 but .* only train, and TwoStage"):
        TwoStage(2).fit(vectors)
    with use_engine("local", 1):
        assert len(TwoStage(2).fit(vectors).labels_) == 4


def test_ray_is_an_extra(monkeypatch):
    monkeypatch.setattr("shoal.engine.ray.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'shoal\[ray\]', or pass --engine local") as caught:
        use_engine("ray").__enter__()
    assert caught.value.exit_code == 5


@pytest.mark.slow
def test_ray_is_imported_only_if_asked_for():
    code = "import sys; import shoal.encoder.representation, shoal.fitting; print('ray' in sys.modules)"
    assert in_python(code).stdout.strip() == "False"


@pytest.mark.parametrize("address", ["127.0.0.1:9", "nonsense"])
def test_a_cluster_that_nobody_answers_for(monkeypatch, address):
    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(EngineError, match=f"RAY_ADDRESS={address} cannot be reached .*; start Ray there, or") as caught:
        use_engine("ray").__enter__()
    assert caught.value.exit_code == 8
