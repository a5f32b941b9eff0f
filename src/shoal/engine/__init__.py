"""Where blocks of work are computed: in this process, or by the workers of a Ray cluster.

Code that works block by block asks for ``current_engine()`` and maps a function over its blocks. The caller decides
where that happens, around the whole call::

    with use_engine("ray", workers=4):
        model = Shoal(20).fit(texts)

An engine changes when a result is there, not what it is, and is therefore no parameter of a method: a saved model does
not know it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from shoal.engine.local import Block, Engine, LocalEngine, Result
from shoal.errors import ParameterError, did_you_mean

__all__ = ["ENGINES", "Engine", "block_size", "current_engine", "map_shared", "use_engine"]

LOCAL, RAY = "local", "ray"
ENGINES = (LOCAL, RAY)
# So few texts or rows are not worth sending.
LEAST_ITEMS = 64
# Blocks of each worker: while the last ones are worked on, others have nothing to do.
BLOCKS_EACH = 8
_current: ContextVar[Engine] = ContextVar("engine", default=LocalEngine())  # noqa: B039 - it has no state


def current_engine() -> Engine:
    """Return the engine of the innermost :func:`use_engine`; without one, this process.

    Examples
    --------
    >>> list(current_engine().map_blocks(sum, [[1, 2], [3]]))
    [3, 3]
    """
    return _current.get()


def block_size(n_items: int, most: int) -> int:
    """Return how many texts or rows a block should have, of so many in all, and at most ``most``.

    With workers, each has several blocks, so that the last ones to finish keep nobody waiting for long. Items that are
    worked on here before they would have reached a worker are one block.

    Examples
    --------
    >>> block_size(100_000, most=20_000), block_size(10, most=20_000)
    (20000, 20000)
    """
    engine = current_engine()
    if engine.is_local or n_items <= LEAST_ITEMS:
        return most
    return min(most, max(LEAST_ITEMS, math.ceil(n_items / (BLOCKS_EACH * engine.n_workers))))


def map_shared(function: Callable[[Block], Result], blocks: Iterable[Block], n_items: int) -> Iterator[Result]:
    """Map a function over blocks by the current engine, or here if there are too few items in all for workers."""
    engine = current_engine() if n_items > LEAST_ITEMS else LocalEngine()
    return engine.map_blocks(function, blocks)


@contextmanager
def use_engine(name: str = LOCAL, workers: int | None = None, *, trains: bool = True) -> Iterator[Engine]:
    """Compute inside the block with this engine.

    Parameters
    ----------
    name : {"local", "ray"}, default="local"
        This process, or a Ray cluster: the one that ``RAY_ADDRESS`` names, or one of this machine alone, which is
        started here and ended after the block. The extra ``ray`` installs Ray.
    workers : int, optional
        Processes of Ray, of one thread each; by default as many as the cluster has cores. Of the local engine: how
        many processes of this machine train together, for a method that fine-tunes an encoder; by default one.
    trains : bool, default=True
        Whether anything may be trained in the block; if not, local workers are refused.

    Raises
    ------
    ParameterError
        If there is no such engine, or there are not so many cores.
    MissingExtraError
        If Ray is not installed.
    EngineError
        If the cluster cannot be reached.

    Examples
    --------
    >>> with use_engine("local") as engine:
    ...     engine.n_workers
    1
    """
    if name not in ENGINES:
        raise ParameterError(
            f"engine {name!r} is unknown; pass one of {', '.join(ENGINES)}.{did_you_mean(name, ENGINES)}"
        )
    if workers is not None and workers < 1:
        raise ParameterError(f"workers={workers} but it needs at least 1; omit it, or pass workers >= 1.")
    if workers is not None and name == LOCAL and not trains:
        raise ParameterError(
            f"workers={workers} but the local engine's workers only train; omit it, or pass engine 'ray'."
        )
    engine: Engine
    if name == LOCAL:
        engine = LocalEngine(workers or 1)
    else:
        from shoal.engine.ray import RayEngine

        engine = RayEngine(workers)
    with engine:
        before = _current.set(engine)
        try:
            yield engine
        finally:
            _current.reset(before)
