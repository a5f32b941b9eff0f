"""``shoal fit``, stopped: it leaves nothing, or what ``--resume`` needs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

from cli_tickets import ADDED, FAST, assignments, made_table
from shoal.methods.two_stage import TwoStage


class TestInterruption:
    @pytest.mark.parametrize(
        ("error", "code", "message"),
        [
            (KeyboardInterrupt(), 130, "Interrupted."),
            (OSError(28, "No space left on device"), 1, "Error: [Errno 28] No space left on device"),
            (RuntimeError("odd"), 1, "Unexpected error: RuntimeError: odd\nThis is a bug in Shoal"),
        ],
    )
    def test_leaves_nothing(self, shoal, tickets, tmp_path, monkeypatch, error, code, message):
        def stop(self, context):
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(TwoStage, "_fit", stop)
            answer = shoal("fit", tickets, "--text", "body", *FAST, "--clusters", 3, "--out", tmp_path / "new" / "run")
        assert (answer.code, answer.out) == (code, "")
        assert answer.err.startswith(message)
        assert [file.name for file in tmp_path.iterdir()] == ["tickets.csv"]

    def test_while_the_run_is_written_leaves_nothing(self, shoal, tickets, tmp_path, monkeypatch):
        def stop(self, info):
            raise KeyboardInterrupt

        monkeypatch.setattr("shoal.run_folder.RunFolder.seal", stop)
        assert shoal("fit", tickets, "--text", "body", *FAST, "--clusters", 3, "--out", tmp_path / "run").code == 130
        assert [file.name for file in tmp_path.iterdir()] == ["tickets.csv"]

    @pytest.mark.slow
    def test_killed_and_run_again_while_a_second_process_has_to_wait(self, shoal, fit, tickets, tmp_path):
        arguments = ["fit", str(tickets), "--text", "body", *FAST, "--clusters", "3", "--out", str(tmp_path / "run")]
        program = f"""
import sys, time
from pathlib import Path
from shoal.cli import main
from shoal.methods.two_stage import TwoStage
def hang(self, context):
    Path({str(tmp_path / "inside")!r}).touch()
    time.sleep(100)
TwoStage._fit = hang
sys.argv = ["shoal", *{arguments!r}]
main()
"""
        with subprocess.Popen([sys.executable, "-c", program]) as child:
            deadline = time.monotonic() + 100
            while not (tmp_path / "inside").exists() and child.poll() is None and time.monotonic() < deadline:
                time.sleep(0.05)
            refused = shoal(*arguments)
            child.send_signal(signal.SIGKILL)
        assert child.returncode == -signal.SIGKILL
        assert refused.code == 7
        assert "another process is writing" in refused.err
        assert not (tmp_path / "run").exists()
        _, run = fit(tickets, "--text", "body", "--clusters", 3)
        assert (run / "run.json").is_file()
        assert sorted(file.name for file in tmp_path.iterdir()) == ["inside", "run", "tickets.csv"]

    @pytest.mark.slow
    def test_a_real_ctrl_c(self, tickets, tmp_path):
        program = f"""
import os, signal, sys
from shoal.cli import main
from shoal.methods.shoal import Shoal
Shoal._fit = lambda self, context: os.kill(os.getpid(), signal.SIGINT)
sys.argv = ["shoal", "fit", {str(tickets)!r}, "--text", "body", "--out", {str(tmp_path / "run")!r}, "--json"]
main()
"""
        ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
        assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "Interrupted.\n")
        assert [file.name for file in tmp_path.iterdir()] == ["tickets.csv"]


@pytest.fixture
def interrupt(shoal, monkeypatch):
    """Return a function that runs a command which saves one checkpoint and is then interrupted."""

    def run(*arguments: object) -> None:
        def stop(self, context):
            context.checkpoints.mkdir()
            (context.checkpoints / "state.safetensors").write_bytes(b"state")
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(TwoStage, "_fit", stop)
            assert shoal(*arguments).code == 130

    return run


class TestResume:
    def test_goes_on_and_ends_where_the_uninterrupted_run_ends(self, shoal, fit, interrupt, tickets, tmp_path):
        options = ("--text", "body", "--label", "topic", "--clusters", 4, "--seed", 2)
        expected, whole = fit(tickets, *options, out="whole")
        interrupt("fit", tickets, *FAST, *options, "--out", tmp_path / "run")
        assert not (tmp_path / "run").exists()
        assert (tmp_path / "run.partial" / "checkpoints").is_dir()

        again = shoal("fit", tickets, *FAST, *options, "--out", tmp_path / "run")
        assert again.code == 7
        assert f"holds an interrupted run; continue with --resume {tmp_path / 'run'}" in again.err

        answer = shoal("fit", "--resume", tmp_path / "run", "--json")
        assert answer.code == 0, answer.err
        assert answer.json["scores"] == expected["scores"]
        files = {str(file.relative_to(whole)) for file in whole.rglob("*")}
        assert {str(file.relative_to(tmp_path / "run")) for file in (tmp_path / "run").rglob("*")} == files
        for name in ("assignments.csv", "clusters.json", "model/heads.safetensors"):
            assert (tmp_path / "run" / name).read_bytes() == (whole / name).read_bytes()
        assert not (tmp_path / "run.partial").exists()

    def test_a_replacement_goes_on_as_one(self, shoal, fit, interrupt, tickets, tmp_path):
        fit(tickets, "--text", "body", "--clusters", 4)
        options = ("--text", "body", "--clusters", 3, "--out", tmp_path / "run", "--overwrite")
        interrupt("fit", tickets, *FAST, *options)
        assert assignments(tmp_path / "run")["cluster"].n_unique() == 4
        answer = shoal("fit", "--resume", tmp_path / "run", "--json")
        assert answer.code == 0, answer.err
        assert assignments(tmp_path / "run")["cluster"].n_unique() == 3
        assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "tickets.csv"]

    def test_from_another_folder(self, shoal, interrupt, tickets, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        interrupt("fit", "tickets.csv", *FAST, "--text", "body", "--clusters", 3, "--out", "run")
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        assert shoal("fit", "--resume", tmp_path / "run").code == 0

    def test_a_name_that_was_taken_meanwhile(self, shoal, interrupt, tickets, tmp_path):
        interrupt("fit", tickets, *FAST, "--text", "body", "--clusters", 3, "--out", tmp_path / "run")
        (tmp_path / "run").mkdir()
        answer = shoal("fit", "--resume", tmp_path / "run")
        assert (answer.code, "move it away, then resume" in answer.err) == (7, True)

    def test_stopped_before_anything_was_read(self, shoal, tmp_path):
        (tmp_path / "run.partial").mkdir()
        answer = shoal("fit", "--resume", tmp_path / "run")
        assert (answer.code, "stopped before its input was read; start it again" in answer.err) == (7, True)

    def test_complete_but_for_its_name(self, shoal, fit, tickets, tmp_path):
        _, run = fit(tickets, "--text", "body", "--clusters", 3)
        run.rename(tmp_path / "run.partial")
        assert shoal("fit", "--resume", run).code == 0
        assert assignments(run)["cluster"].n_unique() == 3
        assert not (tmp_path / "run.partial").exists()

    def test_overwrite_starts_afresh(self, fit, interrupt, tickets, tmp_path):
        interrupt("fit", tickets, *FAST, "--text", "body", "--clusters", 4, "--out", tmp_path / "run")
        fit(tickets, "--text", "body", "--clusters", 3, "--overwrite")
        assert not (tmp_path / "run.partial").exists()

    def test_partial_name_works_too(self, shoal, interrupt, tickets, tmp_path):
        interrupt("fit", tickets, *FAST, "--text", "body", "--clusters", 3, "--out", tmp_path / "run")
        assert shoal("fit", "--resume", tmp_path / "run.partial").code == 0
        assert (tmp_path / "run" / "run.json").is_file()

    def test_changed_data_is_refused_and_the_checkpoints_stay(self, shoal, interrupt, tickets, tmp_path):
        interrupt("fit", tickets, *FAST, "--text", "body", "--clusters", 3, "--out", tmp_path / "run")
        made_table(33).write_csv(tickets)
        answer = shoal("fit", "--resume", tmp_path / "run")
        assert answer.code == 3
        assert f"{tickets} has changed since the run was started; start again with --overwrite." in answer.err
        assert (tmp_path / "run.partial" / "checkpoints" / "state.safetensors").is_file()

    def test_standard_input_is_kept(self, shoal, interrupt, stdin, tmp_path):
        table = made_table(empty=(3,)).rename({"topic": "cluster"})  # a name that the output needs for itself
        stdin(table.write_csv().encode().replace(b"T-001", b"T-\xff01"))
        options = ("--text", "body", "--label", "cluster", "--clusters", 3)
        interrupt("fit", "-", *FAST, *options, "--out", tmp_path / "run")
        answer = shoal("fit", "--resume", tmp_path / "run", "--json")
        assert answer.code == 0, answer.err
        assert answer.json["n_texts"] == 30
        assert answer.json["scores"]["purity"] > 90
        found = assignments(tmp_path / "run")
        assert found.columns == ["ticket", "body", "input_cluster", "day", *ADDED]
        assert not (tmp_path / "run" / "input.parquet").exists()
        info = json.loads((tmp_path / "run" / "run.json").read_text())
        assert info["data"]["encoding"] == "cp1252"  # what reading found is not forgotten

    @pytest.mark.parametrize(
        "content",
        [
            *("", "{", "[]", "[" * 100_000, '{"job": {"source": "a", "colour": 1}}', '{"job": {"source": "a"}}'),
            '{"job": {"source": "a", "params": []}, "data_hash": null, "notes": {}}',
            '{"job": {"source": 5}, "data_hash": null, "notes": {}}',
        ],
    )
    def test_broken_request(self, shoal, tmp_path, content):
        (tmp_path / "run.partial" / "checkpoints").mkdir(parents=True)
        (tmp_path / "run.partial" / "request.json").write_text(content)
        answer = shoal("fit", "--resume", tmp_path / "run")
        assert answer.code == 7
        assert "request.json cannot be read" in answer.err

    def test_nothing_to_resume(self, shoal, fit, tickets, tmp_path):
        answer = shoal("fit", "--resume", tmp_path / "nowhere")
        assert answer.code == 7
        assert "there is no interrupted run at" in answer.err
        _, run = fit(tickets, "--text", "body", "--clusters", 3)
        again = shoal("fit", "--resume", run)
        assert (again.code, "It was already finished" in again.err) == (0, True)

    def test_file_or_resume_and_no_other_options(self, shoal, tickets, tmp_path):
        for arguments in ((), (tickets, "--resume", tmp_path / "run")):
            answer = shoal("fit", *arguments)
            assert answer.code == 4
            assert "pass either a FILE to cluster or --resume RUN" in answer.err
        answer = shoal("fit", "--resume", tmp_path / "run", "--clusters", 3, "--set", "n_init=3", "--overwrite")
        assert answer.code == 4
        assert "omit --clusters, --set, --overwrite" in answer.err
