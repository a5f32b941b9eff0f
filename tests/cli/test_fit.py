"""``shoal fit``: from any table to a whole run folder, or to nothing at all."""

from __future__ import annotations

import gzip
import json
import shutil

import numpy as np
import pandas as pd
import polars as pl
import pytest

from cli_tickets import ADDED, FAST, assignments, made_table
from shoal.corpus import write_table
from shoal.metrics import scores
from tiny_backbone import tiny_backbone

SCORES = ["acc", "nmi", "ari", "purity"]


def same_partition(left, right) -> bool:
    return len(set(zip(left, right, strict=True))) == len(set(left)) == len(set(right))


class TestFormats:
    @pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "json", "parquet", "xlsx", "csv.gz", "jsonl.gz"])
    def test_tables(self, fit, tmp_path, suffix):
        table = made_table(empty=(4,))
        if suffix == "xlsx":
            table.to_pandas().to_excel(tmp_path / "tickets.xlsx", index=False)
        else:
            write_table(table, tmp_path / f"tickets.{suffix}")
        result, run = fit(tmp_path / f"tickets.{suffix}", "--text", "body", "--clusters", 3)
        found = assignments(run)
        assert found.columns == [*table.columns, *ADDED]
        assert found["ticket"].to_list() == table["ticket"].to_list()
        assert found["body"].fill_null("").to_list() == table["body"].fill_null("").to_list()
        present = [i for i in range(30) if i != 4]
        assert same_partition(found["cluster"].gather(present), table["topic"].gather(present))
        assert found.row(4, named=True)["cluster"] is None
        assert (result["n_texts"], result["dropped"]) == (30, {"empty": 1})

    @pytest.mark.parametrize("packed", [False, True])
    def test_lines(self, fit, tmp_path, packed):
        lines = "\n".join([*made_table()["body"], "", "pear plum apple"]).encode()
        source = tmp_path / ("lines.txt.gz" if packed else "lines.txt")
        source.write_bytes(gzip.compress(lines) if packed else lines)
        result, run = fit(source, "--clusters", 3)
        assert (result["n_texts"], result["dropped"]) == (32, {"empty": 1})
        assert assignments(run)["cluster"].is_null().to_list() == [False] * 30 + [True, False]

    @pytest.mark.parametrize("suffix", ["csv", "jsonl", "txt", "parquet"])
    def test_standard_input(self, fit, stdin, tmp_path, suffix):
        table = made_table()
        if suffix == "txt":
            stdin("\n".join(table["body"]).encode())
        else:
            write_table(table, tmp_path / f"tickets.{suffix}")
            stdin((tmp_path / f"tickets.{suffix}").read_bytes())
        result, run = fit("-", "--clusters", 3, *([] if suffix == "txt" else ["--text", "body"]))
        assert result["n_texts"] == 30
        assert same_partition(assignments(run)["cluster"], table["topic"])
        assert not (run / "input.parquet").exists()

    def test_text_column_is_found_if_only_one_fits(self, fit, tmp_path):
        made_table(120).write_csv(tmp_path / "tickets.csv")
        _, run = fit(tmp_path / "tickets.csv", "--clusters", 3)
        assert json.loads((run / "run.json").read_text())["data"]["text_column"] == "body"


class TestRunFolder:
    def test_holds_what_it_should_and_nothing_else(self, fit, tickets):
        _, run = fit(tickets, "--text", "body", "--clusters", 3)
        files = {str(file.relative_to(run)) for file in run.rglob("*") if file.is_file()}
        assert files == {
            *("run.json", "assignments.parquet", "assignments.csv", "clusters.json", "history.jsonl"),
            *("model/config.json", "model/heads.safetensors", "model/vocabulary.json"),
            *("map.parquet", "report.html"),
        }
        assert sorted(file.name for file in run.parent.iterdir()) == ["run", "tickets.csv"]  # no lock, no partial

    def test_parquet_and_csv_agree_and_open_in_pandas(self, fit, tmp_path):
        table = made_table(empty=(0, 7)).with_columns(
            pl.Series("remark", ['say "x"', "a,b", "two\nlines", "cr\rhere", " edge ", None] * 5)
        )
        write_table(table, tmp_path / "tickets.parquet")
        _, run = fit(tmp_path / "tickets.parquet", "--text", "body", "--clusters", 3)
        binary = pd.read_parquet(run / "assignments.parquet")
        # pandas' C parser takes a quoted lone carriage return as it is; dtypes come from the parquet file
        text = pd.read_csv(run / "assignments.csv", keep_default_na=False, na_values=[""])
        assert list(binary.columns) == list(text.columns)
        assert len(binary) == len(text) == 30
        for column in binary.columns:
            left, right = binary[column], text[column]
            assert (left.isna() == right.isna()).all(), column
            kept = left.notna()
            if column.endswith("confidence"):
                np.testing.assert_allclose(left[kept].astype(float), right[kept].astype(float), atol=1e-9)
            else:
                assert [str(v).removesuffix(".0") for v in left[kept]] == [
                    str(v).removesuffix(".0") for v in right[kept]
                ], column
        assert binary.loc[[0, 7], ADDED].isna().all().all()
        assert binary.drop(index=[0, 7])[ADDED].notna().all().all()

    def test_columns_of_the_same_names_are_kept_beside_ours(self, fit, tmp_path):
        table = made_table().rename({"day": "cluster", "topic": "confidence"})
        table.write_csv(tmp_path / "tickets.csv")
        _, run = fit(tmp_path / "tickets.csv", "--text", "body", "--clusters", 3)
        found = assignments(run)
        assert found.columns == ["ticket", "body", "input_confidence", "input_cluster", *ADDED]
        assert found["input_cluster"].to_list() == table["cluster"].to_list()

    def test_run_json_says_how_it_came_about(self, fit, tmp_path):
        made_table(empty=(2,)).write_csv(tmp_path / "tickets.csv")
        result, run = fit(tmp_path / "tickets.csv", "--text", "body", "--id", "ticket", "--clusters", 3, "--seed", 5)
        info = json.loads((run / "run.json").read_text())
        assert (info["format"], info["format_version"]) == ("shoal-run", 1)
        assert info["shoal_version"].count(".") == 2
        assert info["seed"] == info["parameters"]["random_state"] == 5
        assert {"n_clusters": 3, "representation": "tfidf", "n_init": 2}.items() <= info["parameters"].items()
        assert {"python", "platform", "packages", "threads"} <= info["environment"].keys()
        assert {"numpy", "torch", "transformers", "scikit-learn", "polars"} <= info["environment"]["packages"].keys()
        assert info["environment"]["threads"] >= 1
        assert len(info["data"]["sha256"]) == 64
        assert {"text_column": "body", "id_column": "ticket", "label_column": None}.items() <= info["data"].items()
        assert info["data"]["empty"] == 1
        assert info["dropped"] == {"empty": 1}
        assert info["truncated"] == 0
        assert [stage["stage"] for stage in info["stages"]] == ["represent", "cluster"]
        assert all(stage["seconds"] >= 0 for stage in info["stages"])
        assert {
            name: value for name, value in result.items() if name not in ("report", "elapsed_seconds")
        }.items() <= info.items()

    def test_the_hash_is_of_the_texts(self, fit, tickets, tmp_path):
        write_table(made_table(), tmp_path / "same.parquet")
        made_table().reverse().write_csv(tmp_path / "other.csv")
        hashes = []
        for name in ("tickets.csv", "same.parquet", "other.csv"):
            _, run = fit(tmp_path / name, "--text", "body", "--clusters", 3, out=f"run-{name}")
            hashes.append(json.loads((run / "run.json").read_text())["data"]["sha256"])
        assert hashes[0] == hashes[1] != hashes[2]

    def test_clusters_json_and_history(self, fit, tickets):
        _, run = fit(tickets, "--text", "body", "--clusters", 3)
        clusters = json.loads((run / "clusters.json").read_text())
        found = assignments(run)
        assert [cluster["id"] for cluster in clusters] == [0, 1, 2]
        for cluster in clusters:
            members = found.filter(pl.col("cluster") == cluster["id"])
            assert cluster["size"] == len(members) == 10
            assert set(cluster["examples"]) <= set(members["body"])
            assert set(members["cluster_name"]) == {cluster["name"]}
            assert cluster["keywords"]
        history = [json.loads(line) for line in (run / "history.jsonl").read_text().splitlines()]
        assert [entry["stage"] for entry in history] == ["represent", "cluster"]

    def test_no_pickle(self, fit, tickets):
        _, run = fit(tickets, "--text", "body", "--clusters", 3)
        for file in run.rglob("*"):
            if file.is_file():
                assert file.suffix in {".json", ".jsonl", ".parquet", ".csv", ".safetensors", ".html"}
                assert not file.read_bytes().startswith(b"\x80")  # pickle's first byte

    def test_default_name_is_the_next_that_is_free(self, shoal, tickets, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        runs = [
            shoal("fit", "tickets.csv", "--text", "body", "--clusters", 3, *FAST, "--json").json["run"]
            for _ in range(2)
        ]
        assert runs == ["runs/tickets-tfidf-kmeans-1", "runs/tickets-tfidf-kmeans-2"]
        assert all((tmp_path / run / "run.json").is_file() for run in runs)


class TestOutput:
    def test_json_is_one_object_alone(self, fit, tickets, tmp_path):
        result, run = fit(tickets, "--text", "body", "--clusters", 3)
        assert list(result) == [
            *("run", "method", "n_texts", "n_clusters", "levels", "boilerplate", "seconds", "peak_memory_mb"),
            *("dropped", "truncated", "report", "elapsed_seconds"),
        ]
        assert (result["levels"], result["boilerplate"]) == ({"medium": 3, "fine": 6}, [])
        assert result["report"] == str(run / "report.html")
        assert (result["run"], result["method"], result["n_clusters"]) == (str(run), "tfidf-kmeans", 3)
        assert 0 < result["seconds"] < 60
        assert 10 < result["peak_memory_mb"] < 20_000

    def test_labels_add_scores(self, fit, tickets):
        result, run = fit(tickets, "--text", "body", "--clusters", 3, "--label", "topic")
        assert list(result["scores"]) == list(result["start_scores"]) == SCORES
        found = assignments(run)
        assert result["scores"] == pytest.approx(scores(found["topic"].to_list(), found["cluster"].to_list()))
        assert result["scores"]["acc"] == 100

    def test_labels_change_nothing(self, fit, tickets):
        _, plain = fit(tickets, "--text", "body", "--clusters", 4, out="plain")
        _, scored = fit(tickets, "--text", "body", "--clusters", 4, "--label", "topic", out="scored")
        for name in ("assignments.csv", "clusters.json", "model/heads.safetensors", "model/config.json"):
            assert (plain / name).read_bytes() == (scored / name).read_bytes(), name

    def test_rows_without_a_label_are_not_scored(self, fit, tmp_path):
        table = made_table().with_columns(pl.Series("topic", [None] * 9 + made_table()["topic"].to_list()[9:]))
        table.write_csv(tmp_path / "tickets.csv")
        result, _ = fit(tmp_path / "tickets.csv", "--text", "body", "--clusters", 3, "--label", "topic")
        assert result["scores"]["acc"] == 100
        assert result["n_texts"] == 30

    def test_for_people_there_is_a_table_and_what_to_know(self, shoal, tmp_path):
        made_table(empty=(1,)).write_csv(tmp_path / "tickets.csv")
        where = tmp_path / "with [/] brackets [bold]"
        columns = ("--text", "body", "--label", "topic")
        answer = shoal("fit", tmp_path / "tickets.csv", *columns, "--clusters", 3, *FAST, "--out", where)
        assert answer.code == 0, answer.err
        assert "3 clusters of 30 texts" in answer.out
        assert "ACC 9" in answer.out
        assert "Without a cluster: 1 empty (their rows are in the output)." in answer.err
        assert f"Saved to {where}. To sort new texts: shoal predict" in answer.err

    def test_truncated_texts_are_counted(self, shoal, tmp_path):
        backbone = tiny_backbone(tmp_path / "bert")
        (tmp_path / "texts.txt").write_text("\n".join([f"short {i}" for i in range(8)] + ["long " * 200] * 2))
        answer = shoal(
            *("fit", tmp_path / "texts.txt", "--backbone", backbone, "--clusters", 2, "--set", "max_length=16"),
            *("--set", "long_texts=truncate", "--out", tmp_path / "run", "--json"),
        )
        assert answer.code == 0, answer.err
        assert (answer.json["method"], answer.json["truncated"]) == ("shoal", 2)
        info = json.loads((tmp_path / "run" / "run.json").read_text())
        assert (info["truncated"], info["parameters"]["backbone"]) == (2, backbone)

    def test_same_seed_same_run(self, fit, tickets):
        runs = [fit(tickets, "--text", "body", "--clusters", 5, "--seed", 3, out=out)[1] for out in ("one", "two")]
        assert (runs[0] / "assignments.csv").read_bytes() == (runs[1] / "assignments.csv").read_bytes()

    def test_vectors_computed_elsewhere(self, fit, tickets, tmp_path):
        vectors = np.eye(3, dtype=np.float32)[np.arange(30) % 3]
        vectors += 0.01 * np.random.default_rng(0).normal(size=vectors.shape).astype(np.float32)
        np.save(tmp_path / "vectors.npy", vectors)
        _, run = fit(tickets, "--text", "body", "--clusters", 3, "--vectors", tmp_path / "vectors.npy")
        assert same_partition(assignments(run)["cluster"], made_table()["topic"])


class TestExistingFolder:
    def test_is_refused(self, fit, shoal, tickets):
        _, run = fit(tickets, "--text", "body", "--clusters", 3)
        before = (run / "run.json").read_bytes()
        answer = shoal("fit", tickets, "--text", "body", *FAST, "--clusters", 4, "--out", run)
        assert answer.code == 7
        assert f"{run} exists; pass --overwrite to replace it, or another --out." in answer.err
        assert (run / "run.json").read_bytes() == before

    def test_is_replaced_on_request(self, fit, tickets):
        fit(tickets, "--text", "body", "--clusters", 3)
        result, run = fit(tickets, "--text", "body", "--clusters", 4, "--overwrite")
        assert assignments(run)["cluster"].n_unique() == result["n_clusters"] == 4
        assert sorted(file.name for file in run.parent.iterdir()) == ["run", "tickets.csv"]

    def test_a_failed_replacement_leaves_the_old_run(self, fit, shoal, tickets):
        _, run = fit(tickets, "--text", "body", "--clusters", 3)
        before = (run / "run.json").read_bytes()
        answer = shoal("fit", tickets, "--text", "body", *FAST, "--clusters", 300, "--out", run, "--overwrite")
        assert answer.code == 4
        assert (run / "run.json").read_bytes() == before

    def test_only_a_run_may_be_replaced(self, shoal, tickets, tmp_path):
        (tmp_path / "photos").mkdir()
        (tmp_path / "photos" / "beach.jpg").write_bytes(b"sand")
        for target in (tmp_path / "photos", tickets, tmp_path):
            answer = shoal("fit", tickets, "--text", "body", *FAST, "--out", target, "--overwrite")
            assert answer.code == 7, target
        assert (tmp_path / "photos" / "beach.jpg").read_bytes() == b"sand"
        assert tickets.read_text().startswith("ticket,body")

    @pytest.mark.parametrize(("target", "message"), [("tickets.csv/run", "cannot be written"), (".", "no folder name")])
    def test_impossible_places(self, shoal, tickets, tmp_path, monkeypatch, target, message):
        monkeypatch.chdir(tmp_path)
        answer = shoal("fit", tickets, "--text", "body", *FAST, "--out", target)
        assert (answer.code, message in answer.err) == (7, True), answer.err


def test_stages_are_kept_when_asked_for(shoal, tickets, tmp_path):
    backbone = tiny_backbone(tmp_path / "backbone")
    small = [part for value in ("max_steps=2", "batch_size=10") for part in ("--set", value)]
    method = ["--method", "clusterbert", "--clusters", 3, "--backbone", backbone, *small]
    answer = shoal("fit", tickets, "--text", "body", *method, "--stages", "--out", tmp_path / "run")
    assert answer.code == 0, answer.err
    names = {"before-adaptation", "before-clustering-1", "before-clustering-2", "before-hardening"}
    files = {file.stem: file for file in (tmp_path / "run" / "stages").iterdir()}
    assert files.keys() == names
    with np.load(files["before-adaptation"]) as start:
        assert len(start["vectors"]) == len(start["labels"]) == 30
    sums = json.loads((tmp_path / "run" / "run.json").read_text())["files"]
    assert "stages/before-hardening.npz" in sums
    shutil.rmtree(tmp_path / "run")
    plain = shoal("fit", tickets, "--text", "body", "--method", "tfidf-kmeans", "--clusters", 3, "--stages",
                  "--out", tmp_path / "run")  # fmt: skip
    assert plain.code == 0
    assert "--stages saved nothing: nothing was trained" in plain.err


@pytest.mark.slow
class TestPlan:
    def test_a_dry_run_says_what_it_would_take_and_writes_nothing(self, shoal, tickets, tmp_path):
        out = tmp_path / "run"
        answer = shoal("fit", tickets, "--text", "body", "--clusters", 3, "--out", out, "--dry-run", "--json")
        assert answer.code == 0
        assert answer.json["n_clusters"] == 3
        assert answer.json["n_distinct"] <= answer.json["n_texts"]
        assert answer.json["memory_mb"] > 0
        assert answer.json["total_seconds"] > 0
        assert not list(tmp_path.glob("run*"))
        words = shoal("fit", tickets, "--text", "body", "--clusters", 3, "--out", out, "--dry-run").out
        assert "Expected time" in words
        assert "Expected memory" in words

    def test_a_limit_of_memory_is_recorded_and_too_small_a_one_refused(self, shoal, tickets, tmp_path):
        options = ("fit", tickets, "--text", "body", "--clusters", 3, "--no-report")
        answer = shoal(*options, "--out", tmp_path / "run", "--memory", "4GB")
        assert answer.code == 0, answer.err
        assert json.loads((tmp_path / "run" / "run.json").read_text())["data"]["memory_limit_mb"] == 4096
        small = shoal(*options, "--out", tmp_path / "small", "--memory", "10MB")
        assert small.code == 4
        assert "pass at least" in small.err
