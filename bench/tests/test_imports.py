"""The bench imports the product through few of its rooms; the product imports nothing of the bench."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
BENCH = sorted((ROOT / "bench" / "src").rglob("*.py"))
ROOMS = {
    *("augment", "cache", "cli", "clusterers", "corpus", "demo_texts", "encoder", "engine", "environment", "errors"),
    "functional",
    *("methods", "metrics", "n_clusters", "naming", "progress", "sorting", "text", "training", "vectors"),
}


def imported(file: Path) -> set[str]:
    modules = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file.name} imports relatively; name the module in full"
            modules.add(node.module)
        elif isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
    return modules


def test_the_product_imports_nothing_of_the_bench():
    files = sorted((ROOT / "src").rglob("*.py"))
    assert files
    assert not [file for file in files if any(module.startswith("shoal_bench") for module in imported(file))]


def test_the_bench_imports_the_product_through_known_rooms():
    modules = {module for file in BENCH for module in imported(file) if module.startswith("shoal.")}
    assert {module.split(".")[1] for module in modules} <= ROOMS
    assert {module for module in modules if module.startswith("shoal.cli")} == {"shoal.cli.console"}


def test_no_pickle_and_one_plain_loop():
    texts = {file.name: file.read_text(encoding="utf-8") for file in BENCH}
    assert not [name for name, text in texts.items() if "import pickle" in text or "allow_pickle=True" in text]
    assert [name for name, text in texts.items() if ".backward()" in text] == ["plain_loop.py"]
