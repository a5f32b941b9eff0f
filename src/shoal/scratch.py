"""Large arrays on disk: what is not being read or written takes no memory."""

from __future__ import annotations

import contextlib
import mmap
import os
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from shoal.cache import cache_folder

# Smaller arrays stay in memory: a corpus of some 150,000 texts, whose vectors any machine holds.
IN_MEMORY_BYTES = 256 * 1024**2
# So many rows are worked on at a time.
ROWS_AT_A_TIME = 20_000
# Rows that are spread over a file: with each, the system maps the pages around it, 64 KB on Linux.
SPREAD_ROWS = 2_000


def scratch(shape: tuple[int, ...], dtype: DTypeLike = np.float32) -> NDArray[Any]:
    """Return an array to be written, in a file without a name if it is large; the file goes with the array.

    Parameters
    ----------
    shape : tuple of int
        Its shape.
    dtype : dtype, default=float32
        Its type.

    Notes
    -----
    The file is in the cache folder, or in the system's folder for temporary files if that cannot be written. Where
    there is no room for it on disk, the array is in memory.

    Examples
    --------
    >>> scratch((2, 3)).shape
    (2, 3)
    """
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    if size > IN_MEMORY_BYTES:
        for folder in (cache_folder(), None):
            with contextlib.suppress(OSError), _file_of(size, folder) as file:
                return np.memmap(file, dtype=dtype, mode="r+", shape=shape)
    return np.empty(shape, dtype=dtype)


def _file_of(size: int, folder: Any) -> Any:
    """Return a new file of so many bytes, which has no name and so cannot be left behind."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - the caller closes it; a mapping stays
    try:
        _reserve(file, size)
    except OSError:
        file.close()
        raise
    return file


def _reserve(file: Any, size: int) -> None:
    """Take the room on disk now: a disk that fills up later would end the process without a word."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
    else:
        file.truncate(size)


def release(array: NDArray[Any]) -> None:
    """Let go of the memory of an array by :func:`scratch` that is on disk; what was written stays readable.

    Examples
    --------
    >>> release(np.ones(3))
    """
    mapping = getattr(array, "_mmap", None)
    if mapping is not None and hasattr(mapping, "madvise"):
        mapping.madvise(mmap.MADV_DONTNEED)


def in_blocks(*arrays: NDArray[Any]) -> Iterator[slice]:
    """Yield slices of rows that cover the arrays, which have as many rows each; after each, let go of its memory.

    Examples
    --------
    >>> [(block.start, block.stop) for block in in_blocks(np.empty(2 * ROWS_AT_A_TIME + 1))][-1]
    (40000, 40001)
    """
    n_rows = len(arrays[0])
    for begin in range(0, n_rows, ROWS_AT_A_TIME):
        yield slice(begin, min(begin + ROWS_AT_A_TIME, n_rows))
        for array in arrays:
            release(array)


def gathered(array: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[Any]:
    """Return a copy of some rows; of an array on disk, all of which they may be spread over, in blocks.

    Examples
    --------
    >>> gathered(np.arange(10) ** 2, np.array([3, 2]))
    array([9, 4])
    """
    if getattr(array, "_mmap", None) is None:
        copied: NDArray[Any] = array[rows]
        return copied
    copy = np.empty((len(rows), *array.shape[1:]), dtype=array.dtype)
    for begin in range(0, len(rows), SPREAD_ROWS):
        block = slice(begin, begin + SPREAD_ROWS)
        copy[block] = array[rows[block]]
        release(array)
    return copy
