"""Calls go down only, methods are shallow, and every room that is named here exists."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

from shoal import METHODS

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "shoal"

# Each room may import from the rooms in the rows above it, and from its own.
ROWS = [
    ["errors", "_version"],
    ["cache", "confined", "engine", "environment", "parameters", "progress"],
    ["scratch"],
    ["vectors"],
    ["clustering", "corpus", "demo_texts", "run_folder", "text"],
    ["clusterers", "functional", "metrics", "naming"],
    ["encoder", "report"],
    ["augment", "n_clusters", "training"],
    ["methods"],
    ["fit_result"],
    ["fitting", "sorting"],
    ["cutting"],
    ["cli"],
]
ROW_OF = {room: row for row, rooms in enumerate(ROWS) for room in rooms}
# Siblings do not import each other, but for these.
SIBLINGS = {
    ("run_folder", "clustering"),  # a run holds clusters
}


def room_of(file: Path) -> str:
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


def tree(file: Path) -> ast.AST:
    return ast.parse(file.read_text(encoding="utf-8"))


def imported_rooms(file: Path) -> set[str]:
    modules = []
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file.name} imports relatively; name the module in full"
            modules.append(node.module or "")
            if node.module == "shoal":
                modules += [f"shoal.{alias.name}" for alias in node.names if alias.name in ROW_OF]
        elif isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
    return {module.split(".")[1] for module in modules if module.startswith("shoal.")}


FILES = sorted(file for file in SOURCE.rglob("*.py") if file != SOURCE / "__init__.py")


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_imports_point_down(file):
    room = room_of(file)
    assert room in ROW_OF, f"{room} has no place in the architecture: put it into ROWS and docs/architecture.md"
    for other in imported_rooms(file) - {room}:
        below = ROW_OF[other] < ROW_OF[room]
        assert below or (room, other) in SIBLINGS, f"{room} imports {other}, which does not stand below it"


def test_every_room_that_is_named_exists_and_is_used_as_named():
    rooms = {room_of(file) for file in FILES}
    assert rooms == ROW_OF.keys()
    used = {(room_of(file), other) for file in FILES for other in imported_rooms(file)}
    assert used >= SIBLINGS
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    missing = [room for room in rooms - {"_version"} if not re.search(rf"^  {room}(?:/|\.py)", page, re.MULTILINE)]
    assert not missing, f"docs/architecture.md says nothing of {missing}"


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_at_most_three_classes_deep_and_no_diamond(name):
    chain = [cls for cls in inspect.getmro(METHODS[name].estimator) if cls.__module__.startswith("shoal.")]
    assert len(chain) <= 3
    for cls in chain:
        ours = [base for base in cls.__bases__ if base.__module__.startswith("shoal.")]
        assert len(ours) <= 1, f"{cls.__name__} has several bases of our own"


def test_nothing_travels_in_private_attributes_of_a_method():
    for file in (SOURCE / "methods").rglob("*.py"):
        for cls in (node for node in ast.walk(tree(file)) if isinstance(node, ast.ClassDef)):
            stored = {
                node.attr
                for node in ast.walk(cls)
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr.startswith("_")
            }
            assert not stored, f"{file.name}: {cls.name} stores {stored}; pass it in the context"


def test_there_is_one_training_loop():
    calls = {
        str(file.relative_to(SOURCE))
        for file in FILES
        for node in ast.walk(tree(file))
        if isinstance(node, ast.Attribute) and node.attr == "backward"
    }
    assert calls == {"training/trainer.py"}


def test_no_pickle_and_no_print():
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        assert "import pickle" not in text, file
        assert "torch.load(" not in text, file
        assert "allow_pickle=True" not in text, file


def test_no_utils():
    forbidden = {"utils", "helpers", "manager", "common", "misc"}
    assert not [file for file in FILES if file.stem in forbidden or file.parent.name in forbidden]
