"""Threads: one for small operations, which several threads only slow down."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

# Up to this many rows a matrix product is quicker than waking a second thread, above all on a busy machine. Tried with
# 2,000 rows, where one thread is quicker, and 11,000, where two are.
SMALL_ROWS = 5_000


@contextmanager
def threads_for(n_rows: int) -> Iterator[None]:
    """Compute on one thread inside the block, if there are few rows; the matrix products of many keep theirs.

    Clustering is thousands of short operations. Each waits for its slowest thread, and on a busy machine that wait is
    longer than the operation.

    Parameters
    ----------
    n_rows : int
        Number of rows that are clustered.

    Examples
    --------
    >>> from threadpoolctl import threadpool_info
    >>> with threads_for(100):
    ...     {pool["num_threads"] for pool in threadpool_info()}
    {1}
    """
    with threadpool_limits(1 if n_rows <= SMALL_ROWS else None):
        yield


@contextmanager
def torch_threads_kept() -> Iterator[None]:
    """Restore torch's number of threads after the block, whoever changed it there: numba does so for all of OpenMP."""
    import torch

    before = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(before)
