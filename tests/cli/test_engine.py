"""``--engine`` and ``--workers``: what cannot be is told before any work."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--engine", "spark"), 4, "engine 'spark' is unknown; pass one of local, ray."),
        (("--workers", 2), 4, "workers=2 but the local engine's workers only train"),
        (("--engine", "ray", "--workers", 0), 2, "--workers"),
        (("--engine", "ray"), 8, "RAY_ADDRESS=127.0.0.1:9 cannot be reached"),
    ],
)
@pytest.mark.parametrize("command", ["fit", "predict"])
def test_what_cannot_be(shoal, tickets, tmp_path, monkeypatch, command, arguments, code, message):
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:9")
    given = (tickets,) if command == "fit" else (tmp_path / "run", tickets)
    answer = shoal(command, *given, "--out", tmp_path / "out.csv", *arguments)
    assert answer.code == code
    assert message in answer.err
    assert not (tmp_path / "out.csv").exists()


def test_without_the_extra(shoal, tickets, monkeypatch):
    monkeypatch.setattr("shoal.engine.ray.find_spec", lambda name: None)
    answer = shoal("fit", tickets, "--engine", "ray")
    assert answer.code == 5
    assert "the engine 'ray' needs an optional package; run: pip install 'shoal[ray]', or pass --engine local" in (
        answer.err
    )
