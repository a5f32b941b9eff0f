"""Runs to look at, and a browser to look with."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import pytest

from cli_tickets import made_table
from shoal.fitting import FitJob, start_fit
from shoal.report import Contents
from shoal.run_folder import RunFolder

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge", "chrome")


@pytest.fixture(scope="session")
def browser():
    """Return a headless Chromium; any that is installed will do."""
    from playwright.sync_api import Error, sync_playwright

    installed = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as playwright:
        try:
            # Root, as in most containers, has no sandbox of Chromium's own.
            arguments = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
            opened = playwright.chromium.launch(executable_path=installed, args=arguments)
        except Error as reason:
            pytest.skip(f"NO CHROMIUM: the pages are NOT tested; apt-get install chromium ({reason.message[:80]})")
        yield opened
        opened.close()


@dataclass
class Opened:
    """A page in the browser, and what went wrong on it."""

    page: object
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture
def opened(browser) -> Iterator:
    """Return a function that opens a file; afterwards the page has had no error and asked for nothing else.

    With ``refused``, its policy has refused something.
    """
    pages: list[tuple[Opened, object, bool]] = []

    def open_page(path: Path, *, refused: bool = False, **options) -> object:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        context.set_default_timeout(60_000)
        shown = Opened(context.new_page())
        shown.page.on("console", lambda said: shown.errors.append(said.text) if said.type == "error" else None)
        shown.page.on("pageerror", lambda error: shown.errors.append(str(error)))
        shown.page.on("request", lambda request: shown.requests.append(request.url))
        shown.page.goto(path.as_uri(), timeout=60_000)
        pages.append((shown, context, refused))
        return shown.page

    yield open_page
    for shown, context, refused in pages:
        context.close()
        assert all("Content Security Policy" in error for error in shown.errors) if refused else shown.errors == []
        assert bool(shown.errors) == refused
        assert len(shown.requests) == 1, f"the page asked for {shown.requests[1:]}"


def fit(table: pl.DataFrame, folder: Path, **job) -> Path:
    """Fit a table with the fast method and return the run."""
    table.write_parquet(folder / "table.parquet")
    params = {"n_clusters": 3, "n_init": 2, **job.pop("params", {})}
    settings = {"text": "body", "label": "topic", "method": "tfidf-kmeans", **job}
    return start_fit(FitJob(str(folder / "table.parquet"), params=params, **settings), folder / "run").run


@pytest.fixture(scope="session")
def run(tmp_path_factory) -> Path:
    """Return a run on 120 tickets of three topics, one of them empty."""
    return fit(made_table(120, empty=(4,)), tmp_path_factory.mktemp("tickets"))


@pytest.fixture
def contents(run) -> Contents:
    """Return what the report shows of that run."""
    return Contents.read(RunFolder.open(run))
