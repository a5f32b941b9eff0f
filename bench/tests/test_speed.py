"""The speed suite: its arithmetic, its texts, and that every measure gives a valid record. Nothing here is timed."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from functools import cache
from itertools import count

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from shoal.demo_texts import DemoText, standard_library_texts
from shoal.encoder.transformer import TransformerEncoder
from shoal.errors import DataError, ParameterError
from shoal_bench.cli import speed as speed_command
from shoal_bench.results import FAILED, OK, UNAVAILABLE, Results
from shoal_bench.speed import measures
from shoal_bench.speed import run as speed_run
from shoal_bench.speed.figures import exponents, growth_exponent, in_turns
from shoal_bench.speed.plan import GROWTHS, MEASURES, SpeedRequest, planned
from shoal_bench.speed.run import missing, run_speed
from shoal_bench.speed.texts import JITTER, read_texts, source_of, varied_texts, varied_vectors
from shoal_bench.tiers import TIERS
from tiny_backbone import tiny_backbone

TINY = replace(TIERS["quick"].speed, n_texts=40, repeats=2, batch_size=20, sizes=(40, 80))


@pytest.fixture(scope="module")
def backbone(tmp_path_factory) -> str:
    return tiny_backbone(tmp_path_factory.mktemp("backbone"))


@pytest.fixture(autouse=True)
def _no_data(tmp_path_factory, monkeypatch):
    """No data set is there, whatever the machine has."""
    monkeypatch.setenv("SHOAL_DATA", str(tmp_path_factory.mktemp("no-data")))


@pytest.fixture
def results(tmp_path) -> Results:
    return Results(tmp_path / "bench.jsonl")


def made_up(request: SpeedRequest) -> dict:
    """A record as if it had been measured: time in proportion to the texts, memory to their root."""
    facts = {"ratio": 2.0, "reference": "made up", "seconds": request.n_texts / 10, "encode_seconds": None}
    return {**measures.speed_record(request.key, request.as_dict()), **facts, "peak_memory_mb": request.n_texts**0.5}


# --- arithmetic


def test_turns_alternate_and_the_median_of_the_ratios_counts():
    calls = []
    own, theirs = iter([1.0, 1.0, 4.0]), iter([2.0, 3.0, 4.0])
    turns = in_turns(lambda: calls.append("A") or next(own), lambda: calls.append("B") or next(theirs), 3)
    assert "".join(calls) == "ABABAB"
    # the ratio of the median times would be 3
    assert turns == {"ratio": 2.0, "ratios": [2.0, 3.0, 1.0], "seconds": 1.0, "reference_seconds": 3.0}


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 1.3, 2.0])
def test_the_exponent_of_a_power_is_that_power(power):
    sizes = [1_000, 3_000, 10_000, 200_000]
    assert growth_exponent(sizes, [0.02 * n**power for n in sizes]) == pytest.approx(power)


def test_the_exponent_is_the_least_squares_slope_of_the_logarithms():
    sizes, seconds = [10, 50, 700, 2_000], [0.5, 1.0, 30.0, 44.0]
    slope, _ = np.polyfit(np.log(sizes), np.log(seconds), 1)
    assert growth_exponent(sizes, seconds) == pytest.approx(slope)


def test_what_has_no_logarithm_is_left_out_of_the_exponent():
    assert growth_exponent([10, 20, 40, 80], [None, 0.0, 4.0, 8.0]) == pytest.approx(1.0)
    assert growth_exponent([10, 20, 40], [None, 0.0, 4.0]) is None
    assert growth_exponent([10, 10], [1.0, 2.0]) is None


def test_each_quantity_has_its_own_exponent():
    records = [{"n_texts": n, "seconds": n * 1.5, "encode_seconds": 2.0, "added_memory_mb": n**2} for n in (10, 30)]
    found = exponents(records)
    assert found["seconds"] == pytest.approx(1.0)
    assert found["encode_seconds"] == pytest.approx(0.0, abs=1e-12)
    assert found["added_memory_mb"] == pytest.approx(2.0)
    assert found["peak_memory_mb"] is found["other_seconds"] is None


# --- texts


@pytest.mark.parametrize("n", [1, 3, 4, 200])
def test_any_number_of_distinct_texts_can_be_made(n):
    texts = varied_texts(["red fish", "blue whale", "red fish", "shark"], n)
    assert len(texts) == len(set(texts)) == n


def test_even_one_word_makes_many_texts():
    assert len(set(varied_texts(["fish"], 20))) == 20


def test_made_texts_are_the_same_every_time_and_fewer_are_the_head_of_more():
    originals = [f"title number {i} of many" for i in range(30)]
    many = varied_texts(originals, 100)
    assert many == varied_texts(originals, 100)
    assert many != varied_texts(originals, 100, seed=1)
    for n in (10, 30, 60):
        assert varied_texts(originals, n) == many[:n]


def test_originals_come_first_and_repeated_ones_differ_by_a_word():
    originals = [" ".join(f"w{i}x{j}" for j in range(6)) for i in range(50)]
    made = varied_texts(originals, 150)
    assert sorted(made[:50]) == sorted(originals)
    for text, original in zip(made[50:100], made[:50], strict=True):
        changed = sum(a != b for a, b in zip(text.split(), original.split(), strict=False))
        assert changed <= 1


def test_made_vectors_are_unit_vectors_near_the_given_ones():
    given = np.linalg.qr(np.random.RandomState(0).normal(size=(384, 5)))[0].T.astype(np.float32)
    made = varied_vectors(given, 23)
    np.testing.assert_array_equal(made[:5], given)
    np.testing.assert_allclose(np.linalg.norm(made, axis=1), 1, atol=1e-5)
    cosines = (made[5:] * given[np.arange(5, 23) % 5]).sum(axis=1)
    np.testing.assert_allclose(cosines, 1 / np.sqrt(1 + 384 * JITTER**2), atol=0.03)
    assert len(np.unique(made, axis=0)) == 23
    np.testing.assert_array_equal(varied_vectors(given, 9), made[:9])


@pytest.mark.slow
def test_without_data_sets_the_texts_are_docstrings_long_and_short(monkeypatch):
    monkeypatch.setattr("shoal_bench.speed.texts.standard_library_texts", cache(standard_library_texts))  # parse once
    titles, sentences = (read_texts(source_of(kind)) for kind in ("titles", "sentences"))
    assert (source_of("titles"), source_of("sentences")) == ("short docstrings", "long docstrings")
    assert max(len(text.split()) for text in titles) <= min(len(text.split()) for text in sentences)
    assert len(titles) > 500
    assert len(set(titles)) == len(titles)


def test_a_data_set_that_is_there_is_the_source(monkeypatch, tmp_path):
    (tmp_path / "stackoverflow.tsv.gz").write_bytes(b"")
    monkeypatch.setenv("SHOAL_DATA", str(tmp_path))
    assert source_of("titles") == "stackoverflow"
    assert source_of("sentences") == "long docstrings"


# --- what is measured


def test_tiers_reach_the_promised_sizes():
    reach = {name: max(tier.speed.sizes) for name, tier in TIERS.items()}
    assert reach == {"quick": 3_000, "standard": 30_000, "paper": 200_000}


def test_every_measure_is_asked_for_and_can_be_taken():
    requests = planned(TIERS["quick"].speed, threads=1)
    assert {request.measure for request in requests} == set(MEASURES) == set(measures.TAKERS)


def test_tiers_share_the_sizes_that_they_have_in_common():
    keys = {
        name: {request.key for request in planned(tier.speed, threads=2, measures=list(GROWTHS))}
        for name, tier in TIERS.items()
    }
    assert keys["quick"] < keys["standard"] < keys["paper"]


def test_a_key_depends_on_threads_method_and_version_but_not_on_the_backbones_folder(monkeypatch):
    request = SpeedRequest("fit", 10, "short docstrings", 1, 1, "/here/model", "kmeans")
    others = [
        replace(request, threads=2),
        replace(request, method="bow-kmeans"),
        replace(request, n_texts=11),
        replace(request, repeats=2),
    ]
    assert len({request.key, *(other.key for other in others)}) == 5
    assert replace(request, backbone="/there/model").key == request.key
    assert "/here" not in json.dumps(measures.speed_record(request.key, request.as_dict()))
    before = request.key
    monkeypatch.setattr("shoal_bench.speed.plan.__version__", "99")
    assert request.key != before


def test_a_method_that_trains_is_not_asked_to_start_from_vectors():
    asked = {request.measure for request in planned(TINY, threads=1, method="sccl")}
    assert asked == set(MEASURES) - {"growth-cluster"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"measures": ["nothing"]}, "no measure 'nothing'"),
        ({"method": "nothing"}, "no method 'nothing'"),
        ({"threads": 0}, "threads=0"),
    ],
)
def test_what_does_not_exist_is_refused(options, said):
    with pytest.raises(ParameterError, match=said):
        planned(**{"tier": TINY, "threads": 1, **options})


def test_sizes_that_cannot_be_are_refused():
    with pytest.raises(ParameterError, match="1 texts are too few"):
        planned(TINY, 1, n_texts=1)
    with pytest.raises(ParameterError, match="0 texts are too few"):
        planned(TINY, 1, n_texts=0)
    with pytest.raises(ParameterError, match="0 texts are too few"):
        planned(TINY, 1, sizes=[0, 100])


# --- running


@pytest.fixture
def made_up_runs(monkeypatch):
    """Measure nothing: every request gets a made-up record. Return the list of what was asked."""
    asked: list[SpeedRequest] = []
    monkeypatch.setattr(speed_run, "_measured", lambda request: asked.append(request) or made_up(request))
    return asked


def test_a_finished_suite_is_not_measured_again_unless_asked(results, made_up_runs):
    requests = planned(TINY, threads=1)
    first, n_taken = run_speed(requests, results)
    lines = len(results.records())
    assert (len(requests), n_taken, len(made_up_runs)) == (15, 15, 15)
    assert missing(requests, results) == []

    second, n_taken = run_speed(requests, results)
    assert (n_taken, len(made_up_runs), len(results.records())) == (0, 15, lines)
    assert [record["key"] for record in second] == [record["key"] for record in first]

    run_speed(requests, results, again=True)
    assert len(made_up_runs) == 30
    assert missing(planned(TINY, threads=2), results)


def test_an_interrupted_suite_goes_on(results, made_up_runs, monkeypatch):
    calls = count()

    def third_time_unlucky(request):
        if next(calls) == 2:
            raise KeyboardInterrupt
        return made_up(request)

    requests = planned(TINY, threads=1)
    with monkeypatch.context() as patch:
        patch.setattr(speed_run, "_measured", third_time_unlucky)
        with pytest.raises(KeyboardInterrupt):
            run_speed(requests, results)
    assert len(results.records()) == 2
    assert run_speed(requests, results)[1] == 13
    assert len(made_up_runs) == 13


def test_exponents_come_from_the_sizes(results, made_up_runs):
    records, _ = run_speed(planned(TINY, threads=1, measures=["growth-fit"]), results)
    growth = records[-1]
    assert (growth["kind"], growth["measure"]) == ("speed", "growth-fit-exponent")
    assert (growth["sizes"], growth["n_texts"]) == ([40, 80], 80)
    assert growth["exponent"]["seconds"] == pytest.approx(1.0)
    assert growth["exponent"]["peak_memory_mb"] == pytest.approx(0.5)
    assert growth in results.records()


def test_failed_measures_are_tried_again_and_have_no_exponent(results, monkeypatch):
    def failed(request):
        return {**made_up(request), "status": FAILED, "reason": "made up"}

    requests = planned(TINY, threads=1, measures=["growth-fit"])
    with monkeypatch.context() as patch:
        patch.setattr(speed_run, "_measured", failed)
        assert [record["status"] for record in run_speed(requests, results)[0]] == [FAILED, FAILED]
    assert not [record for record in results.records() if "exponent" in record]
    assert len(missing(requests, results)) == 2


def test_a_process_that_dies_leaves_a_record(monkeypatch):
    monkeypatch.setattr(speed_run, "_MODULE", "shoal_bench.no_such_module")
    record = speed_run._measured(SpeedRequest("fit", 40, "short docstrings", 1, 1, method="kmeans"))
    assert record["status"] == FAILED
    assert "No module named" in record["reason"]


def test_a_second_run_waits_for_the_first(results, made_up_runs):
    waits = threading.Event()
    requests = planned(TINY, threads=1, measures=["fit"])
    waiting = Results(results.file, say=lambda line: waits.set())
    second = threading.Thread(target=run_speed, args=(requests, waiting))
    with speed_run._alone(lambda line: None):
        second.start()
        assert waits.wait(timeout=30)
        assert not made_up_runs
    second.join(timeout=30)
    assert len(made_up_runs) == 1


# --- measuring


@pytest.fixture
def few_docstrings(monkeypatch):
    """Spare the parsing of the whole library, which has tests of its own."""
    made = [DemoText(f"{'very ' * (i % 9)}small fish number {i}", "fish", "fish") for i in range(400)]
    monkeypatch.setattr("shoal_bench.speed.texts.standard_library_texts", lambda modules: made)


@pytest.mark.usefixtures("few_docstrings")
@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_gives_a_valid_record(measure, backbone, tmp_path, monkeypatch):
    monkeypatch.setenv("SHOAL_CACHE", str(tmp_path))
    requests = planned(TINY, threads=1, measures=[measure], backbone=backbone)
    encode = TransformerEncoder.encode
    record = measures.take(requests[0])
    assert record["reason"] == ""
    assert record["status"] == OK
    json.dumps(record, allow_nan=False)
    assert record["schema"] == 1
    assert (record["kind"], record["measure"], record["threads"]) == ("speed", measure, 1)
    assert record["texts"].endswith("docstrings")
    assert record["reference"]
    if measure in GROWTHS:
        assert record["ratio"] == pytest.approx(record["reference_seconds"] / record["seconds"])
    else:
        assert min(record["ratios"]) <= record["ratio"] <= max(record["ratios"])
    assert all(record[name] > 0 for name in ("ratio", "seconds", "reference_seconds", "n_texts", "repeats"))
    assert record["peak_memory_mb"] is None or record["peak_memory_mb"] > 0
    assert {"shoal", "torch", "python"} <= record["versions"].keys()
    assert record["repeated_texts"] is False
    assert TransformerEncoder.encode is encode
    assert not list(tmp_path.iterdir()), "the user's own cache is left alone"


@pytest.mark.usefixtures("few_docstrings")
def test_encoding_gives_the_vectors_of_sentence_transformer(backbone):
    request = planned(TINY, threads=1, measures=["encode-titles"], backbone=backbone)[0]
    assert measures.take(request)["largest_difference"] < 1e-5


@pytest.mark.usefixtures("few_docstrings")
def test_fit_time_is_split_into_encoding_and_the_rest(backbone):
    request = planned(TINY, threads=1, measures=["growth-fit"], backbone=backbone)[0]
    record = measures.take(request)
    assert 0 < record["encode_seconds"] < record["seconds"]
    assert record["encode_seconds"] + record["other_seconds"] == pytest.approx(record["seconds"])


@pytest.mark.usefixtures("few_docstrings")
def test_a_method_without_encoder_has_no_reference():
    request = planned(TINY, threads=1, measures=["growth-fit"], method="tfidf-kmeans")[0]
    record = measures.take(request)
    assert (record["status"], record["encode_seconds"], record["ratio"]) == (OK, 0, None)


@pytest.mark.usefixtures("few_docstrings")
def test_what_cannot_be_had_is_unavailable_and_what_breaks_is_failed(monkeypatch):
    request = SpeedRequest("encode-titles", 40, "short docstrings", 1, 1, "no/such-model")
    assert measures.take(request)["status"] == UNAVAILABLE
    monkeypatch.setitem(measures.TAKERS, "fit", lambda request, texts: 1 / 0)
    record = measures.take(replace(request, measure="fit"))
    assert (record["status"], record["reason"]) == (FAILED, "ZeroDivisionError: division by zero")


# --- the command line


@pytest.fixture
def speed(tmp_path):
    """Return a function that runs ``speed ARGUMENTS`` with results in the test's folder."""
    app = typer.Typer()
    app.command()(speed_command.speed)
    file = tmp_path / "bench.jsonl"
    return lambda *arguments: CliRunner().invoke(app, [*map(str, arguments), "--results", str(file)])


@pytest.mark.slow
def test_the_command_measures_in_a_process_of_its_own(speed, backbone, results):
    arguments = ["--measure", "growth-cluster", "--sizes", "40", "--backbone", backbone, "--threads", 1, "--json"]
    answer = speed(*arguments)
    assert answer.exit_code == 0, answer.output
    content = json.loads(answer.stdout)
    assert (content["wanted"], content["already"]) == (1, 0)
    assert [(record["status"], record["n_texts"]) for record in content["records"]] == [(OK, 40)]
    assert content["records"] == results.records()
    assert json.loads(speed(*arguments).stdout)["already"] == 1


def test_a_dry_run_lists_and_measures_nothing(speed, made_up_runs, results):
    answer = speed("--tier", "standard", "--dry-run")
    assert answer.exit_code == 0
    assert "30,000" in answer.stdout
    listed = json.loads(speed("--tier", "standard", "--dry-run", "--json").stdout)["measures"]
    assert {each["measure"] for each in listed} == set(MEASURES)
    assert not made_up_runs
    assert not results.file.exists()


def test_the_table_shows_ratios_and_says_when_there_was_nothing_to_do(speed, made_up_runs):
    answer = speed("--measure", "fit", "--texts", 40)
    assert "2.00 times the speed of: made up" in answer.stdout
    assert "already" in speed("--measure", "fit", "--texts", 40).stderr


def test_a_failed_measure_shows_in_the_exit_code(speed, monkeypatch):
    failed = {"status": FAILED, "reason": "made up"}
    monkeypatch.setattr(speed_run, "_measured", lambda request: {**made_up(request), **failed})
    answer = speed("--measure", "fit")
    assert answer.exit_code == 1
    assert "failed: made up" in answer.stdout


def test_interrupted_it_says_how_to_go_on(speed, monkeypatch):
    def interrupted(request):
        raise KeyboardInterrupt

    monkeypatch.setattr(speed_run, "_measured", interrupted)
    answer = speed("--measure", "fit")
    assert answer.exit_code == 130
    assert "goes on from here" in answer.stderr


def test_results_that_cannot_be_written_are_said_before_anything_is_measured(tmp_path, made_up_runs):
    with pytest.raises(DataError, match="cannot be read"):
        run_speed(planned(TINY, threads=1), Results(tmp_path))
    (tmp_path / "file").touch()
    with pytest.raises(DataError):
        run_speed(planned(TINY, threads=1), Results(tmp_path / "file" / "bench.jsonl"))
    assert not made_up_runs


def test_wrong_sizes_are_a_sentence(speed):
    assert "--sizes 'many' are no sizes; pass whole numbers" in str(speed("--sizes", "many").exception)
    assert "no tier 'huge'" in str(speed("--tier", "huge").exception)
