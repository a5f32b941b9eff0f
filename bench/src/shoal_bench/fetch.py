"""Fetching the data sets from where they are published.

No data comes with Shoal. What is fetched is converted to ``NAME.tsv.gz`` and compared with the declared checksum, so
that a figure measured anywhere was measured on the same texts.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import http.client
import json
import tarfile
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from shoal.cache import write_atomically
from shoal.errors import DataError
from shoal.progress import progress
from shoal_bench.data_sets import DATA_SETS
from shoal_bench.sources import cleaned, rows_of

# The pauses before another attempt; one more attempt than there are pauses.
_PAUSES_SECONDS = (1.0, 4.0, 16.0)
_TIMEOUT_SECONDS = 30.0
_CHUNK_BYTES = 1 << 20
# Answers that another attempt may change.
_PASSING = (408, 429, 500, 502, 503, 504)


@dataclass(frozen=True)
class Fetched:
    """A data set that is there now.

    Attributes
    ----------
    name : str
        Its name.
    file : Path
        Its file.
    already : bool
        Whether it was there before.
    """

    name: str
    file: Path
    already: bool


def fetch(names: Sequence[str], folder: Path, tell: Callable[[Fetched], None] = lambda fetched: None) -> list[Fetched]:
    """Fetch data sets that the folder does not have yet.

    Parameters
    ----------
    names : sequence of str
        Their names.
    folder : Path
        Where the files go; made if need be.
    tell : callable, optional
        Gets each data set as soon as it is there.

    Returns
    -------
    list of Fetched
        In the order of ``names``.

    Raises
    ------
    DataError
        If there is no such data set, its source cannot be reached, or what is there is not what was declared; the
        converted file is then kept beside it as ``NAME.tsv.gz.bad``.
    """
    for name in names:
        if name not in DATA_SETS:
            raise DataError(f"there is no data set {name!r} to fetch; the names are {', '.join(DATA_SETS)}.")
    fetched = []
    for name in names:
        file = DATA_SETS[name].file(folder)
        already = _is_declared(file, name)
        if not already:
            _keep(_converted(name, _downloaded(name)), file, name)
        fetched.append(Fetched(name, file, already))
        tell(fetched[-1])
    return fetched


def as_tsv(rows: Iterable[tuple[str, str]]) -> bytes:
    r"""Return rows as the content of a data set's file; rows without text are omitted.

    Examples
    --------
    >>> as_tsv([("fish", " a  cod\n"), ("bird", "\t")])
    b'label\ttext\nfish\ta cod\n'
    """
    lines = [f"{label}\t{text}" for label, text in ((cleaned(label), cleaned(text)) for label, text in rows) if text]
    return "".join(f"{line}\n" for line in ("label\ttext", *lines)).encode()


def _is_declared(file: Path, name: str) -> bool:
    """Tell whether the file is there and has the declared content."""
    try:
        return hashlib.sha256(gzip.decompress(file.read_bytes())).hexdigest() == DATA_SETS[name].sha256
    except (OSError, EOFError, zlib.error):
        return False


def _downloaded(name: str) -> list[bytes]:
    """Return the contents of a data set's published files."""
    contents = []
    with progress(f"Fetching {name}", total=len(DATA_SETS[name].urls), unit="files") as bar:
        for url in DATA_SETS[name].urls:
            contents.append(_download(url, name, partial(bar.advance, 0)))
            bar.advance(1)
    return contents


def _download(url: str, name: str, tell: Callable[[str], None]) -> bytes:
    """Return what is at an address, after some attempts if need be."""
    reason: Exception | None = None
    for pause in (*_PAUSES_SECONDS, None):
        try:
            return _content(url, tell)
        except urllib.error.HTTPError as refusal:
            reason = refusal
            if refusal.code not in _PASSING:
                break
        # a body shorter than announced is an HTTPException; everything else about networks is an OSError
        except (OSError, http.client.HTTPException) as trouble:
            reason = trouble
        if pause is not None:
            tell(f"{reason}; again in {pause:.0f} s")
            time.sleep(pause)
    raise DataError(
        f"data set {name!r}: {url} could not be downloaded ({reason}); check the connection and run the command again, "
        f"or put the file {name}.tsv.gz into the folder by hand."
    ) from reason


def _content(url: str, tell: Callable[[str], None]) -> bytes:
    """Read what is at an address, and tell how far it has come."""
    content = b""
    with urllib.request.urlopen(url, timeout=_TIMEOUT_SECONDS) as answer:
        announced = int(answer.headers.get("Content-Length") or 0)
        while chunk := answer.read(_CHUNK_BYTES):
            content += chunk
            tell(f"{len(content) / 1e6:.1f} MB")
    if len(content) < announced:  # which read() with a size does not say
        raise http.client.IncompleteRead(content, announced - len(content))
    return content


def _converted(name: str, contents: Sequence[bytes]) -> bytes:
    """Return the uncompressed content of the data set's file."""
    try:
        return as_tsv(rows_of(DATA_SETS[name], contents))
    except (ValueError, LookupError, TypeError, EOFError, OSError, csv.Error, tarfile.TarError, zlib.error) as reason:
        kind = "not JSON, " if isinstance(reason, json.JSONDecodeError) else ""
        raise DataError(
            f"data set {name!r}: what is at {DATA_SETS[name].urls[0]} is not in the form that was expected "
            f"({kind}{type(reason).__name__}: {reason}); its source may have changed."
        ) from reason


def _keep(content: bytes, file: Path, name: str) -> None:
    """Write the file, or the bad one beside it and an error."""
    packed = gzip.compress(content, mtime=0)
    found, declared = hashlib.sha256(content).hexdigest(), DATA_SETS[name].sha256
    if found == declared:
        write_atomically(file, packed)
        return
    bad = file.with_name(f"{file.name}.bad")
    write_atomically(bad, packed)
    raise DataError(
        f"data set {name!r}: the fetched content has the sha256 {found}, but {declared} was declared; figures on it "
        f"could not be compared, so it is kept as {bad} only. Has its source changed?"
    )
