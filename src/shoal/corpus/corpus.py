"""Corpus: the texts to cluster, and the table they came in."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.corpus.columns import (
    choose_text_column,
    columns_of,
    frame_of_columns,
    frame_of_items,
    require_column,
    strings_of,
    texts_of,
    unique_names,
    without_nesting,
)
from shoal.corpus.sources import read_source
from shoal.errors import DataError

RESERVED = ("cluster", "cluster_name", "confidence", "second_cluster", "second_confidence")


@dataclass(frozen=True, eq=False)
class Corpus:
    """Texts with their ids, their labels if any, and every row and column they came with.

    Make one with `Corpus.read` (files, streams) or `Corpus.of` (objects in memory). No row is ever dropped:
    ``texts[i]`` belongs to row ``i`` of the input, and is ``""`` where that row has no text.

    Parameters
    ----------
    frame : polars.DataFrame
        The input, rows and columns as they were read.
    text_column : str
        The column that holds the texts, or several with commas between them, whose texts are joined.
    id_column, label_column : str, optional
        The columns that hold ids and labels. Labels are only ever used for scoring.
    notes : mapping, optional
        What reading found and did; JSON-serialisable. Always ``rows`` and ``text_column_chosen``; if not zero,
        ``empty`` (rows without text), ``missing`` (those of them that are null or NaN), ``non_string`` (texts that
        were numbers, lists, …), ``duplicates`` (texts equal to an earlier one), and the notes of `read_source`
        except ``mixed``.

    Examples
    --------
    >>> corpus = Corpus.of(["late parcel", "", "parcel late", "late parcel"])
    >>> len(corpus), corpus.texts[1], corpus.notes["empty"], corpus.notes["duplicates"]
    (4, '', 1, 1)
    """

    frame: pl.DataFrame
    text_column: str
    id_column: str | None = None
    label_column: str | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(
        cls,
        source: str | Path | BinaryIO,
        *,
        text: str | Sequence[str] | None = None,
        id: str | None = None,
        label: str | None = None,
        encoding: str | None = None,
        format: str | None = None,
        sheet: str | None = None,
        query: str | None = None,
    ) -> Corpus:
        r"""Read a corpus from a file, a folder, many files, an object store, a database or standard input (``-``).

        The places are described at `read_source`, the formats and what happens to broken input at `read_table`.
        Without ``text`` the text column is the only column, or the only column of strings, or the only one of these
        that is not plainly numbers, dates, codes, addresses or a category, or the only one of these with a usual name
        (text, body, title, sentence, …); the id and label columns never qualify.

        Parameters
        ----------
        source : str, Path or binary file
            A path, a pattern, an address, ``-`` or an open stream.
        text, id, label : str, optional
            Names of columns. Several text columns, ``"title,body"`` or a list, are joined by line ends.
        encoding, format : str, optional
            Force an encoding or a format.
        sheet : str, optional
            The name or number of a workbook's sheet; needed if several have data.
        query : str, optional
            A select statement, for a database.

        Returns
        -------
        Corpus
            One text per row.

        Raises
        ------
        DataError
            If there is no such file or column, or there are no rows.

        Examples
        --------
        >>> import io
        >>> Corpus.read(io.BytesIO(b"id,body\n1,late parcel\n2,wrong size\n"), id="id").texts
        ['late parcel', 'wrong size']
        """
        frame, notes = read_source(source, encoding=encoding, format=format, sheet=sheet, query=query)
        if "files" in notes:  # a folder: the name of each file is its id
            text, id = text or "text", id or "file"
        return cls._of_frame(frame, notes, text, id, label)

    @classmethod
    def of(
        cls,
        data: Any,
        *,
        text: str | Sequence[str] | None = None,
        id: str | None = None,
        label: str | None = None,
    ) -> Corpus:
        """Make a corpus from objects in memory.

        Parameters
        ----------
        data : object
            A list or tuple of texts or of records (dicts), a dict of columns, a 1-D NumPy array, a Series or
            DataFrame of pandas or polars, any Arrow object (Table, Array, ChunkedArray), a ``datasets.Dataset``, or
            a Corpus, which is returned unchanged.
        text, id, label : str, optional
            Names of columns, as for `read`: ``text=["title", "body"]`` joins two. A column without a name is called
            ``text``.

        Returns
        -------
        Corpus
            One text per row.

        Raises
        ------
        DataError
            If the data cannot be read as a table, or has no such column or no rows.

        Examples
        --------
        >>> Corpus.of({"id": [7, 8], "query": ["opening hours", None]}, id="id").texts
        ['opening hours', '']
        """
        if isinstance(data, cls):
            return data
        frame, mixed = _frame_of(data)
        if frame.is_empty():
            raise DataError(f"the {type(data).__name__} has no rows; pass at least one text.")
        return cls._of_frame(frame, {"mixed": mixed}, text, id, label)

    @classmethod
    def _of_frame(
        cls,
        frame: pl.DataFrame,
        notes: dict[str, Any],
        text: str | Sequence[str] | None,
        id: str | None,
        label: str | None,
    ) -> Corpus:
        """Choose the columns and count empty, missing, non-string and duplicate texts."""
        text = text if text is None or isinstance(text, str) else ",".join(text)
        others = [require_column(frame, name) for name in (id, label) if name is not None]
        column, chosen = choose_text_column(frame, text, others)
        converted = notes.pop("mixed", {}).get(column, 0)
        counted: dict[str, Any] = {}
        corpus = cls(frame, column, id, label, counted)
        present = [text for text in corpus.texts if text]
        missing = texts_of(frame, column).null_count()
        kinds = [frame[name].dtype for name in columns_of(frame, column)]
        strings = all(kind in (pl.String, pl.Categorical, pl.Enum) for kind in kinds)
        counts = {
            "empty": len(frame) - len(present),
            "missing": missing,
            "non_string": converted if strings else len(frame) - missing,
            "duplicates": len(present) - len(set(present)),
        }
        counted |= {"rows": len(frame), "text_column_chosen": chosen} | notes
        counted |= {name: count for name, count in counts.items() if count}
        return corpus

    def __len__(self) -> int:
        return len(self.frame)

    @cached_property
    def texts(self) -> list[str]:
        """One text per row, without NUL characters; ``""`` where there is only white space."""
        cells = texts_of(self.frame, self.text_column).fill_null("").str.replace_all("\0", "", literal=True)
        return [text if text.strip() else "" for text in cells.to_list()]

    @cached_property
    def empty(self) -> npt.NDArray[np.bool_]:
        """True for the rows without text."""
        return np.array([not text for text in self.texts], dtype=bool)

    @property
    def ids(self) -> list[Any]:
        """The cells of the id column, or the row numbers from 0."""
        return list(range(len(self))) if self.id_column is None else self.frame[self.id_column].to_list()

    @cached_property
    def labels(self) -> list[str] | None:
        """The cells of the label column as strings, ``""`` where missing; None without such a column."""
        return None if self.label_column is None else strings_of(self.frame[self.label_column]).fill_null("").to_list()

    def require_texts(self) -> Corpus:
        """Return the corpus if it has any text; training needs one, prediction does not.

        Returns
        -------
        Corpus
            Itself.

        Raises
        ------
        DataError
            If every text is empty.

        Examples
        --------
        >>> Corpus.of(["late parcel", ""]).require_texts().texts
        ['late parcel', '']
        """
        if not any(self.texts):
            raise DataError(
                f"all {len(self)} texts in column {self.text_column!r} are empty; "
                "name another column with --text COLUMN (text='COLUMN')."
            )
        return self

    def content_hash(self) -> str:
        """Return a hash of the texts and their order.

        Returns
        -------
        str
            SHA-256, in hexadecimal, of the texts in UTF-8, each followed by a NUL, which no text contains.

        Examples
        --------
        >>> Corpus.of(["a", "b"]).content_hash() == Corpus.of(["b", "a"]).content_hash()
        False
        """
        return hashlib.sha256("".join(text + "\0" for text in self.texts).encode("utf-8")).hexdigest()

    def input_columns(self) -> pl.DataFrame:
        """Return the input as part of a result, beside the columns named in ``RESERVED``.

        Returns
        -------
        polars.DataFrame
            Columns with a reserved name are called ``input_<name>``; nested cells are JSON strings, bytes and
            durations are strings, so that every format can hold them.

        Examples
        --------
        >>> Corpus.of({"text": ["a"], "cluster": [3]}).input_columns().columns
        ['text', 'input_cluster']
        """
        kept = [name for name in self.frame.columns if name not in RESERVED]
        renamed = [name for name in self.frame.columns if name in RESERVED]
        names = dict(zip(kept + renamed, unique_names(kept + [f"input_{name}" for name in renamed]), strict=True))
        return without_nesting(self.frame).rename(names)


def _frame_of(data: Any) -> tuple[pl.DataFrame, dict[str, int]]:
    """Convert objects in memory to a frame; also count the cells converted to strings, by column."""
    if isinstance(data, pl.DataFrame):
        return data, {}
    if isinstance(data, pl.Series):
        return data.to_frame(data.name or "text"), {}
    if isinstance(data, (list, tuple)):
        return frame_of_items(data)
    if isinstance(data, np.ndarray) and data.ndim == 1:
        return frame_of_items(data.tolist())
    if isinstance(data, Mapping) and all(isinstance(column, (list, tuple, np.ndarray)) for column in data.values()):
        return frame_of_columns(data, data.values())
    if hasattr(data, "iloc"):  # pandas, whose Arrow export needs pyarrow
        if hasattr(data, "columns"):
            return frame_of_columns(data.columns, (data.iloc[:, i].tolist() for i in range(data.shape[1])))
        return frame_of_columns(["text" if data.name is None else data.name], [data.tolist()])
    if hasattr(data, "with_format") and hasattr(data, "select"):
        data = data.with_format("arrow")[:]  # datasets: honours select and shuffle, which its raw table does not
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return _frame_of_arrow(data), {}
    shape = f" of {data.ndim} dimensions" if isinstance(data, np.ndarray) else ""
    raise DataError(
        f"cannot take texts from {type(data).__name__}{shape}; pass a list of texts, a 1-D array, a Series "
        "or a DataFrame, an Arrow table or one split of a dataset; for a file use Corpus.read(path)."
    )


def _frame_of_arrow(data: Any) -> pl.DataFrame:
    """Convert Arrow objects, through the PyCapsule interface."""
    if hasattr(data, "rename_columns"):
        data = data.rename_columns(unique_names(data.column_names))
    made = pl.from_arrow(data)
    return made if isinstance(made, pl.DataFrame) else made.to_frame(made.name or "text")
