"""``shoal predict``: every row comes back, sorted as the run would have sorted it; damaged runs are refused."""

from __future__ import annotations

import json
import shutil

import polars as pl
import pytest

from cli_tickets import ADDED, assignments, in_python, made_table
from shoal.corpus import read_table
from tiny_backbone import tiny_backbone


@pytest.fixture
def run(fit, tickets):
    """Return a run on 30 rows, two of them without text."""
    made_table(empty=(3, 11)).write_csv(tickets)
    return fit(tickets, "--text", "body", "--label", "topic", "--clusters", 4)[1]


class TestAnswers:
    def test_the_training_file_gives_the_assignments_again(self, shoal, run, tickets, tmp_path):
        assert shoal("predict", run, tickets, "--out", tmp_path / "again.csv").code == 0
        assert (tmp_path / "again.csv").read_bytes() == (run / "assignments.csv").read_bytes()

    def test_and_so_do_its_rows_one_by_one(self, shoal, run, tmp_path):
        expected = assignments(run)
        for i in range(12):
            made_table(empty=(3, 11))[i : i + 1].write_csv(tmp_path / "one.csv")
            (row,) = shoal("predict", run, tmp_path / "one.csv", "--json").json["predictions"]
            assert row["cluster"] == expected["cluster"][i]
            assert row["confidence"] == pytest.approx(expected["confidence"][i], abs=1e-5)

    def test_with_a_transformer_too(self, shoal, tickets, tmp_path):
        backbone = tiny_backbone(tmp_path / "bert")
        run = tmp_path / "bert-run"
        fitted = shoal("fit", tickets, "--text", "body", "--backbone", backbone, "--clusters", 5, "--out", run)
        assert fitted.code == 0, fitted.err
        shutil.rmtree(tmp_path / "bert")  # the run stands on its own
        expected = assignments(run)
        whole = shoal("predict", run, tickets, "--json").json["predictions"]
        assert [row["cluster"] for row in whole] == expected["cluster"].to_list()
        for i in range(5):
            made_table()[i : i + 1].write_csv(tmp_path / "one.csv")
            (row,) = shoal("predict", run, tmp_path / "one.csv", "--json").json["predictions"]
            assert row["cluster"] == expected["cluster"][i]

    def test_below_a_confidence_there_is_no_cluster(self, shoal, run, tickets, tmp_path):
        all_ = shoal("predict", run, tickets, "--json").json
        assert all_["below_min_confidence"] == 0
        confidences = sorted(row["confidence"] for row in all_["predictions"] if row["confidence"] is not None)
        limit = (confidences[9] + confidences[10]) / 2
        found = shoal("predict", run, tickets, "--min-confidence", limit, "--json").json
        n_below = sum(confidence < limit for confidence in confidences)
        assert found["below_min_confidence"] == n_below > 0
        for before, now in zip(all_["predictions"], found["predictions"], strict=True):
            if before["confidence"] is not None and before["confidence"] < limit:
                assert (now["cluster"], now["second_cluster"]) == (None, before["cluster"])
                assert now["confidence"] == before["confidence"]
            else:
                assert now == before
        answer = shoal("predict", run, tickets, "--min-confidence", limit, "--out", tmp_path / "sorted.csv")
        assert f"{n_below} of 30 texts are below the confidence of {limit:g} and have no cluster." in answer.err

    @pytest.mark.parametrize("limit", ["-0.1", "1.5", "half"])
    def test_a_confidence_is_a_share(self, shoal, run, tickets, limit):
        assert shoal("predict", run, tickets, f"--min-confidence={limit}").code == 2

    def test_texts_without_a_known_word_are_sorted_all_the_same(self, shoal, run, tmp_path):
        (tmp_path / "new.txt").write_text("xyzzy\n\nplum pear\n")
        answer = shoal("predict", run, tmp_path / "new.txt", "--json").json
        assert [row["cluster"] is None for row in answer["predictions"]] == [False, True, False]
        assert answer["dropped"] == {"empty": 1}

    def test_a_file_of_empty_texts_loses_no_row(self, shoal, run, tmp_path):
        (tmp_path / "new.csv").write_text('body,n\n" ",1\n,2\n')
        answer = shoal("predict", run, tmp_path / "new.csv")
        assert answer.code == 0, answer.err
        assert [line.split(",")[1] for line in answer.out.splitlines()] == ["n", "1", "2"]


class TestColumns:
    def test_the_text_column_of_the_fit_is_remembered(self, shoal, run, tmp_path):
        table = made_table(6).with_columns(title=pl.lit("guitar piano and other fine prose"))
        table.write_csv(tmp_path / "new.csv")
        remembered = shoal("predict", run, tmp_path / "new.csv", "--json").json["sizes"]
        assert max(remembered.values()) < 6
        other = shoal("predict", run, tmp_path / "new.csv", "--text", "title", "--json").json["sizes"]
        assert max(other.values()) == 6

    def test_another_name_is_found_if_only_one_fits(self, shoal, run, tmp_path):
        pl.DataFrame({"n": ["1", "2"], "words": ["plum pear", "drum piano"]}).write_csv(tmp_path / "new.csv")
        assert shoal("predict", run, tmp_path / "new.csv", "--json").json["n_texts"] == 2

    def test_a_wrong_column_names_those_that_exist(self, shoal, run, tickets):
        answer = shoal("predict", run, tickets, "--text", "bdy")
        assert answer.code == 3
        assert "no column 'bdy'; the columns are 'ticket', 'body', 'topic', 'day'. Did you mean 'body'?" in answer.err

    def test_a_column_called_cluster_is_carried_through(self, shoal, run, tmp_path):
        made_table(3).rename({"day": "cluster"}).write_csv(tmp_path / "new.csv")
        shoal("predict", run, tmp_path / "new.csv", "--out", tmp_path / "out.parquet")
        found = pl.read_parquet(tmp_path / "out.parquet")
        assert found.columns == ["ticket", "body", "topic", "input_cluster", *ADDED]


class TestOutput:
    @pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "json", "parquet", "csv.gz"])
    def test_formats(self, shoal, run, tickets, tmp_path, suffix):
        out = tmp_path / f"sorted.{suffix}"
        answer = shoal("predict", run, tickets, "--out", out)
        assert answer.code == 0, answer.err
        assert answer.out == ""
        assert f"30 texts sorted into 4 clusters: {out}" in answer.err
        table, _ = read_table(out)
        assert table.columns == ["ticket", "body", "topic", "day", *ADDED]
        expected = assignments(run)["cluster"].to_list()
        assert [None if cell is None else int(cell) for cell in table["cluster"]] == expected

    def test_without_out_the_table_goes_to_standard_output(self, shoal, run, tickets):
        answer = shoal("predict", run, tickets)
        assert answer.out == (run / "assignments.csv").read_text()
        assert answer.err == ""

    def test_json_summary(self, shoal, run, tickets, tmp_path):
        answer = shoal("predict", run, tickets, "--out", tmp_path / "a.csv", "--json").json
        assert answer["run"] == str(run)
        assert (answer["n_texts"], answer["n_clusters"], answer["dropped"]) == (30, 4, {"empty": 2})
        assert sum(answer["sizes"].values()) == 28
        assert answer["out"] == str(tmp_path / "a.csv")

    def test_standard_input(self, shoal, run, stdin):
        stdin(b"plum pear apple\ndrum piano chord\n")
        first, second = shoal("predict", run, "-", "--json").json["predictions"]
        assert first["cluster"] != second["cluster"]

    def test_an_existing_file_is_not_replaced_unasked(self, shoal, run, tickets, tmp_path):
        (tmp_path / "out.csv").write_text("mine")
        answer = shoal("predict", run, tickets, "--out", tmp_path / "out.csv")
        assert (answer.code, (tmp_path / "out.csv").read_text()) == (3, "mine")
        assert "exists; pass --overwrite" in answer.err
        assert shoal("predict", run, tickets, "--out", tmp_path / "out.csv", "--overwrite").code == 0
        assert (tmp_path / "out.csv").read_text() != "mine"

    def test_unknown_suffix(self, shoal, run, tickets, tmp_path):
        answer = shoal("predict", run, tickets, "--out", tmp_path / "out.docx")
        assert answer.code == 4
        assert "unknown suffix '.docx'" in answer.err
        assert shoal("predict", tmp_path / "no-run", tickets, "--out", "out.docx").code == 4  # before any work
        assert not (tmp_path / "out.docx").exists()


class TestDistrust:
    def refused(self, shoal, run, tickets, message):
        answer = shoal("predict", run, tickets)
        assert (answer.code, answer.out) == (7, "")
        assert message in answer.err
        assert answer.err.count("\n") == 1  # one line, no traceback

    @pytest.mark.parametrize("name", ["model/heads.safetensors", "model/config.json", "assignments.parquet"])
    def test_a_changed_byte(self, shoal, run, tickets, name):
        content = bytearray((run / name).read_bytes())
        content[-2] ^= 1
        (run / name).write_bytes(content)
        self.refused(shoal, run, tickets, "was changed after the run was written; it is refused")

    @pytest.mark.parametrize("name", ["model/heads.safetensors", "clusters.json"])
    def test_a_lost_file(self, shoal, run, tickets, name):
        (run / name).unlink()
        self.refused(shoal, run, tickets, f"is damaged: {name} is missing")

    def test_a_file_slipped_into_the_model(self, shoal, run, tickets):
        (run / "notes.txt").write_text("a note beside the model does no harm")
        assert shoal("predict", run, tickets).code == 0
        (run / "model" / "extra.json").write_text("{}")
        self.refused(shoal, run, tickets, "extra.json is not part of this run")

    def test_an_emptied_list_of_files(self, shoal, run, tickets):
        self.change_info(run, files={})
        self.refused(shoal, run, tickets, "is not part of this run")

    def test_run_json_of_another_run(self, shoal, run, fit, tickets):
        _, other = fit(tickets, "--text", "body", "--clusters", 3, out="other")
        shutil.copy(other / "run.json", run / "run.json")
        self.refused(shoal, run, tickets, "was changed after the run was written")

    def test_a_newer_format(self, shoal, run, tickets):
        self.change_info(run, format_version=2)
        self.refused(shoal, run, tickets, "has format version 2 but this Shoal reads 1; upgrade Shoal")

    def test_a_path_out_of_the_folder(self, shoal, run, tickets):
        self.change_info(run, files={"../tickets.csv": "0" * 64})
        self.refused(shoal, run, tickets, "names a file outside the run ('../tickets.csv')")

    @pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": "shoal-run"}', "\x00"])
    def test_a_run_json_that_is_none(self, shoal, run, tickets, content):
        (run / "run.json").write_text(content)
        answer = shoal("predict", run, tickets)
        assert answer.code == 7
        assert "was not written by Shoal" in answer.err or "is damaged" in answer.err

    def test_a_run_json_without_its_columns_only_forgets_them(self, shoal, run, tickets):
        self.change_info(run, data=None)
        assert shoal("predict", run, tickets, "--text", "body").code == 0

    def test_a_foreign_folder(self, shoal, run, tickets, tmp_path):
        (tmp_path / "photos").mkdir()
        self.refused(shoal, tmp_path / "photos", tickets, "holds no Shoal model")
        for other in (tmp_path / "nowhere", tickets):
            self.refused(shoal, other, tickets, "is not a run folder; pass one that `shoal fit` wrote")

    def test_an_unfinished_run(self, shoal, run, tickets, tmp_path):
        (run / "run.json").unlink()
        self.refused(shoal, run, tickets, "has no run.json; it is not a finished Shoal run")
        run.rename(tmp_path / "half.partial")
        self.refused(shoal, tmp_path / "half", tickets, "is unfinished")

    def change_info(self, run, **changes):
        info = json.loads((run / "run.json").read_text())
        (run / "run.json").write_text(json.dumps({**info, **changes}))


def test_a_run_fitted_on_vectors_sorts_vectors(shoal, tmp_path):
    import numpy as np

    (tmp_path / "texts.txt").write_text("red\ngreen\nblue\nsquare\ncircle\nline\n")
    np.save(tmp_path / "vectors.npy", np.repeat(np.eye(2), 3, axis=0))
    given = ["--vectors", str(tmp_path / "vectors.npy")]
    shoal("fit", str(tmp_path / "texts.txt"), *given, "--clusters", "2", "--out", str(tmp_path / "run"))
    answer = shoal("predict", str(tmp_path / "run"), str(tmp_path / "texts.txt"), *given, "--json")
    clusters = [row["cluster"] for row in answer.json["predictions"]]
    assert clusters[:3] == [clusters[0]] * 3 != clusters[3:] == [clusters[3]] * 3


def test_the_columns_that_the_fit_joined_are_joined_again(shoal, fit, tmp_path):
    table = made_table().with_columns(pl.col("body").str.head(8).alias("title"))
    table.write_csv(tmp_path / "joined.csv")
    _, run = fit(tmp_path / "joined.csv", "--text", "title,body", "--clusters", 3)
    assert json.loads((run / "run.json").read_text())["data"]["text_column"] == "title,body"
    found = shoal("predict", run, tmp_path / "joined.csv", "--json").json["predictions"]
    assert [row["cluster"] for row in found] == assignments(run)["cluster"].to_list()
    assert shoal("show", run).code == shoal("report", run).code == 0
    assert shoal("cut", run, "--clusters", 2, "--out", tmp_path / "two").code == 0


def test_a_folder_of_texts_is_fitted_and_sorted(shoal, fit, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for row in made_table().to_dicts():
        (folder / f"{row['ticket']}.txt").write_text(row["body"])
    _, run = fit(folder, "--clusters", 3)
    table = assignments(run)
    assert table["file"].to_list() == [f"T-{i:03}.txt" for i in range(30)]
    found = shoal("predict", run, folder, "--json").json["predictions"]
    assert [row["cluster"] for row in found] == table["cluster"].to_list()


@pytest.mark.slow
def test_one_line_is_sorted_without_torch(shoal, tmp_path):
    """Importing torch and transformers takes seconds; a line of a few words does not need them."""
    (tmp_path / "texts.txt").write_text(
        "my parcel is late\nwhere is my parcel\nI was charged twice\nrefund my charge\n"
    )
    assert shoal("fit", tmp_path / "texts.txt", "--clusters", 2, "--out", tmp_path / "run", "--no-report").code == 0
    (tmp_path / "new.txt").write_text("the parcel never came\n")
    code = f"""
import sys
sys.argv = ["shoal", "predict", {str(tmp_path / "run")!r}, {str(tmp_path / "new.txt")!r}]
from shoal.cli import main
try:
    main()
finally:
    sys.stderr.write(repr({{"torch", "transformers"}} & set(sys.modules)))
"""
    answer = in_python(code)
    assert "the parcel never came" in answer.stdout
    assert answer.stderr.endswith("set()")


def test_blocks_give_the_table_that_all_texts_at_once_give(shoal, run, tickets, tmp_path, monkeypatch):
    tables = []
    for rows, whole_bytes in ((20_000, 50_000_000), (4, 50_000_000), (4, 0)):
        monkeypatch.setattr("shoal.sorting.BLOCK_ROWS", rows)
        monkeypatch.setattr("shoal.corpus.sources.blocks.WHOLE_BYTES", whole_bytes)
        out = tmp_path / f"sorted-{rows}-{whole_bytes}.csv"
        assert shoal("predict", run, tickets, "--min-confidence", 0.6, "--out", out).code == 0
        tables.append(out.read_text(encoding="utf-8"))
    assert tables[0] == tables[1] == tables[2]
