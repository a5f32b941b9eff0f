"""A folder of texts: one text per file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from shoal.corpus.encodings import decode
from shoal.errors import DataError

SUFFIXES = (".txt", ".md")


def read_folder(folder: Path, encoding: str | None = None) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Read the texts of a folder and the folders below it, in the order of their names.

    Parameters
    ----------
    folder : Path
        The folder. Files and folders whose names begin with a dot are left out, and files that are not ``.txt`` or
        ``.md``.
    encoding : str, optional
        Forces an encoding; otherwise each file's is detected.

    Returns
    -------
    frame : polars.DataFrame
        The columns ``file``, the path within the folder, and ``text``; an empty file has an empty text.
    notes : dict
        ``files``, and ``encoding_guessed``, ``encoding`` and ``replaced_characters`` where they apply.

    Raises
    ------
    DataError
        If there is no such file, or one cannot be read.
    """
    files = sorted(
        (file.relative_to(folder).as_posix(), file)
        for file in folder.rglob("*")
        if file.suffix.lower() in SUFFIXES and file.is_file()
    )
    files = [(name, file) for name, file in files if not any(part.startswith(".") for part in name.split("/"))]
    if not files:
        raise DataError(
            f"{folder} is a folder without {' or '.join(SUFFIXES)} files or tables; pass a file, or another folder."
        )
    texts, notes = [], {"files": len(files)}
    for name, file in files:
        try:
            raw = file.read_bytes()
            text, found = decode(raw, encoding) if raw else ("", {})
        except (OSError, DataError) as reason:
            raise DataError(f"{folder / name} cannot be read: {reason}") from reason
        texts.append(text.strip())
        if found.get("encoding_guessed"):
            notes |= {"encoding_guessed": True, "encoding": found["encoding"]}
        if found.get("replaced_characters"):
            notes["replaced_characters"] = notes.get("replaced_characters", 0) + found["replaced_characters"]
    return pl.DataFrame({"file": [name for name, _ in files], "text": texts}), notes
