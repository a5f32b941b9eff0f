"""Texts that come with every Python: the docstrings of the standard library."""

from __future__ import annotations

import ast
import re
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shoal.errors import ParameterError

# Tests, GUI tools, tables, and copies of other projects.
_LEFT_OUT = frozenset({"antigravity", "ensurepip", "idlelib", "lib2to3", "pydoc_data", "test", "this", "turtledemo"})
_FEWEST_WORDS = 4
_SENTENCE_END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\beg)(?<!\bie)(?<!\bvs)(?<!\betc)[.!?](?=\s|$)")
# An empty line, a list, an example or a section ends what can be the first sentence.
_PARAGRAPH_END = re.compile(r"\n\s*(?:\n|[-*] |>>>|(?:Args?|Arguments|Parameters|Returns?|Raises|Usage|Example):)")
# "D.get(k[,d]) -> value", "open(file, mode)", "key=None, reverse=False", "usage: …", ">>> 1 + 1", "-----"
_NO_SENTENCE = re.compile(r".*(?:->| = |\w=\w+,)|[\w.]+\(|\w+(?: \w+)? \[|usage:|[^\w\"'`]", re.IGNORECASE)


@dataclass(frozen=True)
class DemoText:
    """One text and its source.

    Parameters
    ----------
    text : str
        The first sentence of a docstring.
    module : str
        The top-level module or package, used as the label.
    name : str
        The full name of the module, class, function or method.
    """

    text: str
    module: str
    name: str


def standard_library_texts(modules: int | None = 20) -> list[DemoText]:
    """Collect the first sentences of the standard library's docstrings.

    The source files are parsed, never imported. Public modules, classes, functions and methods are included; a
    sentence has four words or more, without duplicates. Modules written in C have no source and no texts.

    Parameters
    ----------
    modules : int or None
        Keep only the top-level modules with the most texts, this many of them; None keeps all.

    Returns
    -------
    list of DemoText
        Ordered by module, file and line: the same list on every call.

    Raises
    ------
    ParameterError
        `modules` is less than 1.

    Examples
    --------
    >>> texts = standard_library_texts(modules=5)
    >>> len({text.module for text in texts})
    5
    """
    if modules is not None and modules < 1:
        raise ParameterError(f"modules={modules} leaves no texts; pass modules >= 1, or None for all.")
    library = Path(sysconfig.get_paths()["stdlib"])
    seen: set[str] = set()
    texts = []
    for module in sorted(sys.stdlib_module_names - _LEFT_OUT):
        if module.startswith("_"):
            continue
        for text in _module_texts(library, module):
            if text.text.casefold() not in seen:
                seen.add(text.text.casefold())
                texts.append(text)
    largest = dict(Counter(text.module for text in texts).most_common(modules))
    return [text for text in texts if text.module in largest]


def _module_texts(library: Path, module: str) -> Iterator[DemoText]:
    """Texts of a module's file, or of every public file of a package."""
    single = library / f"{module}.py"
    files = [single] if single.is_file() else sorted((library / module).rglob("*.py"))
    for file in files:
        path = file.relative_to(library).with_suffix("").parts
        path = path[:-1] if path[-1] == "__init__" else path
        if any(part.startswith("_") or part in {"test", "tests"} for part in path):
            continue
        # The code page tables all have the same docstring.
        if path[0] == "encodings" and len(path) > 1:
            continue
        yield from _docstrings(ast.parse(file.read_bytes()), module, ".".join(path))


def _docstrings(
    node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, module: str, name: str
) -> Iterator[DemoText]:
    """Text of a definition and, unless it is a function, of the public definitions inside it."""
    sentence = _first_sentence(ast.get_docstring(node) or "")
    if sentence:
        yield DemoText(sentence, module, name)
    if isinstance(node, ast.Module | ast.ClassDef):
        for child in node.body:
            if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and child.name[0] != "_":
                yield from _docstrings(child, module, f"{name}.{child.name}")


def _first_sentence(docstring: str) -> str:
    """First sentence after any signatures or short titles, or "" if it is too short."""
    for paragraph in _PARAGRAPH_END.split(docstring):
        lines = [line.strip() for line in paragraph.splitlines() if any(map(str.isalpha, line))]
        continued = False
        while lines and (_NO_SENTENCE.match(lines[0]) or _is_title(lines) or continued):
            lines.pop(0)
            continued = bool(lines) and lines[0][0].islower()
        if lines:
            text = " ".join(" ".join(lines).split())
            end = _SENTENCE_END.search(text)
            sentence = text[: end.end()] if end else text
            return sentence if len(sentence.split()) >= _FEWEST_WORDS else ""
    return ""


def _is_title(lines: list[str]) -> bool:
    """Tell whether a few words form a line of their own, above a sentence."""
    return len(lines) > 1 and len(lines[0].split()) < _FEWEST_WORDS and lines[1][:1].isupper()
