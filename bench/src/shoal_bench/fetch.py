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
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from shoal.cache import write_atomically
from shoal.errors import DataError
from shoal.progress import progress
from shoal_bench.data_sets import DATA_SETS, DataSet
from shoal_bench.sources import cleaned, rows_of

# The pauses before another attempt; one more attempt than there are pauses.
_PAUSES_SECONDS = (1.0, 4.0, 16.0)
_TIMEOUT_SECONDS = 30.0
_CHUNK_BYTES = 1 << 20
LARGEST_BYTES = 1 << 30  # the largest declared source has a tenth of it
# Answers that another attempt may change.
_PASSING = (408, 429, 500, 502, 503, 504)


def fetch(names: Sequence[str], folder: Path) -> Iterator[tuple[DataSet, bool]]:
    """Fetch data sets that the folder does not have yet.

    Parameters
    ----------
    names : sequence of str
        Their names.
    folder : Path
        Where the files go; made if need be.

    Yields
    ------
    data_set : DataSet
        Each data set as soon as it is there, in the order of ``names``.
    already : bool
        Whether it was there before.

    Raises
    ------
    DataError
        If there is no such data set, its source cannot be reached, or what is there is not what was declared; the
        converted file is then kept beside it as ``NAME.tsv.gz.bad``.
    """
    for name in names:
        if name not in DATA_SETS:
            raise DataError(f"there is no data set {name!r} to fetch; the names are {', '.join(DATA_SETS)}.")
    for data_set in (DATA_SETS[name] for name in names):
        already = _is_declared(data_set, folder)
        if not already:
            _keep(_converted(data_set, _downloaded(data_set)), data_set, folder)
        yield data_set, already


def as_tsv(rows: Iterable[tuple[str, str]]) -> bytes:
    r"""Return rows as the content of a data set's file; rows without text are omitted.

    Examples
    --------
    >>> as_tsv([("fish", " a  cod\n"), ("bird", "\t")])
    b'label\ttext\nfish\ta cod\n'
    """
    lines = [f"{label}\t{text}" for label, text in ((cleaned(label), cleaned(text)) for label, text in rows) if text]
    return "".join(f"{line}\n" for line in ("label\ttext", *lines)).encode()


def _is_declared(data_set: DataSet, folder: Path) -> bool:
    """Tell whether the file is there and has the declared content."""
    try:
        content = gzip.decompress(data_set.file(folder).read_bytes())
    except (OSError, EOFError, zlib.error):
        return False
    return hashlib.sha256(content).hexdigest() == data_set.sha256


def _downloaded(data_set: DataSet) -> list[bytes]:
    """Return the contents of a data set's published files."""
    contents = []
    with progress(f"Fetching {data_set.name}", total=len(data_set.urls), unit="files") as bar:
        for url in data_set.urls:
            contents.append(_download(url, data_set.name, partial(bar.advance, 0)))
            bar.advance(1)
    return contents


def _download(url: str, name: str, tell: Callable[[str], None]) -> bytes:
    """Return what is at an address, after some attempts if need be."""
    pauses = iter(_PAUSES_SECONDS)
    while True:
        try:
            return _content(url, tell)
        # a body shorter than announced is an HTTPException; everything else about networks is an OSError
        except (OSError, http.client.HTTPException) as trouble:
            final = isinstance(trouble, urllib.error.HTTPError) and trouble.code not in _PASSING
            pause = next(pauses, None)
            if final or pause is None:
                raise DataError(
                    f"data set {name!r}: {url} could not be downloaded ({trouble}); check the connection and run the "
                    f"command again, or put the file {name}.tsv.gz into the folder by hand."
                ) from trouble
            tell(f"{trouble}; again in {pause:.0f} s")
            time.sleep(pause)


def _content(url: str, tell: Callable[[str], None]) -> bytes:
    """Read what is at an address, and tell how far it has come."""
    content = b""
    with urllib.request.urlopen(url, timeout=_TIMEOUT_SECONDS) as answer:
        announced = int(answer.headers.get("Content-Length") or 0)
        while chunk := answer.read(_CHUNK_BYTES):
            content += chunk
            if max(len(content), announced) > LARGEST_BYTES:
                raise DataError(
                    f"{url} has more than {LARGEST_BYTES / 1e6:.0f} MB ({max(len(content), announced) / 1e6:.0f} MB), "
                    "more than any declared data set; its source may have changed."
                )
            tell(f"{len(content) / 1e6:.1f} MB")
    if len(content) < announced:  # which read() with a size does not say
        raise http.client.IncompleteRead(content, announced - len(content))
    return content


def _converted(data_set: DataSet, contents: Sequence[bytes]) -> bytes:
    """Return the uncompressed content of the data set's file."""
    try:
        return as_tsv(rows_of(data_set, contents))
    except (ValueError, LookupError, TypeError, EOFError, OSError, csv.Error, tarfile.TarError, zlib.error) as reason:
        kind = "not JSON, " if isinstance(reason, json.JSONDecodeError) else ""
        raise DataError(
            f"data set {data_set.name!r}: what is at {data_set.urls[0]} is not in the form that was expected "
            f"({kind}{type(reason).__name__}: {reason}); its source may have changed."
        ) from reason


def _keep(content: bytes, data_set: DataSet, folder: Path) -> None:
    """Write the file, or the bad one beside it and an error."""
    found, file = hashlib.sha256(content).hexdigest(), data_set.file(folder)
    good = found == data_set.sha256
    kept = file if good else file.with_name(f"{file.name}.bad")
    write_atomically(kept, gzip.compress(content, mtime=0))
    if not good:
        raise DataError(
            f"data set {data_set.name!r}: the fetched content has the sha256 {found}, but {data_set.sha256} was "
            f"declared; figures on it could not be compared, so it is kept as {kept} only. Has its source changed?"
        )
