"""A run appears whole or not at all, is never replaced unasked, and is not trusted once it was touched."""

from __future__ import annotations

import json
import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from shoal.cache import write_atomically
from shoal.errors import RunFolderError
from shoal.run_folder import RunFolder, claim_path, partial_path, tidy, unfinished, writing


def write_run(path: Path, content: str = "content", *, checkpoint="", stopped_by=None, **options) -> RunFolder:
    with writing(path, **options) as folder:
        if checkpoint:
            folder.checkpoints.mkdir()
            (folder.checkpoints / "1").write_text(checkpoint)
        if stopped_by:
            raise stopped_by
        folder.model.mkdir()
        (folder.model / "config.json").write_text(content)
        folder.clusters.write_text("[]")
        folder.seal({"seed": 1})
    return RunFolder(path)


def listed(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


class TestWriting:
    def test_appears_only_when_whole(self, tmp_path):
        with writing(tmp_path / "run") as folder:
            assert folder.path == tmp_path / "run.partial"
            assert not (tmp_path / "run").exists()
            folder.seal({})
        assert listed(tmp_path) == ["run"]

    def test_makes_the_folders_above(self, tmp_path):
        write_run(tmp_path / "a" / "b" / "run")
        assert (tmp_path / "a" / "b" / "run" / "run.json").is_file()

    @pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
    def test_a_failure_leaves_nothing(self, tmp_path, error):
        with pytest.raises(error):
            write_run(tmp_path / "new" / "run", stopped_by=error)
        assert listed(tmp_path) == []

    def test_a_failure_leaves_a_folder_that_was_there(self, tmp_path):
        (tmp_path / "mine").mkdir()
        with pytest.raises(ValueError), writing(tmp_path / "mine" / "run"):
            raise ValueError
        assert listed(tmp_path) == ["mine"]

    def test_checkpoints_survive_a_failure_and_are_found_by_resume(self, tmp_path):
        with pytest.raises(KeyboardInterrupt):
            write_run(tmp_path / "run", checkpoint="state", stopped_by=KeyboardInterrupt)
        assert listed(tmp_path) == ["run.partial"]
        with (
            pytest.raises(RunFolderError, match="holds an interrupted run; continue with --resume"),
            writing(tmp_path / "run"),
        ):
            pytest.fail("the checkpoints would be lost")
        with writing(tmp_path / "run", resume=True) as folder:
            assert (folder.checkpoints / "1").read_text() == "state"
        assert listed(tmp_path) == ["run"]

    def test_leftovers_without_checkpoints_are_swept(self, tmp_path):
        (tmp_path / "run.partial").mkdir()
        (tmp_path / "run.partial" / "assignments.csv").write_text("half a")
        write_run(tmp_path / "run")
        assert not (tmp_path / "run" / "assignments.csv").exists()

    def test_one_writer_at_a_time(self, tmp_path):
        inside, done = threading.Event(), threading.Event()

        def hold():
            with writing(tmp_path / "run") as folder:
                inside.set()
                done.wait(30)
                folder.seal({})

        holder = threading.Thread(target=hold)
        holder.start()
        assert inside.wait(30)
        try:
            with pytest.raises(RunFolderError, match=r"another process is writing .*run; wait for it"):
                write_run(tmp_path / "run")
            write_run(tmp_path / "other")  # another name is free
        finally:
            done.set()
            holder.join()
        assert listed(tmp_path) == ["other", "run"]
        RunFolder.open(tmp_path / "run")

    def test_a_run_that_appears_while_waiting_for_the_lock_is_not_replaced(self, tmp_path, monkeypatch):
        real = unfinished.FileLock

        class Late(real):  # type: ignore[valid-type, misc]
            def acquire(self, *args, **kwargs):
                if not (tmp_path / "run").exists():
                    (tmp_path / "run").mkdir()  # the other process has just finished
                return super().acquire(*args, **kwargs)

        monkeypatch.setattr(unfinished, "FileLock", Late)
        with pytest.raises(RunFolderError, match="exists; pass --overwrite"):
            write_run(tmp_path / "run")


class TestExisting:
    def test_is_refused(self, tmp_path):
        write_run(tmp_path / "run", "old")
        with pytest.raises(RunFolderError, match="exists; pass --overwrite to replace it, or another --out"):
            write_run(tmp_path / "run", "new")
        assert (tmp_path / "run" / "model" / "config.json").read_text() == "old"
        assert listed(tmp_path) == ["run"]

    def test_is_replaced_when_the_new_one_is_whole(self, tmp_path):
        write_run(tmp_path / "run", "old")
        with writing(tmp_path / "run", overwrite=True) as folder:
            assert (tmp_path / "run" / "model" / "config.json").read_text() == "old"
            folder.seal({})
        assert listed(tmp_path) == ["run"]
        assert not (tmp_path / "run" / "model").exists()

    def test_survives_a_failure_of_the_last_step(self, tmp_path, monkeypatch):
        write_run(tmp_path / "run", "old")
        real = Path.rename

        def fail(self, target):
            if self.name.endswith(".partial"):
                raise OSError("no")
            return real(self, target)

        monkeypatch.setattr(Path, "rename", fail)
        with pytest.raises(OSError, match="no"):
            write_run(tmp_path / "run", "new", overwrite=True)
        assert (tmp_path / "run" / "model" / "config.json").read_text() == "old"

    def test_an_empty_folder_may_be_replaced(self, tmp_path):
        (tmp_path / "run").mkdir()
        write_run(tmp_path / "run", overwrite=True)
        RunFolder.open(tmp_path / "run")

    def test_a_file_or_a_foreign_folder_may_not(self, tmp_path):
        (tmp_path / "file").write_text("mine")
        (tmp_path / "folder").mkdir()
        (tmp_path / "folder" / "photo").write_text("mine")
        for name, message in {"file": "is a file, not a run", "folder": "has no run.json"}.items():
            with pytest.raises(RunFolderError, match=message):
                write_run(tmp_path / name, overwrite=True)
        assert listed(tmp_path) == ["file", "folder"]

    @pytest.mark.parametrize("name", [".", "..", "/"])
    def test_a_place_without_a_name(self, name):
        with pytest.raises(RunFolderError, match="has no folder name"):
            write_run(Path(name), overwrite=True)

    def test_a_place_below_a_file(self, tmp_path):
        (tmp_path / "file").write_text("mine")
        with pytest.raises(RunFolderError, match="cannot be written"):
            write_run(tmp_path / "file" / "run")

    def test_claim_path_counts_on(self, tmp_path):
        assert claim_path(tmp_path / "a") == tmp_path / "a-1"
        assert claim_path(tmp_path / "a") == tmp_path / "a-2"  # the first is claimed, though nothing was written yet
        (tmp_path / "a-3").mkdir()
        partial_path(tmp_path / "a-4").mkdir()
        assert claim_path(tmp_path / "a") == tmp_path / "a-5"

    def test_claims_at_once_are_all_different(self, tmp_path):
        with ThreadPoolExecutor(8) as pool:
            claimed = list(pool.map(claim_path, [tmp_path / "runs" / "a"] * 40))
        assert len(set(claimed)) == 40


class TestKilled:
    """The states that a kill in the last step can leave; tests/campaign kills for real."""

    def test_a_complete_run_is_not_thrown_away(self, tmp_path):
        write_run(tmp_path / "run")
        (tmp_path / "run").rename(tmp_path / "run.partial")
        with pytest.raises(RunFolderError, match="holds an interrupted run; continue with --resume"):
            write_run(tmp_path / "run")
        with writing(tmp_path / "run", resume=True) as folder:
            assert folder.is_complete()
        RunFolder.open(tmp_path / "run")
        assert listed(tmp_path) == ["run"]

    def test_the_old_run_comes_back_if_the_new_one_had_not_taken_its_place(self, tmp_path):
        write_run(tmp_path / "run", "old")
        (tmp_path / "run.partial").mkdir()
        (tmp_path / "run").rename(tmp_path / "run.partial" / "replaced")
        with pytest.raises(KeyboardInterrupt):
            write_run(tmp_path / "run", overwrite=True, stopped_by=KeyboardInterrupt)
        assert (tmp_path / "run" / "model" / "config.json").read_text() == "old"
        assert listed(tmp_path) == ["run"]

    def test_leftovers_of_the_last_step_are_no_part_of_the_run(self, tmp_path):
        run = write_run(tmp_path / "run")
        run.checkpoints.mkdir()
        run.request.write_text("{}")
        RunFolder.open(run.path)
        tidy(run.path)
        assert listed(run.path) == ["clusters.json", "model", "run.json"]

    def test_what_an_atomic_write_left_is_not_sealed(self, tmp_path):
        with writing(tmp_path / "run") as folder:
            (folder.path / ".clusters.json.0123.tmp").write_text("half a")
            folder.seal({})
        assert RunFolder(tmp_path / "run").read_info()["files"] == {}


class TestOpen:
    @pytest.fixture
    def run(self, tmp_path):
        return write_run(tmp_path / "run")

    def change(self, run, **changes):
        info = json.loads(run.info.read_text())
        run.info.write_text(json.dumps({**info, **changes}))

    def refused(self, run, message):
        with pytest.raises(RunFolderError, match=message):
            RunFolder.open(run.path)

    def test_a_whole_run(self, run):
        assert RunFolder.open(run.path) == run
        info = run.read_info()
        assert (info["format"], info["format_version"], info["seed"]) == ("shoal-run", 1, 1)
        assert info["files"].keys() == {"clusters.json", "model/config.json"}
        assert all(len(checksum) == 64 for checksum in info["files"].values())

    def test_moved_it_is_still_whole(self, run, tmp_path):
        run.path.rename(tmp_path / "elsewhere")
        RunFolder.open(tmp_path / "elsewhere")

    def test_missing_or_unfinished(self, tmp_path):
        self.refused(RunFolder(tmp_path / "no"), "is not a run folder; pass one that `shoal fit` wrote")
        partial_path(tmp_path / "no").mkdir()
        self.refused(RunFolder(tmp_path / "no"), "is unfinished: run `shoal fit --resume`")

    def test_changed(self, run):
        run.clusters.write_text("{}")
        self.refused(run, r"clusters\.json was changed after the run was written")

    def test_lost(self, run):
        run.clusters.unlink()
        self.refused(run, r"is damaged: clusters\.json is missing")

    def test_added_to_the_model(self, run):
        (run.path / "report.html").write_text("beside the model it does no harm")
        (run.model / ".DS_Store").write_text("nor does a hidden file")
        RunFolder.open(run.path)
        (run.model / "deep").mkdir()
        (run.model / "deep" / "weights.bin").write_text("x")
        self.refused(run, "is not part of this run")

    @pytest.mark.parametrize("name", ["../outside", "/etc/hostname", "model/../../outside"])
    def test_outside(self, run, tmp_path, name):
        (tmp_path / "outside").write_text("x")
        self.change(run, files={name: "0" * 64})
        self.refused(run, "names a file outside the run")

    def test_a_link_to_the_outside(self, run, tmp_path):
        (tmp_path / "outside").write_text("[]")
        run.clusters.unlink()
        run.clusters.symlink_to(tmp_path / "outside")
        self.refused(run, "names a file outside the run")

    @pytest.mark.parametrize("version", [2, 0, "1", None])
    def test_another_format_version(self, run, version):
        self.change(run, format_version=version)
        self.refused(run, f"has format version {version} but this Shoal reads 1")

    @pytest.mark.parametrize("changes", [{"format": "mlflow"}, {"files": []}, {"format": None}])
    def test_foreign(self, run, changes):
        self.change(run, **changes)
        self.refused(run, "was not written by Shoal")

    @pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe"])
    def test_damaged(self, run, content):
        run.info.write_bytes(content)
        self.refused(run, r"run\.json is damaged")


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_files_honour_the_umask(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        write_atomically(tmp_path / "file", b"content")
        write_atomically(tmp_path / "file", b"again")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == mode
    assert (tmp_path / "file").read_bytes() == b"again"
    assert listed(tmp_path) == ["file"]
