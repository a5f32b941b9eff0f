"""Where blocks of work are computed: in this process, or by the workers of a Ray cluster.

Code that works block by block asks for ``current_engine()`` and maps a function over its blocks. The caller decides
where that happens, around the whole call::

    with use_engine("ray", workers=4):
        model = Shoal(20).fit(texts)

An engine changes when a result is there, not what it is, and is therefore no parameter of a method: a saved model does
not know it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from shoal.engine.local import Engine, LocalEngine
from shoal.errors import ParameterError, did_you_mean

__all__ = ["ENGINES", "Engine", "current_engine", "use_engine"]

LOCAL, RAY = "local", "ray"
ENGINES = (LOCAL, RAY)
_current: ContextVar[Engine] = ContextVar("engine", default=LocalEngine())  # noqa: B039 - it has no state


def current_engine() -> Engine:
    """Return the engine of the innermost :func:`use_engine`; without one, this process.

    Examples
    --------
    >>> list(current_engine().map_blocks(sum, [[1, 2], [3]]))
    [3, 3]
    """
    return _current.get()


@contextmanager
def use_engine(name: str = LOCAL, workers: int | None = None) -> Iterator[Engine]:
    """Compute inside the block with this engine.

    Parameters
    ----------
    name : {"local", "ray"}, default="local"
        This process, or a Ray cluster: the one that ``RAY_ADDRESS`` names, or one of this machine alone, which is
        started here and ended after the block. The extra ``ray`` installs Ray.
    workers : int, optional
        Processes of Ray, of one thread each; by default as many as the cluster has cores.

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
    if workers is not None and (name == LOCAL or workers < 1):
        least = "it needs at least 1" if name != LOCAL else "the local engine is this process alone"
        raise ParameterError(f"workers={workers} but {least}; omit it, or pass engine 'ray' and workers >= 1.")
    engine: Engine
    if name == LOCAL:
        engine = LocalEngine()
    else:
        from shoal.engine.ray import RayEngine

        engine = RayEngine(workers)
    with engine:
        before = _current.set(engine)
        try:
            yield engine
        finally:
            _current.reset(before)
