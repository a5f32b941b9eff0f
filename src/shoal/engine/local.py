"""What every engine can do, and the one that is this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, Self, TypeVar

from shoal.engine.processes import LocalProcesses

Block = TypeVar("Block")
Result = TypeVar("Result")


class Crew(Protocol):
    """Processes that work with this one, which leads them, on something that is not split into blocks: training."""

    size: int

    def start(self, work: Callable[[str, int, int], None]) -> str:
        """Call a function of some module, ``work(address, number, size)``, in each of the others; return the address.

        They meet there, as ``torch.distributed`` writes addresses; this process has number 0.
        """

    def lost(self) -> str:
        """Say which of them has ended, and how; an empty string if none has."""

    def end(self) -> None:
        """End those that still run."""


class Engine(Protocol):
    """Maps functions over blocks."""

    name: str
    is_local: bool

    @property
    def n_workers(self) -> int:
        """How many processes share the work."""

    def map_blocks(self, function: Callable[[Block], Result], blocks: Iterable[Block]) -> Iterator[Result]:
        """Yield the function of each block, in the order of the blocks, however they were finished.

        Blocks are taken from the iterable as workers become free, so that a stream needs no more room than the few
        that are under way. What the function holds, such as an encoder, travels to each worker once; not again with the
        next call, if the function has the same ``fingerprint``.
        """

    def keep(self, block: Block) -> Block:
        """Return a block that may be mapped over many times and travels to the workers once."""

    def crew(self) -> Crew:
        """Return processes that train together with this one."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...


class LocalEngine:
    """One block after the other, in this process; several processes of this machine may train together.

    Parameters
    ----------
    workers : int, default=1
        How many train, this process included.
    """

    name = "local"
    is_local = True

    def __init__(self, workers: int = 1) -> None:
        self.n_workers = workers

    def map_blocks(self, function: Callable[[Block], Result], blocks: Iterable[Block]) -> Iterator[Result]:
        """Yield the function of each block."""
        return map(function, blocks)

    def keep(self, block: Block) -> Block:
        """Return the block."""
        return block

    def crew(self) -> Crew:
        """Return the processes that train together."""
        return LocalProcesses(self.n_workers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None: ...
