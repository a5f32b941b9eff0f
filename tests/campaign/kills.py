"""A small training run, killed at every write and resumed: it must end where the uninterrupted one ends."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from campaign.forked_shoal import Answer, ForkedShoal
from campaign.table import Attack
from cli_tickets import made_table
from shoal.run_folder import LEFTOVERS, RunFolder
from tiny_backbone import tiny_backbone

SETTINGS = ("batch_size=10", "learning_rate=0.001", "augmentation=char_swap", "max_steps=6", "checkpoint_every=2")
KINDS = ("new", "overwrite")


class KilledFits:
    """The same fit again and again, in one folder, killed at one write after the other."""

    def __init__(self, shoal: ForkedShoal, kind: str, base: Path) -> None:
        self.shoal, self.kind, self.base = shoal, kind, base
        base.mkdir(parents=True, exist_ok=True)
        made_table().write_csv(base / "tickets.csv")
        fit = ["fit", base / "tickets.csv", "--text", "body", "--method", "sccl", "--clusters", 3]
        fit += ["--backbone", tiny_backbone(base / "backbone"), "--stages"]
        for setting in (*SETTINGS, "tolerance=none"):
            fit += ["--set", setting]
        self.fit = fit
        self.run = shoal.folder / "run"
        self.old = base / "old"
        if kind == "overwrite":
            self._must(*fit, "--seed", 5, "--out", shoal.folder / "old")
            shutil.move(shoal.folder / "old", self.old)
        self.command = [*fit, "--out", self.run, *(["--overwrite"] if kind == "overwrite" else [])]
        self._clean()
        self.writes = self._must(*self.command).writes
        self.expected = self._answer()

    def _must(self, *arguments: object) -> Answer:
        answer = self.shoal(*arguments)
        if answer.code != 0:
            raise RuntimeError(answer.err)
        return answer

    def _clean(self) -> None:
        """Begin with an empty folder, or with the run that will be replaced."""
        shutil.rmtree(self.shoal.folder)
        self.shoal.folder.mkdir()
        if self.kind == "overwrite":
            shutil.copytree(self.old, self.run)

    def _answer(self) -> list[tuple[object, ...]]:
        return pl.read_parquet(self.run / "assignments.parquet").rows()

    def attacks(self, numbers: Iterator[int] | range | list[int]) -> Iterator[Attack]:
        """Kill at each of these writes."""
        for number in numbers:
            yield self.attack(number)

    def attack(self, number: int) -> Attack:
        """Kill at the write of this number, and resume."""
        self._clean()
        killed = self.shoal(*self.command, kill_at=number)
        what = f"{self.kind} fit killed at write {number} of {self.writes}"
        if killed.code is not None:
            return Attack("kills", what, f"it was not killed but ended with {killed.code}: {killed.err}")
        return Attack("kills", what, self._resumed() or self._tidy())

    def _resumed(self) -> str:
        """Resume; return what is wrong."""
        before = sorted(path.name for path in self.shoal.folder.iterdir())
        resumed = self.shoal("fit", "--resume", self.run)
        if self._nothing_had_begun(resumed):
            if self.kind == "overwrite" and not (self.run / "run.json").is_file():
                return f"the old run is gone; there were {before}"
            resumed = self.shoal(*self.command)
        return "" if resumed.code == 0 else f"--resume ended with {resumed.code}: {resumed.err}; there were {before}"

    def _nothing_had_begun(self, resumed: Answer) -> bool:
        """Tell whether the kill came before the request was on disk: the same command must then work again."""
        if self.run.with_name("run.partial").joinpath("request.json").exists():
            return False
        if resumed.code == 0:
            return "already finished" in resumed.err and self.kind == "overwrite" and self._answer() != self.expected
        return resumed.code == 7 and "start" in resumed.err

    def _tidy(self) -> str:
        """Return what is wrong with the run that resuming left."""
        RunFolder.open(self.run)
        if self._answer() != self.expected:
            return "the resumed run has other labels or confidences"
        left = [name for name in LEFTOVERS if (self.run / name).exists()]
        left += [path.name for path in self.shoal.folder.iterdir() if path.name not in ("run", "cache")]
        return f"left behind: {left}" if left else ""
