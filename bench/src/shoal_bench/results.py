"""The results: one file, one JSON object per line, only ever appended to.

Any number of processes may append at once. A line that a killed process left unfinished is healed by the next one.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock

from shoal.errors import DataError, MissingExtraError, ModelError

SCHEMA = 1
DEFAULT_FILE = Path("bench/results/bench.jsonl")
OK, FAILED, UNAVAILABLE = "ok", "failed", "unavailable"

Record = dict[str, Any]


class Results:
    """Records in a jsonl file.

    Parameters
    ----------
    file : Path
        The file; it need not be there yet.
    say : callable
        Gets a line for people now and then: what had to be healed, and what came of a run.

    Examples
    --------
    >>> import tempfile
    >>> results = Results(Path(tempfile.mkdtemp()) / "bench.jsonl")
    >>> results.append({"schema": 1, "key": "a", "status": "failed"})
    >>> results.append({"schema": 1, "key": "a", "status": "ok"})
    >>> len(results.records()), results.by_key()["a"]["status"]
    (2, 'ok')
    """

    def __init__(self, file: Path, say: Callable[[str], None] = lambda line: None) -> None:
        self.file = file
        self.say = say

    def records(self) -> list[Record]:
        """Return every record in the order of the file; a line that is not yet finished is omitted.

        Raises
        ------
        DataError
            If the file cannot be read, or a finished line is not a record.
        """
        try:
            content = self.file.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as reason:
            raise DataError(f"results {self.file} cannot be read ({reason.strerror}); name another file.") from reason
        records = []
        for number, line in enumerate(content.split(b"\n")[:-1], start=1):
            record = json_object(line)
            if record is not None and _is_record(record):
                records.append(record)
            elif line.strip():
                raise DataError(
                    f"line {number} of {self.file} is not a record of schema {SCHEMA}; fix or remove that line, or "
                    f"read it with the version of Shoal that wrote it."
                )
        return records

    def by_key(self) -> dict[str, Record]:
        """Return what is known of each cell: its last record that is ``ok``, else its last record."""
        known: dict[str, Record] = {}
        for record in self.records():
            key = record["key"]
            if record["status"] == OK or known.get(key, record)["status"] != OK:
                known[key] = record
        return known

    def append(self, record: Mapping[str, Any]) -> None:
        """Add a record: one line, one write, on the disk when this returns."""
        line = (json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n").encode()
        with self._lock():
            self._heal()
            self._write(line)

    def prepare(self) -> None:
        """See to it that records can be added, before hours are spent on them: make the file, repair its last line.

        Raises
        ------
        DataError
            If the file cannot be written.
        """
        try:
            with self._lock():
                self.file.open("ab").close()
                self._heal()
        except OSError as reason:
            raise DataError(
                f"results cannot be written to {self.file} ({reason.strerror}); name another file with --results."
            ) from reason

    def _lock(self) -> FileLock:
        """Return the lock beside the file; the system releases it when its holder dies."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        return FileLock(self.file.with_name(f".{self.file.name}.lock"))

    def _heal(self) -> None:
        """End a whole last line, move a torn one to a file beside, and say so; under the lock."""
        content = self.file.read_bytes() if self.file.exists() else b""
        tail = content[content.rfind(b"\n") + 1 :]
        if not tail:
            return
        if json_object(tail) is not None:
            self._write(b"\n")
            self.say(f"the last line of {self.file} had no end; it was ended.")
            return
        torn = self.file.with_name(f"{self.file.name}.torn")
        with torn.open("ab") as stream:
            stream.write(tail + b"\n")
        with self.file.open("r+b") as stream:
            stream.truncate(len(content) - len(tail))
            os.fsync(stream.fileno())
        self.say(f"the last line of {self.file} was torn off in the middle; it was moved to {torn}.")

    def _write(self, content: bytes) -> None:
        """Append bytes and wait until they are on the disk."""
        with self.file.open("ab") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())


def json_object(line: bytes) -> dict[str, Any] | None:
    """Return the JSON object of a line, or None."""
    try:
        content = json.loads(line)
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def _is_record(content: Mapping[str, Any]) -> bool:
    """Tell a record from whatever else may stand in a file."""
    known = content.get("schema") == SCHEMA and content.get("status") in (OK, FAILED, UNAVAILABLE)
    return known and isinstance(content.get("key"), str)


def attempted(work: Callable[[], Record]) -> Record:
    """Return what some work found; if it raised, the status and the reason."""
    try:
        return work()
    except (MissingExtraError, ModelError) as reason:
        return {"status": UNAVAILABLE, "reason": one_line(str(reason))}
    except Exception as reason:
        return {"status": FAILED, "reason": one_line(f"{type(reason).__name__}: {reason}")}


def new_record(key: str, **facts: Any) -> Record:
    """Return a record of something that is going well, as of now in UTC."""
    when = datetime.now(UTC).isoformat(timespec="seconds")
    return {"schema": SCHEMA, "key": key, **facts, "status": OK, "reason": "", "when": when}


def extras_of(record: Record | None) -> set[str]:
    """Return the extras that a record has."""
    return set((record or {}).get("extras") or ())


def key_of(content: Mapping[str, Any], data_sha256: str = "") -> str:
    """Return what names some plain values, and the data if they are about data, in the results."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256((canonical + data_sha256).encode()).hexdigest()[:16]


def one_line(reason: str) -> str:
    """Return a reason as one line without the names of folders, which are nobody's business.

    Examples
    --------
    >>> one_line("model 'a/b' is not in /home/me/models/x;   see https://x.org/y")
    "model 'a/b' is not in …; see https://x.org/y"
    """
    return re.sub(r"(?<![\w.:/])/(?:[^\s/'\"]+/)+[^\s'\",;:)]*", "…", " ".join(reason.split()))[:500]
