"""Calls go down only: no file imports from a higher layer."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "shoal"

# Each room may import from the rooms that stand in a lower row, and from its own.
ROWS = [
    {"errors", "_version", "cache", "progress", "environment"},
    {"corpus", "clustering", "run_folder", "text", "demo_texts", "vectors", "parameters"},
    {"functional", "metrics", "naming", "clusterers", "report"},
    {"encoder", "augment"},
    {"training"},
    {"methods", "n_clusters"},
    {"scale", "server", "cli"},
]
# These read numbers, texts or a run folder, and nothing of how they came about.
KNOW_ONLY_THE_FOUNDATION = {"metrics", "naming", "report"}
ROW_OF = {room: row for row, rooms in enumerate(ROWS) for room in rooms}


def room_of(file: Path) -> str:
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(file: Path) -> set[str]:
    modules = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file.name} imports relatively; name the module in full"
            modules.append(node.module or "")
            if node.module == "shoal":
                modules += [f"shoal.{alias.name}" for alias in node.names if (SOURCE / alias.name).exists()]
        elif isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
    return {module.split(".")[1] for module in modules if module.startswith("shoal.")}


FILES = sorted(file for file in SOURCE.rglob("*.py") if file != SOURCE / "__init__.py")


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_imports_point_down(file):
    room = room_of(file)
    assert room in ROW_OF, f"{room} has no place in the architecture: put it into ROWS and docs/architecture.md"
    for other in imported_rooms(file) - {room}:
        assert ROW_OF[other] <= ROW_OF[room], f"{room} imports {other}, which stands above it"
        if room in KNOW_ONLY_THE_FOUNDATION:
            assert ROW_OF[other] < 2, f"{room} imports {other} but should know only the foundation"


def test_there_is_one_training_loop():
    backward = [
        str(file.relative_to(SOURCE))
        for file in FILES
        if any(
            isinstance(node, ast.Attribute) and node.attr == "backward"
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        )
    ]
    assert backward == ["training/trainer.py"]


def test_no_pickle_and_no_print():
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        assert "import pickle" not in text, file
        assert "torch.load(" not in text, file
        assert "allow_pickle=True" not in text, file


def test_no_utils():
    forbidden = {"utils", "helpers", "manager", "common", "misc"}
    assert not [file for file in FILES if file.stem in forbidden or file.parent.name in forbidden]
