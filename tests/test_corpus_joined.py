"""Several text columns are joined, row by row."""

from __future__ import annotations

import pandas
import pytest

from shoal import Corpus
from shoal.errors import DataError

TABLE = {"title": ["Late", None, " ", ""], "body": ["Where is it?", "Broken", "Wrong size", None], "n": [1, 2, 3, 4]}


@pytest.mark.parametrize("text", ["title,body", "title, body", ["title", "body"]])
def test_columns_are_joined_by_line_ends(text):
    corpus = Corpus.of(pandas.DataFrame(TABLE), text=text)
    assert corpus.texts == ["Late\nWhere is it?", "Broken", "Wrong size", ""]
    assert (corpus.notes["empty"], corpus.notes["missing"]) == (1, 1)
    assert corpus.frame.columns == ["title", "body", "n"]


def test_a_number_may_be_one_of_them():
    assert Corpus.of(TABLE, text="title,n").texts == ["Late\n1", "2", "3", "4"]


def test_a_column_whose_name_has_a_comma_is_one_column():
    assert Corpus.of({"a,b": ["x"], "a": ["y"], "b": ["z"]}, text="a,b").texts == ["x"]


def test_a_missing_one_is_named():
    with pytest.raises(DataError, match=r"no column 'bdy'.*Did you mean 'body'\?"):
        Corpus.of(TABLE, text="title,bdy")
