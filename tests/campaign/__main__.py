"""``make campaign``: attack Shoal for as long as one likes, and print a table of what was tried and what failed.

Every failure is written to the folder of the results, with what is needed to try it again.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from campaign.busy import BusyMachine
from campaign.files import OddFiles
from campaign.forked_shoal import ForkedShoal
from campaign.hostile import HostileFolders
from campaign.kills import KINDS, KilledFits
from campaign.table import Attack, table_of
from campaign.values import OddValues

CHAPTERS = ("files", "values", "hostile", "kills", "busy")


def main() -> None:
    """Run the chapters asked for."""
    options = _options()
    options.results.mkdir(parents=True, exist_ok=True)
    found: list[Attack] = []
    started = time.monotonic()
    for chapter in options.chapters:
        with tempfile.TemporaryDirectory(prefix="campaign-") as folder:
            for attack in _attacks(chapter, options, Path(folder)):
                found.append(attack)
                if attack.failure:
                    _write(options.results, len(found), attack, options.seed)
                if sys.stderr.isatty() or len(found) % 100 == 0:
                    sys.stderr.write(f"\r{len(found)} tried, {_failed(found)} failed, at: {attack.what[:70]:70}")
                    sys.stderr.flush()
    sys.stderr.write("\n")
    sys.stdout.write(f"{table_of(found)}\n\nSeed {options.seed}, {time.monotonic() - started:.0f} s.\n")
    sys.exit(1 if _failed(found) else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make campaign", description=__doc__)
    parser.add_argument("--chapters", nargs="+", choices=CHAPTERS, default=CHAPTERS, help="what to attack")
    parser.add_argument("--files", type=int, default=2000, help="odd files to read and to write")
    parser.add_argument("--values", type=int, default=5000, help="odd values of parameters")
    parser.add_argument("--hostile", type=int, default=200, help="tampered run folders")
    parser.add_argument("--every", type=int, default=1, help="kill at every n-th write")
    parser.add_argument("--rows", type=int, default=2000, help="rows of the fit on a busy machine")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", type=Path, default=Path("campaign-results"), help="where failures are written")
    return parser.parse_args()


def _attacks(chapter: str, options: argparse.Namespace, folder: Path) -> Iterator[Attack]:
    """Run one chapter."""
    if chapter == "files":
        yield from OddFiles(folder, options.seed).attacks(options.files)
    elif chapter == "values":
        resource.setrlimit(resource.RLIMIT_AS, (16 << 30, resource.RLIM_INFINITY))
        yield from OddValues(folder, options.seed).attacks(options.values)
    elif chapter == "busy":
        yield from BusyMachine(folder, options.rows).attacks()
    else:
        with ForkedShoal(folder / "watched") as shoal:
            if chapter == "hostile":
                yield from HostileFolders(shoal, options.seed).attacks(options.hostile)
                return
            for kind in KINDS:
                fits = KilledFits(shoal, kind, folder / kind)
                yield from fits.attacks(range(1, fits.writes + 1, options.every))


def _failed(found: list[Attack]) -> int:
    return sum(bool(attack.failure) for attack in found)


def _write(results: Path, number: int, attack: Attack, seed: int) -> None:
    """Write a failure, with what is needed to try it again."""
    content = {"chapter": attack.chapter, "what": attack.what, "failure": attack.failure, "seed": seed}
    name = next(path for i in itertools.count() if not (path := results / f"failure-{number}-{i}.json").exists())
    name.write_text(json.dumps(content, indent=2) + "\n")
    for file in attack.files:
        (results / f"{name.stem}-{file.name}").write_bytes(file.read_bytes())


if __name__ == "__main__":
    main()
