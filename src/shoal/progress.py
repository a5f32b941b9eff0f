"""A progress line with the time left, for anything that takes longer than two seconds.

Library code writes ``with progress("Encoding", total) as bar: … bar.advance(n)``. Nothing is shown before
two seconds have passed, nor when standard error is not a terminal, nor when ``SHOAL_QUIET`` is set. On a terminal the
line appears then even if the first unit is not done. Of bars within bars only one is shown, the first that appears.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE_SECONDS = 2.0
_drawing = threading.Lock()
_shown: set[progress] = set()  # the one bar on the screen, if any


def announce(sentence: str) -> None:
    """Say something on standard error before work begins, under the same conditions as a progress line."""
    if os.environ.get("SHOAL_QUIET"):
        return
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal or console.is_jupyter:
        console.print(sentence, markup=False, highlight=False)


class progress:
    """Show the progress of some work on standard error.

    Parameters
    ----------
    label : str
        What is being done.
    total : int, optional
        The number of units; None if it is not known before the end.
    unit : str, default="texts"
        What is counted.

    Examples
    --------
    >>> with progress("Counting", total=3) as bar:
    ...     for _ in range(3):
    ...         bar.advance(1)
    """

    def __init__(self, label: str, total: int | None, unit: str = "texts") -> None:
        self.label = label
        self.total = total
        self.unit = unit
        self._done = 0
        self._detail = ""
        self._display: Progress | None = None
        self._task: TaskID | None = None
        self._alarm: threading.Timer | None = None

    def __enter__(self) -> progress:
        self._started = time.monotonic()
        if not os.environ.get("SHOAL_QUIET") and sys.stderr is not None and sys.stderr.isatty():
            self._alarm = threading.Timer(PATIENCE_SECONDS, self._open)
            self._alarm.daemon = True
            self._alarm.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        with _drawing:
            self._started = float("inf")  # an alarm that has just gone off draws nothing any more
            if self._display is not None:
                self._display.stop()
                _shown.clear()

    def advance(self, units: int, detail: str = "") -> None:
        """Count ``units`` as done; ``detail`` is a short text shown beside the bar."""
        self._done += units
        self._detail = detail
        if self._display is None:
            if os.environ.get("SHOAL_QUIET") or time.monotonic() - self._started < PATIENCE_SECONDS:
                return
            self._open()
        if self._display is not None and self._task is not None:
            self._display.update(self._task, completed=self._done, detail=detail)

    def _open(self) -> None:
        """Draw the bar for the first time, if standard error is a terminal and no other bar is there."""
        with _drawing:
            if self._display is None and not _shown and self._started < float("inf"):
                self._draw()

    def _draw(self) -> None:
        """Draw the bar."""
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        console = Console(stderr=True)
        if not (console.is_terminal or console.is_jupyter):
            self._started = float("inf")  # no terminal: never check again
            return
        self._display = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(self.unit),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[detail]}"),
            console=console,
            transient=True,
        )
        self._task = self._display.add_task(self.label, total=self.total, completed=self._done, detail=self._detail)
        self._display.start()
        _shown.add(self)
