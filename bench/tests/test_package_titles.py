from __future__ import annotations

import pytest
from typer.testing import CliRunner

from shoal_bench.cli import app
from shoal_bench.package_titles import KINDS, package_titles

CATALOGUE = "\n\n".join(
    f"Package: p{i}\nSection: {'contrib/' if i % 2 else ''}{section}\nDescription: {section} tool {i}\n more words"
    for section in ("games", "mail", "python", "oldlibs")
    for i in range(5)
)
SHARED = "\n\n".join(f"Section: {section}\nDescription: common files" for section in ("games", "mail", "games"))


def test_titles_have_the_sections_of_one_kind():
    titles, sections = package_titles(CATALOGUE, "topics", each=10)
    assert sections == ["games"] * 5 + ["mail"] * 5
    assert set(titles) == {f"{section} tool {i}" for section in ("games", "mail") for i in range(5)}
    assert package_titles(CATALOGUE, "languages", each=10)[1] == ["python"] * 5
    assert len(KINDS["topics"]) == 20


def test_a_title_of_two_sections_has_no_class():
    assert package_titles(f"{SHARED}\n\n{CATALOGUE}", "topics", 10) == package_titles(CATALOGUE, "topics", 10)


def test_so_many_of_each_drawn_by_the_seed():
    draws = [package_titles(CATALOGUE, "topics", each=2, seed=seed)[0] for seed in (0, 0, 1, 2, 3)]
    assert draws[0] == draws[1]
    assert len({tuple(draw) for draw in draws}) > 1
    assert all(len(draw) == 4 for draw in draws)


@pytest.fixture
def apt(tmp_path, monkeypatch):
    """A command apt-cache that prints what a file has."""
    command = tmp_path / "bin" / "apt-cache"
    command.parent.mkdir()
    command.write_text(f"#!/bin/sh\ncat {tmp_path}/catalogue\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(command.parent), prepend=":")
    (tmp_path / "catalogue").write_text(CATALOGUE)
    return tmp_path / "catalogue"


def test_the_command_writes_a_table(apt, tmp_path):
    out = tmp_path / "topics.tsv"
    assert CliRunner().invoke(app, ["packages", "--each", "3", "--out", str(out)]).exit_code == 0
    lines = out.read_text().splitlines()
    assert (lines[0], len(lines)) == ("label\ttext", 7)
    assert all(line.split("\t")[1].startswith(line.split("\t")[0]) for line in lines[1:])


@pytest.mark.parametrize("wrong", [["--kind", "colours"], ["--out", "topics.csv"], ["--each", "0"]])
def test_wrong_requests_are_refused(apt, tmp_path, wrong):
    given = {"--out": "topics.tsv", **dict([wrong])}
    given["--out"] = str(tmp_path / given["--out"])
    assert CliRunner().invoke(app, ["packages", *(part for pair in given.items() for part in pair)]).exit_code != 0
    assert not (tmp_path / "topics.tsv").exists()


def test_an_empty_catalogue_says_what_to_do(apt, tmp_path):
    apt.write_text("")
    failed = CliRunner().invoke(app, ["packages", "--out", str(tmp_path / "topics.tsv")])
    assert failed.exit_code != 0
    assert not (tmp_path / "topics.tsv").exists()
