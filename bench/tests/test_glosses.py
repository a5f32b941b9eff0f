from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from shoal_bench.cli import app
from shoal_bench.glosses import FILES, glosses

LICENCE = "  1 This software and database is being provided to you\n"
NOUNS = LICENCE + "\n".join(
    (
        '01 20 n 02 wild_rose 0 briar 0 001 @ 02 n 0000 | a shrub with thorns; "a red rose"  ',
        "02 20 n 01 fern 0 000 | a plant without flowers  ",
        "03 05 n 01 wren 0 000 | a small bird  ",
        "04 05 n 01 fern 1 000 | a bird of that name; or so  ",
        "05 04 n 01 walk 0 000 | going on foot  ",
        "06 03 n 01 entity 0 000 | what there is  ",
    )
)


def test_definitions_without_examples_by_their_file():
    texts, classes = glosses(NOUNS, "nouns", each=10)
    assert dict(zip(texts, classes, strict=True)) == {
        "a shrub with thorns": "plant",
        "a plant without flowers": "plant",
        "a small bird": "animal",
        "a bird of that name; or so": "animal",
        "going on foot": "act",
    }


def test_words_of_one_file_only():
    texts, classes = glosses(NOUNS, "words", each=10)  # a fern is two things, and an act no word of these files
    assert dict(zip(texts, classes, strict=True)) == {"wild rose": "plant", "wren": "animal"}


def test_verbs_have_files_of_their_own():
    assert glosses("01 38 v 01 walk 0 000 | use feet", "verbs", each=1) == (["use feet"], ["motion"])
    assert {part: len(files) for part, files in FILES.items()} == {"noun": 26, "verb": 15}


def test_so_many_of_each_drawn_by_the_seed():
    draws = [glosses(NOUNS, "nouns", each=1, seed=seed) for seed in (0, 0, 1, 2, 3)]
    assert draws[0] == draws[1]
    assert len({tuple(texts) for texts, _ in draws}) > 1
    assert all(len(texts) == 3 for texts, _ in draws)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """WordNet's files with a few nouns."""
    for part in ("noun", "verb", "adj", "adv"):
        for kind in ("index", "data"):
            (tmp_path / f"{kind}.{part}").write_text(NOUNS if (kind, part) == ("data", "noun") else LICENCE)
    return tmp_path


def test_the_command_writes_a_table(folder):
    out = folder / "nouns.tsv"
    done = CliRunner().invoke(app, ["glosses", "--wordnet-dir", str(folder), "--out", str(out)])
    assert (done.exit_code, len(out.read_text().splitlines())) == (0, 6)


@pytest.mark.parametrize("wrong", [["--kind", "colours"], ["--out", "nouns.csv"], ["--wordnet-dir", "nowhere"]])
def test_wrong_requests_are_refused(folder, wrong):
    given = {"--out": "nouns.tsv", "--wordnet-dir": str(folder), **dict([wrong])}
    given["--out"] = str(folder / given["--out"])
    assert CliRunner().invoke(app, ["glosses", *(part for pair in given.items() for part in pair)]).exit_code != 0
    assert not Path(given["--out"]).exists()
