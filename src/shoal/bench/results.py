"""The results: one file, one JSON object a line, only ever appended to.

Any number of processes may append at once. A line that a killed process left unfinished is healed by the next one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock

from shoal.errors import DataError

SCHEMA = 1
DEFAULT_FILE = Path("benchmarks/results/bench.jsonl")
OK, FAILED, UNAVAILABLE = "ok", "failed", "unavailable"

Record = dict[str, Any]


class Results:
    """Records in a jsonl file.

    Parameters
    ----------
    file : Path
        The file; it need not be there yet.

    Examples
    --------
    >>> import tempfile
    >>> results = Results(Path(tempfile.mkdtemp()) / "bench.jsonl")
    >>> _ = results.append({"schema": 1, "key": "a", "status": "failed"})
    >>> _ = results.append({"schema": 1, "key": "a", "status": "ok"})
    >>> len(results.records()), results.by_key()["a"]["status"]
    (2, 'ok')
    """

    def __init__(self, file: Path) -> None:
        self.file = file

    def records(self) -> list[Record]:
        """Return every record in the order of the file; a line that is not yet finished is left out.

        Raises
        ------
        DataError
            If a finished line is not a JSON object.
        """
        try:
            content = self.file.read_bytes()
        except FileNotFoundError:
            return []
        records = []
        for number, line in enumerate(content.split(b"\n")[:-1], start=1):
            record = _parsed(line)
            if record is None and line.strip():
                raise DataError(f"line {number} of {self.file} is not a JSON object; mend or remove that line.")
            if record is not None:
                records.append(record)
        return records

    def by_key(self) -> dict[str, Record]:
        """Return what is known of each cell: its last record that is ``ok``, else its last record."""
        known: dict[str, Record] = {}
        for record in self.records():
            key = record.get("key")
            if key is not None and (record["status"] == OK or known.get(key, record)["status"] != OK):
                known[key] = record
        return known

    def append(self, record: Mapping[str, Any]) -> str:
        """Add a record: one line, one write, on the disk when this returns.

        Returns
        -------
        str
            What had to be healed before; mostly nothing, "".
        """
        line = (json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n").encode()
        with self._lock():
            healed = self._heal()
            self._write(line)
        return healed

    def heal(self) -> str:
        """Mend a last line that was not finished; return what was done in a sentence, or ""."""
        if not self.file.exists():
            return ""
        with self._lock():
            return self._heal()

    def _lock(self) -> FileLock:
        """Return the lock beside the file; the system releases it when its holder dies."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        return FileLock(self.file.with_name(f".{self.file.name}.lock"))

    def _heal(self) -> str:
        """End a whole last line, move a torn one to a file beside; under the lock."""
        content = self.file.read_bytes() if self.file.exists() else b""
        tail = content[content.rfind(b"\n") + 1 :]
        if not tail:
            return ""
        if _parsed(tail) is not None:
            self._write(b"\n")
            return f"the last line of {self.file} had no end; it was ended."
        torn = self.file.with_name(f"{self.file.name}.torn")
        with torn.open("ab") as stream:
            stream.write(tail + b"\n")
        with self.file.open("r+b") as stream:
            stream.truncate(len(content) - len(tail))
            os.fsync(stream.fileno())
        return f"the last line of {self.file} was torn off in the middle; it was moved to {torn}."

    def _write(self, content: bytes) -> None:
        """Append bytes and wait until they are on the disk."""
        with self.file.open("ab") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())


def _parsed(line: bytes) -> Record | None:
    """Return the JSON object of a line, or None."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None
