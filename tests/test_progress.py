from __future__ import annotations

import contextlib
import io

import pytest

from shoal import progress as progress_module
from shoal.progress import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """Time that passes only when told to."""

    class Clock:
        now = 100.0

    monkeypatch.setattr(progress_module.time, "monotonic", lambda: Clock.now)
    return Clock


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "SHOAL_QUIET"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")


def shown(clock, seconds, *, screen=None, total=10, detail="", breaks_off=False):
    """Work for some seconds and return what stood on the screen."""
    screen = screen or Terminal()
    with contextlib.redirect_stderr(screen), progress("Encoding", total, unit="fish") as bar:
        for _ in range(total):
            clock.now += seconds / total
            bar.advance(1, detail)
        if breaks_off:
            raise KeyboardInterrupt
    return screen.getvalue()


def test_long_work_is_shown_with_label_count_unit_and_detail(clock, capsys):
    seen = shown(clock, 30, detail="loss 0.5")
    assert [part for part in ("Encoding", "10/10", "fish", "left", "loss 0.5") if part not in seen] == []
    assert capsys.readouterr() == ("", "")


def test_short_work_is_not_shown(clock):
    assert shown(clock, 1.9) == ""


def test_nothing_is_shown_when_quiet(clock, monkeypatch):
    monkeypatch.setenv("SHOAL_QUIET", "1")
    assert shown(clock, 30) == ""


def test_nothing_is_written_where_nobody_looks(clock):
    assert shown(clock, 30, screen=io.StringIO()) == ""


def test_an_interruption_passes_and_gives_the_cursor_back(clock):
    screen = Terminal()
    with pytest.raises(KeyboardInterrupt):
        shown(clock, 30, screen=screen, breaks_off=True)
    hidden, given_back = "\x1b[?25l", "\x1b[?25h"
    assert 0 <= screen.getvalue().rindex(hidden) < screen.getvalue().rindex(given_back)


def test_no_work_at_all(clock):
    assert shown(clock, 30, total=1)
    with progress("Nothing", 0):
        pass


def test_work_without_a_finished_unit_is_shown_too(monkeypatch):
    monkeypatch.setattr(progress_module, "PATIENCE_SECONDS", 0.05)
    screen = Terminal()
    with contextlib.redirect_stderr(screen), progress("Clustering", 3, unit="steps"):
        for _ in range(200):
            if "Clustering" in screen.getvalue():
                break
            progress_module.time.sleep(0.02)
    assert "Clustering" in screen.getvalue()
    assert "0/3" in screen.getvalue()


def test_a_bar_within_a_bar_is_not_shown(clock):
    screen = Terminal()
    with contextlib.redirect_stderr(screen), progress("Outer", 2) as outer:
        clock.now += 5
        outer.advance(1)
        with progress("Inner", 2) as inner:
            clock.now += 5
            inner.advance(1)
        outer.advance(1)
    assert "Outer" in screen.getvalue()
    assert "Inner" not in screen.getvalue()
    assert "Encoding" in shown(clock, 30)  # afterwards another may
