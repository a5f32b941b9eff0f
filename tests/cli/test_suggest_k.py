"""``shoal suggest-k``: numbers of clusters with what they mean, without a fit."""

from __future__ import annotations

import pytest

from cli_tickets import made_table
from tiny_backbone import tiny_backbone


@pytest.fixture
def source(tmp_path):
    """Return the arguments for 60 tickets and a tiny encoder."""
    made_table(60).write_csv(tmp_path / "tickets.csv")
    return (tmp_path / "tickets.csv", "--text", "body", "--backbone", tiny_backbone(tmp_path / "bert"))


def test_levels_with_their_largest_groups(shoal, source):
    answer = shoal("suggest-k", *source)
    assert answer.code == 0, answer.err
    assert "medium: " in answer.out
    assert "compared with medium" in answer.out
    assert "60 texts were measured. To fit: shoal fit" in answer.err


def test_json_has_the_curve_and_the_groups(shoal, source):
    found = shoal("suggest-k", *source, "--json").json
    assert found["chosen"] == found["levels"]["medium"] == len(found["groups"]["medium"])
    assert found["groups"].keys() == found["levels"].keys()
    assert found["curve"][0].keys() >= {"resolution", "n_clusters", "agreement", "modularity", "smallest"}
    assert found["n_sampled"] == 60
    assert found["picture"] is None


def test_a_range(shoal, source):
    assert shoal("suggest-k", *source, "--clusters", "4-6", "--json").json["chosen"] in (4, 5, 6)


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_a_picture(shoal, source, suffix, tmp_path):
    picture = tmp_path / "pictures" / f"how-many.{suffix}"
    answer = shoal("suggest-k", *source, "--picture", picture)
    assert answer.code == 0, answer.err
    assert f"The evidence: {picture}" in " ".join(answer.err.split())
    start = picture.read_bytes()[:100]
    assert start.startswith(b"\x89PNG") if suffix == "png" else b"<?xml" in start


@pytest.mark.parametrize(
    ("flags", "code", "message"),
    [
        (["--picture", "curve.docx"], 4, "'curve.docx' has no known format; pass a name that ends with .svg"),
        (["--clusters", "few"], 4, "n_clusters='few' is not a whole number"),
        (["--clusters", "3", "--picture", "curve.svg"], 4, "there is no evidence to draw"),
    ],
)
def test_what_it_cannot_do(shoal, source, flags, code, message):
    answer = shoal("suggest-k", *source, *flags)
    assert answer.code == code
    assert message in answer.err


def test_a_handful_of_texts(shoal, source, tmp_path):
    (tmp_path / "few.txt").write_text("one text\nanother\n")
    answer = shoal("suggest-k", tmp_path / "few.txt", *source[3:])
    assert answer.code == 0, answer.err
    assert "1 clusters: there is nothing to choose among 2 texts" in answer.err
