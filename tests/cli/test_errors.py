"""What goes wrong ends in one sentence and an exit code; what is odd but usable is treated and counted."""

from __future__ import annotations

import json
import sys

import numpy as np
import polars as pl
import pytest

import shoal as package
from cli_tickets import FAST, in_python, made_table

HEADER = "ticket,body,topic\n"
ROWS = "".join(f"{i},{text},x\n" for i, text in enumerate(made_table(12)["body"]))


@pytest.fixture
def refused(shoal, tmp_path):
    """Return a function that expects a fit to be refused with one line, and nothing to be left behind."""

    def check(code: int, message: str, *arguments: object) -> None:
        before = sorted(tmp_path.rglob("*"))
        answer = shoal("fit", *arguments, "--out", tmp_path / "runs" / "run", "--json")
        assert answer.code == code, answer.err
        assert answer.out == ""
        assert message in answer.err
        assert answer.err.startswith("Error: ")
        assert answer.err.count("\n") == 1
        assert sorted(tmp_path.rglob("*")) == before

    return check


@pytest.fixture
def file(tmp_path):
    """Return a function that writes a file."""

    def write(content: str | bytes, name: str = "in.csv"):
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path / name

    return write


class TestRefusedInput:
    def test_missing_file(self, refused, tmp_path):
        refused(3, "no such file:", tmp_path / "nowhere.csv", *FAST)

    def test_folder(self, refused, tmp_path):
        refused(3, "is a folder without .txt or .md files", tmp_path, *FAST)

    def test_wrong_column_names_those_that_exist(self, refused, file):
        message = "no column 'bodi'; the columns are 'ticket', 'body', 'topic'. Did you mean 'body'?"
        for option in ("--text", "--id", "--label"):
            refused(3, message, file(HEADER + ROWS), option, "bodi", *FAST)

    @pytest.mark.parametrize(
        ("content", "message"), [("", "is empty"), (" \n\n", "only white space"), (HEADER, "has no rows")]
    )
    def test_empty_table(self, refused, file, content, message):
        refused(3, message, file(content), *FAST)

    def test_only_empty_texts(self, refused, file):
        refused(
            3, "all 3 texts in column 'body' are empty", file('body,n\n,1\n" ",2\n"\t",3\n'), "--text", "body", *FAST
        )

    def test_too_many_fields(self, refused, file):
        refused(3, "line 14 has 4 fields but the header has 3 columns", file(HEADER + ROWS + "a,b,c,d\n"), *FAST)

    def test_broken_json(self, refused, file):
        refused(3, "line 2, column 2 is not valid JSON", file('{"text": "a"}\n{oops\n', "in.jsonl"), *FAST)

    @pytest.mark.parametrize("name", ["in.parquet", "in.xlsx", "in.csv.gz"])
    def test_not_what_the_name_says(self, refused, file, name):
        refused(3, str(name), file(HEADER + ROWS, name), *FAST)

    def test_no_text_column_to_be_found(self, refused, file):
        refused(3, "2 columns may hold the texts: 'one', 'two'", file("one,two\nred fish,blue sea\na b,c d\n"), *FAST)

    def test_an_empty_label_column_is_said_before_the_fit(self, refused, file, monkeypatch):
        monkeypatch.setattr("shoal.methods.two_stage.TwoStage._fit", lambda *_: pytest.fail("it was fitted"))
        source = file("body,class\nred fish,\nblue sea,\n")
        refused(3, "the label column 'class' is empty; omit --label.", source, "--label", "class", *FAST)

    def test_vectors(self, refused, file, tmp_path):
        source = file(HEADER + ROWS)
        np.save(tmp_path / "few.npy", np.ones((3, 2)))
        np.save(tmp_path / "nan.npy", np.full((12, 2), np.nan))
        np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
        for name, message in {
            "nowhere.npy": "cannot be read",
            "few.npy": "vectors has 3 rows but there are 12 texts; pass one vector per text.",
            "nan.npy": "vectors has NaN or infinity in 12 of 12 rows",
            "objects.npy": "cannot be read (Object arrays cannot be loaded",
        }.items():
            refused(3, message, source, "--text", "body", "--vectors", tmp_path / name, *FAST)


class TestRefusedParameters:
    @pytest.mark.parametrize(
        ("flags", "message"),
        [
            (
                ["--clusters", "13"],
                "n_clusters=13 but the corpus has 12 texts, 12 of them distinct; pass n_clusters <= 12.",
            ),
            (["--clusters", "0"], "n_clusters=0 but it must be at least 1"),
            (["--method", "kmaens"], "there is no method 'kmaens'; the methods are shoal"),
            (["--preset", "sccl"], "method 'tfidf-kmeans' has no preset 'sccl'; its presets: clusterbert."),
            (["--set", "n_int=3"], "there is no parameter 'n_int'; the parameters are n_clusters"),
            (["--set", "n_init"], "--set 'n_init' is not of the form name=value"),
            (["--set", "n_init=many"], "n_init='many' but it must be a whole number >= 1"),
            (["--set", "n_init=true"], "n_init=True but it must be a whole number >= 1"),
            (["--set", "max_length=long"], "max_length='long' but it must be a whole number >= 1"),
            (
                ["--clusters", "many"],
                "n_clusters='many' is not a whole number; pass an int >= 1, a range such as '5-80'",
            ),
            (["--clusters", "80-5"], "n_clusters=80-5 ends before it begins; pass '5-80'"),
            (["--clusters", "13-20"], "n_clusters='13-20' but the corpus has 12 texts, 12 of them distinct"),
            (["--level", "finest"], "--level finest is unknown; pass one of coarse, medium, fine"),
            (["--set", "n_components=x"], "n_components='x' but it must be a whole number >= 1"),
            (["--set", "pooling=max"], "pooling='max' is unknown; pass one of mean, cls"),
            (["--set", "long_texts=cut"], "long_texts='cut' is unknown; pass one of auto, truncate, chunk"),
            (["--set", "cache=yes"], "cache='yes' is unknown; pass one of True, False"),
            (["--set", "sif_a=0"], "sif_a=0 but it must be a number > 0"),
            (
                ["--set", "stop_words=german"],
                "stop_words='german' is not valid; pass 'english', a list of words, or None",
            ),
            (["--set", "stop_words=[1]"], "stop_words=[1] is not valid"),
            (["--seed", "-1"], "random_state=-1 is not a seed; pass a whole number from 0"),
            (["--set", "random_state=abc"], "random_state='abc' is not a seed"),
            (["--format", "docx"], "format='docx' is not known; the formats are csv tsv"),
        ],
        ids=lambda value: " ".join(value[1:]) if isinstance(value, list) else "",
    )
    def test_each_is_named(self, refused, file, flags, message):
        refused(4, message, file(HEADER + ROWS), "--text", "body", "--clusters", "3", *FAST, *flags)

    def test_all_texts_equal(self, refused, file):
        source = file("body\n" + "red fish\n" * 9)
        refused(4, "n_clusters=2 but the corpus has 9 texts, 1 of them distinct", source, "--clusters", "2", *FAST)

    def test_unknown_backbone(self, shoal, file, tmp_path):
        source = file(HEADER + ROWS)
        answer = shoal(
            "fit", source, "--text", "body", "--backbone", tmp_path / "no-such-model", "--out", tmp_path / "r"
        )
        assert answer.code == 6
        assert "no-such-model' could not be loaded" in answer.err
        assert answer.err.count("\n") == 1
        assert not (tmp_path / "r").exists()

    @pytest.mark.parametrize("flags", [["--clusters"], ["--colour", "red"], ["--seed", "1.5"]])
    def test_wrong_usage(self, shoal, file, flags):
        answer = shoal("fit", file(HEADER + ROWS), *flags)
        assert (answer.code, answer.out) == (2, "")


class TestTreatedInput:
    """Rows are never lost, and what was done is counted."""

    @pytest.fixture
    def treated(self, fit):
        def run(source, *arguments, clusters=2):
            result, folder = fit(source, "--text", "body", "--clusters", clusters, *arguments)
            info = json.loads((folder / "run.json").read_text())
            return result, info["data"], pl.read_parquet(folder / "assignments.parquet")

        return run

    def test_empty_and_missing_texts(self, treated, file):
        result, data, found = treated(file(HEADER + ROWS + '90,,x\n91," ",x\n92,"\t\n",x\n'))
        assert (result["n_texts"], result["dropped"]) == (15, {"empty": 3})
        assert (data["rows"], data["empty"], data["missing"]) == (15, 3, 1)
        assert found["cluster"].is_null().to_list() == [False] * 12 + [True] * 3

    def test_nan_and_cells_that_are_no_strings(self, treated, tmp_path):
        lines = [{"body": text} for text in made_table(10)["body"]]
        lines += [{"body": None}, {"body": float("nan")}, {"body": 12.5}, {"body": ["plum", 3]}, {"n": 1}]
        (tmp_path / "in.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
        result, data, found = treated(tmp_path / "in.jsonl")
        assert (result["n_texts"], result["dropped"]) == (15, {"empty": 3})
        assert (data["missing"], data["non_string"]) == (3, 2)
        assert found["cluster"].is_null().to_list() == [False] * 10 + [True, True, False, False, True]

    def test_broken_utf8(self, treated, file):
        raw = (HEADER + ROWS + "90,plüm jüice äpple,x\n").encode() + b"91,ch\xffrry pear,x\n"
        _, data, found = treated(file(raw))
        assert (len(found), data["encoding"], data["replaced_characters"]) == (14, "utf-8", 1)
        assert found["body"][13] == "ch\ufffdrry pear"

    @pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig"])
    def test_other_encodings(self, treated, file, encoding):
        _, data, found = treated(file((HEADER + ROWS + "90,plüm jüice,x\n").encode(encoding)))
        assert (data["encoding"], found["body"][12]) == (encoding, "plüm jüice")

    def test_encoding_by_flag(self, treated, file):
        _, _, found = treated(file((HEADER + ROWS + "90,слива,x\n").encode("cp1251")), "--encoding", "cp1251")
        assert found["body"][12] == "слива"

    def test_unbalanced_quotes(self, treated, shoal, file, tmp_path):
        source = file(HEADER + '90,"plum pear,x\n' + ROWS)
        _, data, found = treated(source)
        assert (len(found), data["stray_quotes"]) == (13, 1)
        assert found["ticket"].to_list() == ["90", *map(str, range(12))]
        answer = shoal("fit", source, "--text", "body", "--clusters", 2, *FAST, "--out", tmp_path / "second")
        assert "The file has unbalanced quotes; they were taken as part of the text." in answer.err

    def test_a_cell_of_two_megabytes(self, treated, file):
        _, _, found = treated(file(HEADER + ROWS + "90," + "plum pear " * 200_000 + ",x\n"))
        assert len(found) == 13
        assert len(found["body"][12]) == 2_000_000
        assert found["cluster"][12] is not None

    def test_duplicates_share_their_cluster(self, treated, file):
        result, data, found = treated(file(HEADER + ROWS * 3), clusters=3)
        assert (result["n_texts"], data["duplicates"]) == (36, 24)
        clusters = found["cluster"].to_list()
        assert clusters[:12] == clusters[12:24] == clusters[24:]

    def test_all_texts_equal_make_one_cluster(self, treated, file):
        _, _, found = treated(file("body\n" + "red fish\n" * 9), clusters=1)
        assert found["cluster"].to_list() == [0] * 9

    def test_distinct_texts_with_the_same_words(self, treated, file):
        _, _, found = treated(file("body\nred fish\nfish red\nRed Fish\n"), clusters=3)
        assert found["cluster"].is_not_null().all()

    def test_a_single_text(self, treated, file):
        result, _, found = treated(file("body\nred fish\n"), clusters=1)
        assert (result["n_texts"], result["n_clusters"], found["cluster"].to_list()) == (1, 1, [0])
        assert found["second_cluster"].to_list() == [None]


class TestAtOnce:
    HEAVY = ("torch", "transformers", "sklearn", "scipy", "polars", "numpy", "pandas")

    @pytest.mark.parametrize(
        "code",
        [
            "import shoal; shoal.__version__, dir(shoal)",
            "import sys; sys.argv = ['shoal', '--help']; from shoal.cli import main; main()",
            "import sys; sys.argv = ['shoal', 'fit', '--help']; from shoal.cli import main; main()",
        ],
    )
    def test_nothing_heavy_is_imported(self, code):
        ended = in_python(
            "import sys, atexit\n"
            f"atexit.register(lambda: sys.stderr.write(' '.join(set({self.HEAVY!r}) & sys.modules.keys())))\n{code}"
        )
        assert (ended.returncode, ended.stderr) == (0, "")


class TestHelp:
    def test_version(self, shoal):
        answer = shoal("--version")
        assert (answer.code, answer.out) == (0, package.__version__ + "\n")

    def test_the_first_page_names_commands_and_exit_codes(self, shoal):
        page = shoal("--help").out
        for command in ("fit", "predict", "suggest-k", "cut", "score", "methods", "demo", "doctor"):
            assert command in page
        assert "Exit codes: 0 done" in page
        assert "130" in page

    @pytest.mark.parametrize("command", ["fit", "predict", "suggest-k", "cut", "score", "methods", "demo", "doctor"])
    def test_every_page_has_examples(self, shoal, command):
        answer = shoal(command, "--help")
        assert answer.code == 0
        assert "Examples" in answer.out
        assert f"shoal {command}" in answer.out.split("Examples")[1]

    def test_debugging_shows_where_it_happened(self, shoal, file, monkeypatch):
        monkeypatch.setenv("SHOAL_DEBUG", "1")
        monkeypatch.setattr("shoal.methods.two_stage.TwoStage._fit", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            shoal("fit", file(HEADER + ROWS), "--text", "body", "--clusters", 2, *FAST)
        assert sys.argv[1] == "fit"


def test_nested_without_end(shoal, tickets, tmp_path):
    (tmp_path / "deep.toml").write_text("text = " + "[" * 100_000)
    answer = shoal("fit", tickets, "--config", tmp_path / "deep.toml")
    assert (answer.code, "is not valid TOML" in answer.err) == (4, True)
    assert shoal("fit", tickets, "--text", "body", "--set", "n_init=" + "[" * 100_000).code == 4
    assert shoal("fit", tickets, "--text", "body", "--set", "n_init=" + "9" * 5000).code == 4
    (tmp_path / "deep.json").write_text('{"text": [' + "[" * 100_000 + "]" * 100_000 + "]}")
    assert shoal("fit", tmp_path / "deep.json").code == 3
    (tmp_path / "deep.jsonl").write_text('{"text": ' + "[" * 900 + "]" * 900 + "}\n")
    assert shoal("fit", tmp_path / "deep.jsonl", "--method", "tfidf-kmeans", "--clusters", 1).code in (0, 3)


def test_devices_and_lying_files(shoal, tickets, tmp_path):
    answer = shoal("fit", "/dev/zero", "--format", "csv")
    assert (answer.code, "is a device; pass a file" in answer.err) == (3, True)
    lying = b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000, 100), }"
    (tmp_path / "v.npy").write_bytes(lying.ljust(127) + b"\n")
    answer = shoal("fit", tickets, "--text", "body", "--vectors", tmp_path / "v.npy")
    assert (answer.code, "v.npy cannot be read" in answer.err) == (3, True)


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("--method", "kmean"), "kmeans"),
        (("--set", "n_neighbours=5"), "n_neighbors"),
        (("--set", "effort=bets"), "best"),
        (("--method", "tfidf-kmeans", "--preset", "clusterbrt"), "clusterbert"),
    ],
)
def test_the_nearest_name_is_offered(shoal, tickets, arguments, meant):
    answer = shoal("fit", tickets, "--text", "body", "--clusters", 3, *arguments)
    assert answer.code == 4
    assert f"Did you mean '{meant}'?" in answer.err
