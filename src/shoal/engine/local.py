"""What every engine can do, and the one that is this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, Self, TypeVar

Block = TypeVar("Block")
Result = TypeVar("Result")


class Engine(Protocol):
    """Maps functions over blocks."""

    name: str
    is_local: bool

    @property
    def n_workers(self) -> int:
        """How many blocks are worked on at once."""

    def map_blocks(self, function: Callable[[Block], Result], blocks: Iterable[Block]) -> Iterator[Result]:
        """Yield the function of each block, in the order of the blocks, however they were finished.

        Blocks are taken from the iterable as workers become free, so that a stream needs no more room than the few
        that are under way. What the function holds, such as an encoder, travels to each worker once.
        """

    def keep(self, block: Block) -> Block:
        """Return a block that may be mapped over many times and travels to the workers once."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...


class LocalEngine:
    """One block after the other, in this process."""

    name = "local"
    is_local = True
    n_workers = 1

    def map_blocks(self, function: Callable[[Block], Result], blocks: Iterable[Block]) -> Iterator[Result]:
        """Yield the function of each block."""
        return map(function, blocks)

    def keep(self, block: Block) -> Block:
        """Return the block."""
        return block

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None: ...
