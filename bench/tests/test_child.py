"""Both ends of a child process; the runner's tests have real ones."""

from __future__ import annotations

import io
import json
import os
import sys

import pytest

from shoal_bench.child import PARENT, THREAD_VARIABLES, answer, child_environment, record_of


def test_threads_are_pinned_and_the_parent_is_named():
    environment = child_environment(3)
    assert {environment[name] for name in THREAD_VARIABLES} == {"3"}
    assert environment[PARENT] == str(os.getpid())
    assert environment["SHOAL_QUIET"] == "1"
    assert environment["PATH"] == os.environ["PATH"]


@pytest.mark.parametrize(
    ("code", "out", "err", "record"),
    [
        (0, b'noise\n{"status": "ok"}\n', b"", {"status": "ok"}),
        (1, b'{"status": "ok"}\n', b"", "the process ended with code 1: it said nothing"),
        (-9, b"", b"one\n\xe9 two\n\n", "the process ended with code -9: \ufffd two"),
        (0, b"noise", b"in /home/me/x", "the process ended with code 0: in …"),
        (0, b"", b"", "the process ended with code 0: it said nothing"),
    ],
)
def test_a_child_without_an_answer_has_failed(code, out, err, record):
    expected = record if isinstance(record, dict) else {"key": "k", "status": "failed", "reason": record}
    assert record_of(code, out, err, lambda: {"key": "k", "status": "ok"}) == expected


def test_what_libraries_print_is_no_part_of_the_answer(monkeypatch, capsys):
    monkeypatch.delenv(PARENT, raising=False)
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"n": 1}'))
    answer(lambda question: (sys.stdout.write("hello"), {"twice": 2 * question["n"]})[1])
    said = capsys.readouterr()
    assert json.loads(said.out) == {"twice": 2}
    assert said.err == "hello"
