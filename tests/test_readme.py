"""Every example of the README, of the tutorial and of the page on the command line runs as it is written."""

from __future__ import annotations

import io
import re
import shlex
import shutil
import sys
from pathlib import Path

import polars as pl
import pytest

from documents import examples_of, matches, read, run_all

ROOT = Path(__file__).parents[1]
COMMANDS = [
    line.partition("#")[0].strip()
    for block in re.findall(r"```sh\n(.*?)```", read(ROOT / "docs" / "command-line.md"), flags=re.DOTALL)
    for line in block.splitlines()
]
TOPICS = {
    "delivery": ["parcel late", "parcel lost", "courier never came", "tracking number wrong", "box damaged"],
    "billing": ["charged twice", "invoice wrong", "refund missing", "card declined", "price changed"],
    "account": ["password forgotten", "login fails", "cannot change email", "account locked", "profile broken"],
}
TEXTS = [
    (f"{opening} {problem} {ending}".strip(), topic)
    for topic, problems in TOPICS.items()
    for problem in problems
    for opening, ending in (("my", ""), ("please help,", "again"), ("the", "since Monday"))
]


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    """Work in a folder that has every file the README names."""
    monkeypatch.chdir(tmp_path)
    table = pl.DataFrame({"body": [text for text, _ in TEXTS], "topic": [topic for _, topic in TEXTS]})
    table.write_csv("tickets.csv")
    table.select("body").write_csv("new.csv")
    table.select(title="body").write_csv("titles.csv")
    table.select(answer="body").write_excel("answers.xlsx")
    table.rename({"topic": "intent"}).write_ndjson("queries.jsonl")
    table.select("body").write_parquet("docs.parquet")
    table.with_columns(cluster=pl.col("topic").rank("dense")).write_csv("sorted.csv")
    Path("titles.txt").write_text("\n".join(table["body"]) + "\n")
    return tmp_path


@pytest.mark.slow
def test_the_readme_works_when_copied_in_order(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    document = read(ROOT / "README.md")
    assert len(examples_of(document)) >= 8
    run_all(document)


@pytest.mark.slow
def test_the_tutorial_works_when_copied_in_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    document = read(ROOT / "docs" / "tutorial.md")
    assert len(examples_of(document)) >= 10
    run_all(document)


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a b\n", "a   b\n", True),
        ("a …", "a 1 2", True),
        ("a\n…\nz", "a\nz", True),
        ("a\n…\nz", "a\nb\nc\nz", True),
        ("[0 1]", "[1 0]", False),
        ("a\n", "a\nb\n", False),
        ("…", "", True),
    ],
)
def test_what_is_shown_is_compared(shown, printed, same):
    assert matches(shown, printed) is same


@pytest.mark.slow
def test_every_command_of_the_command_lines_page(in_folder, monkeypatch, capsys):
    from shoal.cli import main

    assert len(COMMANDS) > 8
    for command in COMMANDS:
        *source, shoal = command.split(" | ")
        if source:
            content = Path(source[0].removeprefix("cat ")).read_bytes()
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        arguments = shlex.split(shoal)
        if "fit" in arguments and "--clusters" in arguments:  # 45 texts have fewer groups than real ones
            arguments[arguments.index("--clusters") + 1] = "3"
        monkeypatch.setattr(sys, "argv", arguments)
        with pytest.raises(SystemExit) as ending:
            main()
        assert ending.value.code in (0, None), f"{command}: {capsys.readouterr().err}"
    assert (in_folder / "sorted.parquet").is_file()
    assert (in_folder / "runs" / "tickets-shoal-1" / "assignments.csv").is_file()


def test_the_two_commands_exist():
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert {"demo", "test"} <= set(targets)
    assert "make test" in (ROOT / ".ci" / "run").read_text()


@pytest.mark.parametrize("page", [*sorted(ROOT.glob("docs/**/*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
