"""The counting of writes, on which the kills rely."""

from __future__ import annotations

import os
from pathlib import Path

from campaign.tracing import Ending, run_traced


def test_every_change_below_the_folder_counts_and_no_other(tmp_path):
    watched, elsewhere = tmp_path / "watched", tmp_path / "elsewhere"
    watched.mkdir()

    def action() -> None:
        elsewhere.write_text("not counted")
        (watched / "a").write_text("made, then written")  # 1, 2
        (watched / "a").read_text()
        (watched / "a").rename(watched / "b")  # 3
        os.chdir(watched)
        Path("c").mkdir()  # 4
        Path("c").rmdir()  # 5
        raise SystemExit(7)

    assert run_traced(action, watched) == Ending(writes=5, code=7)
    assert [path.name for path in watched.iterdir()] == ["b"]
    (watched / "b").unlink()
    assert run_traced(action, watched, kill_at=3) == Ending(writes=3, code=None)
    assert (watched / "a").read_text() == "made, then written"
    assert run_traced(lambda: None, watched, kill_at=1) == Ending(writes=0, code=0)
