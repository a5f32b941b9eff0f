"""Shell completion: commands, options, and the names of methods."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def completed(words: str) -> list[str]:
    """Return what bash would offer after ``words``, as its completion script asks for it."""
    asked = {"_SHOAL_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    program = "import sys; sys.argv[0] = 'shoal'; from shoal.cli import main; main()"
    answer = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **asked}, capture_output=True, text=True, timeout=60
    )
    return answer.stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("shoal sug", ["suggest-k"]),
        ("shoal fit --ove", ["--overwrite"]),
        ("shoal fit x.csv --method tfidf", ["tfidf-kmeans"]),
        ("shoal methods hac", ["hac-sd"]),
    ],
)
def test_offers(words, offered):
    assert completed(words) == offered
