"""Unpacking gzip files and parts of zip files without filling the memory: a few bytes can stand for gigabytes."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable, Iterator

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
        If it expands more than 250-fold.
    EOFError, zlib.error
        If it is damaged.
    """
    return b"".join(unzip([raw], len(raw)))


def unzip(chunks: Iterable[bytes], packed: int) -> Iterator[bytes]:
    """Yield the content of a gzip file of ``packed`` bytes, as `unzipped` returns it, in chunks."""
    unpacked = 0
    member = None
    for rest in chunks:
        full = False  # more than a chunk came out, and some of it may still be held back
        while rest or full:
            if member is None or member.eof:
                rest = rest if member is None else rest.lstrip(b"\0")  # padding is allowed between members
                if not rest:
                    break
                member = zlib.decompressobj(wbits=31)
            data = member.decompress(rest, _CHUNK)
            unpacked += len(data)
            _check_ratio(unpacked, packed)
            yield data
            rest = member.unused_data if member.eof else member.unconsumed_tail
            full = len(data) == _CHUNK
    if member is None or not member.eof:
        raise EOFError("it ends before its end marker")


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
