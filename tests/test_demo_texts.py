import ast
import sys
from collections import Counter

import pytest

from shoal import demo_texts
from shoal.demo_texts import DemoText, standard_library_texts
from shoal.errors import ParameterError


@pytest.fixture
def some_modules(monkeypatch):
    """Only a few modules and packages, private and left-out ones among them: to parse them all takes seconds."""
    names = {"shutil", "json", "csv", "textwrap", "wsgiref", "imaplib", "turtle", "_abc", "this", "pydoc_data"}
    monkeypatch.setattr(sys, "stdlib_module_names", frozenset(names))


@pytest.fixture
def texts(some_modules):
    return standard_library_texts(modules=None)


@pytest.mark.slow
def test_the_whole_library_gives_several_thousand_different_sentences():
    texts = standard_library_texts(modules=None)
    assert len(texts) > 2000
    check_sentences(texts)
    check_names(texts)
    assert not {text.module for text in texts} & {
        "test",
        "idlelib",
        "lib2to3",
        "turtledemo",
        "pydoc_data",
        "ensurepip",
    }


def test_sentences_and_names_are_proper(texts):
    check_sentences(texts)
    check_names(texts)
    assert {text.module for text in texts} == {"shutil", "json", "csv", "textwrap", "wsgiref", "imaplib", "turtle"}


def check_sentences(texts):
    assert len({text.text.casefold() for text in texts}) == len(texts)
    assert all(len(text.text.split()) >= 4 for text in texts)
    assert all(text.text == " ".join(text.text.split()) for text in texts)


def check_names(texts):
    for text in texts:
        assert text.module in sys.stdlib_module_names
        assert text.name.split(".")[0] == text.module
        assert not any(part.startswith("_") for part in text.name.split("."))


def test_a_well_known_text_is_there(texts):
    (found,) = [text for text in texts if text.name == "shutil.copyfile"]
    assert found == DemoText(
        "Copy data from src to dst in the most efficient way possible.", "shutil", "shutil.copyfile"
    )


def test_the_largest_modules_are_kept_in_order(texts):
    everything = texts
    largest = standard_library_texts(modules=3)
    kept = Counter(text.module for text in largest)
    assert kept == dict(Counter(text.module for text in everything).most_common(3))
    assert largest == [text for text in everything if text.module in kept]
    assert [text.module for text in everything] == sorted(text.module for text in everything)


def test_nothing_of_the_library_is_imported(some_modules):
    imported_before = set(sys.modules)
    assert {"turtle", "imaplib"} <= {text.module for text in standard_library_texts(modules=None)}
    assert not {"tkinter", "turtle", "imaplib"} & (set(sys.modules) - imported_before)


def test_no_modules_is_an_error():
    with pytest.raises(ParameterError, match="modules=0 leaves no texts; pass modules >= 1"):
        standard_library_texts(modules=0)


@pytest.mark.parametrize(
    ("docstring", "sentence"),
    [
        ("Close the file  and\n    free it. Then return.", "Close the file and free it."),
        ("Use it, e.g. for a test. More.", "Use it, e.g. for a test."),
        ("D.get(k[,d]) -> D[k] if k in D", ""),
        ("D.get(k)\nReturn the value of k.", "Return the value of k."),
        ("key=None, reverse=False\n\nSort the list in place.", "Sort the list in place."),
        ("t.open(file) returns a pipe for\nreading or writing data.", ""),
        ("retval\nPrint the last return value.", "Print the last return value."),
        ("Read all of the file\n\n>>> read()", "Read all of the file"),
        ("Give the parts of it:\n- the first\n- the second", "Give the parts of it:"),
        ("The big thing here\n==================\n", "The big thing here"),
        ("Too short.", ""),
        ("", ""),
    ],
)
def test_first_sentence(docstring, sentence):
    tree = ast.parse(f"def f():\n    {docstring!r}\n")
    found = [text.text for text in demo_texts._docstrings(tree, "m", "m")]
    assert found == ([sentence] if sentence else [])
