"""Unpacking gzip files and parts of zip files without filling the memory: a few bytes can stand for gigabytes."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator

from shoal.errors import DataError

# Tables of text shrink to a tenth, repetitive ones to a hundredth; what shrinks further was made to do harm.
_LARGEST_RATIO = 250
_UNCHECKED_BYTES = 64 * 1024**2
_CHUNK = 1 << 20


def unzipped(raw: bytes) -> bytes:
    """Return the content of a gzip file, of all its members.

    Raises
    ------
    DataError
        If it is damaged, or expands more than 250-fold.
    """
    out = io.BytesIO()
    rest = raw
    while rest:
        member = zlib.decompressobj(wbits=31)
        data = member.decompress(rest, _CHUNK)
        while data or member.unconsumed_tail:
            out.write(data)
            _check_ratio(out.tell(), len(raw))
            data = member.decompress(member.unconsumed_tail, _CHUNK)
        if not member.eof:
            raise EOFError("it ends before its end marker")
        rest = member.unused_data.lstrip(b"\0")  # padding is allowed between members
    return out.getvalue()


def read_part(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """Yield a part of a zip file, in chunks."""
    info = archive.getinfo(name)
    read = 0
    with archive.open(info) as stream:
        while chunk := stream.read(_CHUNK):
            read += len(chunk)
            _check_ratio(read, info.compress_size)
            yield chunk


def _check_ratio(unpacked: int, packed: int) -> None:
    """Refuse what expands too much."""
    if unpacked > _UNCHECKED_BYTES and unpacked > _LARGEST_RATIO * packed:
        raise DataError(
            f"{packed} bytes expand to more than {unpacked}, over {_LARGEST_RATIO} times as many; it is refused: "
            "unpack it yourself if you trust it."
        )
