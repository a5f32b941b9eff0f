"""Work that several processes share: each computes some groups of texts, and every one gets the rows of all.

Inside :func:`shared`, :func:`own_groups` yields this worker's groups alone, and :func:`in_order` fetches the rows of
the others, with gradients. Outside of it, which is the normal case, one process computes everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, distributed

ROWS_PER_SUM = 65_536


@dataclass(frozen=True)
class Share:
    """Which of the workers this one is, from 0, and of how many."""

    number: int
    of: int


_share: ContextVar[Share | None] = ContextVar("share", default=None)


@contextmanager
def shared(share: Share) -> Iterator[None]:
    """Share the work inside the block with the other workers, which must run the same block.

    Examples
    --------
    >>> with shared(Share(1, of=2)):
    ...     list(own_groups([3, 4, 5, 6]))
    [4, 6]
    """
    before = _share.set(share)
    try:
        yield
    finally:
        _share.reset(before)


def own_groups(groups: Iterable[Any]) -> Iterator[Any]:
    """Yield the groups that this worker computes: all of them, unless the work is shared.

    If it is, each group has its own seed: its dropout depends neither on who computes it nor on how many workers there
    are. The random state that follows is the same on every worker.
    """
    share = _share.get()
    if share is None:
        yield from groups
        return
    seed = int(torch.randint(2**62, ()))
    with torch.random.fork_rng():
        for number, group in enumerate(groups):
            if number % share.of == share.number:
                torch.manual_seed(seed + number)
                yield group


def in_order(
    groups: Sequence[NDArray[np.int64]],
    parts: Sequence[Tensor],
    shape: tuple[int, ...],
    device: torch.device,
    source: Tensor | None = None,
) -> Tensor:
    """Put rows that were computed group by group, here or by other workers, into their order.

    Parameters
    ----------
    groups : sequence of ndarray of int64
        The places of the rows of each group computed here.
    parts : sequence of Tensor
        Their rows.
    shape : tuple of int
        The shape of the result.
    device : torch.device
        Where the result is, also if no group was computed here.
    source : Tensor, optional
        What the rows were computed from, if that came from all workers too: its gradient is then awaited by all, also
        by those that computed nothing from it.

    Examples
    --------
    >>> groups, parts = [np.array([2]), np.array([0, 1])], [torch.tensor([7]), torch.tensor([5, 6])]
    >>> in_order(groups, parts, (3,), torch.device("cpu"))
    tensor([5, 6, 7])
    """
    if _share.get() is None:
        order = torch.from_numpy(np.argsort(np.concatenate(groups), kind="stable"))
        values = torch.cat(list(parts))
        return values[order.to(values.device)]
    own = torch.cat([torch.zeros((0, *shape[1:]), device=device), *(part.float() for part in parts)])
    places = torch.from_numpy(np.concatenate([np.empty(0, np.int64), *groups])).to(device)
    # Every worker takes part in the backward pass, also one that has computed nothing: hence always a source.
    if source is None:
        source = torch.zeros((), device=device, requires_grad=torch.is_grad_enabled())
    gathered: Tensor = _Gathered.apply(own, source, places, shape)  # type: ignore[no-untyped-call]
    return gathered


def mean_of_all(mean: Tensor, weight: int) -> Tensor:
    """Return the weighted mean of the means that the workers have over their own groups, with gradients."""
    share = _share.get()
    if share is None:
        return mean
    own = (mean * weight)[None]
    total = sum_of_all(torch.tensor(float(weight)))
    return in_order([np.array([share.number])], [own], (share.of,), mean.device).sum() / total.clamp_min(1).item()


def sum_of_all(values: Tensor) -> Tensor:
    """Sum a tensor over the workers, in place and without gradients."""
    share = _share.get()
    if share is not None and share.of > 1:
        distributed.all_reduce(values)
    return values


def sum_rows_of_all(rows: NDArray[np.float32]) -> None:
    """Sum an array over the workers, in place and in blocks, because it may be larger than the memory."""
    for first in range(0, len(rows), ROWS_PER_SUM):
        block = torch.from_numpy(rows[first : first + ROWS_PER_SUM])
        sum_of_all(block)


class _Gathered(torch.autograd.Function):
    """The rows of all workers. Each worker's loss depends on every row, so gradients are summed over the workers."""

    @staticmethod
    def forward(ctx: Any, own: Tensor, source: Tensor, places: Tensor, shape: tuple[int, ...]) -> Tensor:
        """Each row is not zero on one worker only: the sum is exact."""
        ctx.save_for_backward(places)
        ctx.source_shape = source.shape
        return sum_of_all(own.new_zeros(shape).index_copy_(0, places, own))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None]:
        """Return this worker's rows of the summed gradient."""
        (places,) = ctx.saved_tensors
        total = sum_of_all(gradients[0].contiguous().clone())
        return total[places], total.new_zeros(ctx.source_shape), None, None
