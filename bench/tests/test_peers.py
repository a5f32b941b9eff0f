"""Peers: the machinery for real, with a tool that needs no packages; the scripts' own decisions with stand-ins."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
import threading
import time
from inspect import signature
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from shoal.errors import DataError, ParameterError, ShoalError
from shoal_bench import peers
from shoal_bench.peers import PEERS, Peer, answer, ensure_environment, environment, find_peer, run_peer
from shoal_bench.suite import load_suite, suite_names

TOOL = '''
"""A tool of the standard library: the cluster of a text is its length plus a shift, modulo K."""
import sys, time
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("pip",)

def prepare(n_clusters, seed, shift, mood):
    foreign = [name for name in ("shoal", "numpy", "torch") if find_spec(name)]
    if foreign:
        raise ImportError(f"{foreign} can be seen from here")
    seen = sorted(file.name for file in Path(sys.argv[2]).iterdir())
    if seen != ["request.json", "texts.json"]:
        raise ValueError(f"the folder holds {seen}")
    if mood == "slow to prepare":
        time.sleep(0.5)

    def fit(texts, vectors):
        if mood == "broken":
            print("a warning nobody needs", file=sys.stderr)
            raise RuntimeError("the tool broke")
        if mood == "forgetful":
            return [0]
        if mood == "hungry":
            bytearray(300_000_000)
        if mood == "dead":
            import os
            os._exit(3)
        return [(len(text) + seed + shift) % n_clusters - (text == "outlier") * 100 for text in texts]

    return fit
'''
TEXTS = ["a", "bb", "ccc", "dddd", 'ünï\n"code"']


# whoever needs the environment is slow: building it takes seconds
@pytest.fixture(scope="module", params=[pytest.param("built", marks=pytest.mark.slow)])
def built(tmp_path_factory):
    """A tool, and a cache folder with its environment, in whose place an unfinished one was before."""
    folder = tmp_path_factory.mktemp("peers")
    (folder / "run_tool.py").write_text(TOOL, encoding="utf-8")
    tool = Peer("tool", (), folder / "run_tool.py", {"shift": 0, "mood": "well"}, needs_vectors=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SHOAL_CACHE", str(folder / "cache"))
        tool.folder.mkdir(parents=True)
        (tool.folder / "left-over").touch()
        ensure_environment(tool)
    return tool, folder / "cache"


@pytest.fixture
def tool(built, monkeypatch):
    """The tool, known by name, its environment ready."""
    monkeypatch.setenv("SHOAL_CACHE", str(built[1]))
    monkeypatch.setitem(PEERS, "tool", built[0])
    return built[0]


def cell(peer: str = "tool", n_clusters: int = 3, seed: int = 0, **options) -> dict:
    params = {**options, "n_clusters": n_clusters}
    return {"method": None, "peer": peer, "params": params, "data_set": "x", "n_texts": None, "seed": seed}


def run(**options) -> dict:
    return run_peer(cell(**options), TEXTS, ["x"] * len(TEXTS), None)


def test_a_tool_is_run_in_its_own_environment_and_process(tool, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # of which it must see nothing
    found = run(n_clusters=3, seed=1, shift=1)
    assert found["labels"] == [(len(text) + 2) % 3 for text in TEXTS]
    assert set(found) == {"labels", "seconds", "peak_memory_mb", "versions"}
    assert set(found["versions"]) == {"pip", "python"}


def test_texts_without_cluster_are_negative(tool):
    assert run_peer(cell(n_clusters=2), ["outlier", "a"], ["x", "y"], None)["labels"] == [-99, 1]


def test_only_the_fit_is_timed(tool):
    assert run(mood="slow to prepare")["seconds"] < 0.4


@pytest.mark.skipif(sys.platform == "win32", reason="no count of memory")
def test_memory_is_the_tools_alone(tool):
    ballast = np.ones(60_000_000)  # 480 MB here, of which the tool has nothing
    modest, hungry = run()["peak_memory_mb"], run(mood="hungry")["peak_memory_mb"]
    assert ballast.sum() > 0
    if sys.platform == "linux":
        assert modest < 150
    assert hungry - modest > 200


def test_its_labels_come_back_whatever_the_seed_of_hashes(tool, monkeypatch):
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    assert run()["labels"] == [len(text) % 3 for text in TEXTS]


def test_the_temporary_folder_goes(tool, tmp_path, monkeypatch):
    monkeypatch.setattr(peers.tempfile, "tempdir", str(tmp_path))
    run()
    with pytest.raises(ShoalError):
        run(mood="broken")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("mood", "message"),
    [
        ("broken", "'tool' ended with code 1: RuntimeError: the tool broke"),
        ("dead", "'tool' ended with code 3: it said nothing"),
        ("forgetful", "'tool' gave 1 labels for 5 texts"),
    ],
)
def test_a_tool_that_fails_says_why(tool, mood, message):
    with pytest.raises(ShoalError, match=message):
        run(mood=mood)


def test_wrong_names_are_refused(tool):
    with pytest.raises(ParameterError, match="no peer 'fish'; the peers are bertopic, clustpy, top2vec"):
        run(peer="fish")
    with pytest.raises(ParameterError, match="'tool' has no option 'depth'; its options are: shift, mood"):
        run(depth=3)


def test_a_tool_of_vectors_is_not_even_installed_without_them(monkeypatch):
    monkeypatch.setattr(peers, "ensure_environment", lambda peer: pytest.fail("built"))
    with pytest.raises(DataError, match="'bertopic' works on vectors"):
        run_peer(cell("bertopic"), ["a"], ["x"], None)


def test_threads_are_pinned_for_numba_too(tool, monkeypatch):
    environments = []

    def keep(command, env, **_):
        environments.append(env)
        return SimpleNamespace(returncode=1, stderr="")

    monkeypatch.setattr(subprocess, "run", keep)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    with pytest.raises(ShoalError):
        run()
    assert environments[0]["NUMBA_NUM_THREADS"] == "3"
    assert environments[0]["HF_HUB_OFFLINE"] == "1"


# --- environments ---------------------------------------------------------------------------------------------------


def test_an_environment_is_built_once_and_anew_if_unfinished(tool, monkeypatch):
    assert not (tool.folder / "left-over").exists()
    monkeypatch.setattr(environment, "_build", lambda peer: pytest.fail("built again"))
    assert ensure_environment(tool) == tool.python


def test_other_requirements_have_another_folder(tool):
    other = Peer("tool", ("fish==1",), tool.script)
    assert other.folder != tool.folder
    assert other.folder.parent == tool.folder.parent
    assert other.folder.name.startswith("tool-")


def test_two_at_once_build_it_once(monkeypatch):
    peer, builds, pythons = Peer("pair", (), Path("run.py")), [], []

    def build(peer):
        builds.append(peer.name)
        time.sleep(0.2)
        peer.python.parent.mkdir(parents=True)
        peer.python.touch()

    monkeypatch.setattr(environment, "_build", build)
    threads = [threading.Thread(target=lambda: pythons.append(ensure_environment(peer))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert builds == ["pair"]
    assert pythons == [peer.python] * 3


def test_a_package_that_cannot_be_had_is_said_with_pips_own_words(tool, tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    peer = Peer("fishy", ("shoal-has-no-such-package==1.0",), tmp_path / "run.py")
    run = environment._run

    def copied(command, peer, tell):
        """Copy the tool's environment in place of making another."""
        if "venv" not in command:
            return run(command, peer, tell)
        shutil.copytree(tool.folder, peer.folder, symlinks=True, ignore=shutil.ignore_patterns(environment._MARKER))

    monkeypatch.setattr(environment, "_run", copied)
    with pytest.raises(ShoalError) as error:
        ensure_environment(peer)
    message = str(error.value)
    assert "the peer 'fishy' could not be built" in message
    assert "No matching distribution found for shoal-has-no-such-package==1.0" in message
    assert "reaches a package registry" in message
    assert not (peer.folder / environment._MARKER).exists()


def test_pips_errors_are_told_without_its_warnings():
    words = "WARNING: Retrying", "ERROR: No matching distribution", "a hint"
    command = [sys.executable, "-c", f"print({words!r}, sep='\\n'); raise SystemExit(2)".replace("print(", "print(*")]
    with pytest.raises(ShoalError, match=r"exit code 2:\n  ERROR: No matching distribution\nCheck that") as error:
        environment._run(command, find_peer("clustpy"), lambda *_: None)
    assert "Retrying" not in str(error.value)


def test_torch_comes_first_and_limits_what_follows(monkeypatch):
    commands = []

    def note(command, peer, tell):
        commands.append(command)
        peer.folder.mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr(environment, "_run", note)
    peer = find_peer("clustpy")
    ensure_environment(peer)
    _venv, first, second = commands
    limits = peer.folder / "constraints.txt"
    assert first[-1] == "torch==2.13.0"
    assert "--constraint" not in first, "pip would call a package that it cannot find a conflict"
    assert not any(part.startswith("torch==") for part in second)
    assert second[second.index("--constraint") + 1] == str(limits)
    assert limits.read_text() == "torch==2.13.0\n"
    assert "clustpy==0.0.3" in second


# --- the foreign side -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [[], ["one"], ["one", "two", "three"]])
def test_the_foreign_side_wants_a_script_and_a_folder(arguments):
    with pytest.raises(SystemExit, match=r"usage: answer\.py SCRIPT FOLDER"):
        answer.main(arguments)


def test_it_reads_vectors_if_they_are_there(tmp_path):
    script = tmp_path / "run.py"
    script.write_text(
        "PACKAGES = ('numpy',)\n"
        "def prepare(n_clusters, seed):\n"
        "    return lambda texts, vectors: vectors.argmax(axis=1)\n"
    )
    (tmp_path / "texts.json").write_text('["a", "b"]')
    (tmp_path / "request.json").write_text('{"n_clusters": 2, "seed": 0, "options": {}}')
    np.save(tmp_path / "vectors.npy", np.eye(2, dtype=np.float32)[::-1])
    answer.run(script, tmp_path)
    found = json.loads((tmp_path / "answer.json").read_text())
    assert found["labels"] == [1, 0]
    assert found["versions"]["numpy"] == np.__version__


@pytest.mark.skipif(os.name != "posix", reason="parents that die")
def test_it_ends_when_nobody_waits_for_it(tmp_path):
    script, held = tmp_path / "run.py", tmp_path / "held"
    script.write_text(
        f"import fcntl, time\nPACKAGES = ()\nfile = open({str(held)!r}, 'w')\n"
        "def prepare(n_clusters, seed):\n    fcntl.flock(file, fcntl.LOCK_EX)\n    time.sleep(60)\n"
    )
    (tmp_path / "texts.json").write_text("[]")
    (tmp_path / "request.json").write_text('{"n_clusters": 2, "seed": 0, "options": {}}')
    command = [sys.executable, "-I", answer.__file__, str(script), str(tmp_path)]
    starter = f"import subprocess; subprocess.run({command!r})"

    def wait_until(is_held):
        deadline = time.monotonic() + 30
        while held.exists() < is_held or _is_locked(held) != is_held:
            assert time.monotonic() < deadline, "it is still there" if is_held else "it never came"
            time.sleep(0.05)

    with subprocess.Popen([sys.executable, "-c", starter]) as parent:
        wait_until(True)
        parent.kill()
    wait_until(False)


def _is_locked(file: Path) -> bool:
    """Tell whether a living process holds the lock on a file."""
    import fcntl

    with file.open() as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


# --- the tools ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PEERS)
def test_every_tool_is_pinned_and_its_script_takes_its_options(name):
    peer = find_peer(name)
    assert peer.name == name
    assert all(requirement.count("==") == 1 for requirement in peer.requirements)
    script = runpy.run_path(str(peer.script))
    assert list(signature(script["prepare"]).parameters) == ["n_clusters", "seed", *peer.options]
    pinned = {requirement.partition("==")[0] for requirement in peer.requirements}
    assert set(script["PACKAGES"]) <= pinned
    assert "import shoal" not in peer.script.read_text()
    assert "from shoal" not in peer.script.read_text()


def test_rows_of_suites_name_tools_and_options_that_exist():
    rows = [row for name in suite_names() for row in load_suite(name).rows if row.peer]
    assert {row.peer for row in rows} == set(PEERS)
    for row in rows:
        assert set(row.peer_options) <= set(find_peer(row.peer).options), row.name


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("bertopic", {"topics": "many", "outliers": "kept"}),
        ("bertopic", {"topics": "found", "outliers": "lost"}),
        ("clustpy", {"algorithm": "XYZ", "pretrain_epochs": 1, "clustering_epochs": 1}),
        ("top2vec", {"topics": "many"}),
    ],
)
def test_scripts_refuse_values_before_they_import_anything(name, options):
    prepare = runpy.run_path(str(find_peer(name).script))["prepare"]
    with pytest.raises(ValueError, match="pass one of"):
        prepare(4, 0, **options)


class FakeBERTopic:
    """Finds the topics that it is told; keeps what it was asked for."""

    topics: tuple[int, ...] = ()

    def __init__(self, umap_model, hdbscan_model, calculate_probabilities):
        self.asked = {"umap": umap_model, "clusterer": hdbscan_model}
        FakeBERTopic.last = self

    def fit_transform(self, texts, embeddings):
        return list(self.topics), None

    def reduce_topics(self, texts, nr_topics):
        self.asked["nr_topics"] = nr_topics
        self.topics_ = [min(topic, 1) for topic in self.topics]
        return self

    def reduce_outliers(self, texts, topics, strategy, embeddings):
        self.asked["strategy"] = strategy
        return [max(topic, 0) for topic in topics]


@pytest.mark.parametrize(
    ("topics", "outliers", "found", "labels", "nr_topics"),
    [
        ("found", "kept", [0, 1, 2, -1], [0, 1, 2, -1], None),
        ("found", "assigned", [0, 1, 2, -1], [0, 1, 2, 0], None),
        ("merged", "kept", [0, 1, 2, -1], [0, 1, 1, -1], 3),  # two topics and that of the outliers
        ("merged", "assigned", [0, 1, 2, 0], [0, 1, 1, 0], 2),  # no outliers: two topics
        ("k-means", "kept", [0, 1, 1, 0], [0, 1, 1, 0], None),
    ],
)
def test_bertopic_is_brought_to_k_as_said(monkeypatch, topics, outliers, found, labels, nr_topics):
    monkeypatch.setitem(sys.modules, "bertopic", SimpleNamespace(BERTopic=FakeBERTopic))
    monkeypatch.setitem(sys.modules, "umap", SimpleNamespace(UMAP=lambda **options: options))
    monkeypatch.setattr(FakeBERTopic, "topics", found)
    fit = runpy.run_path(str(find_peer("bertopic").script))["prepare"](2, 5, topics, outliers)
    assert fit(["a", "b", "c", "d"], np.eye(4)) == labels
    asked = FakeBERTopic.last.asked
    assert asked.get("nr_topics") == nr_topics
    assert asked["umap"]["random_state"] == 5
    assert (asked["clusterer"] is not None) == (topics == "k-means")


@pytest.mark.parametrize(
    ("n_clusters", "topics", "labels"), [(2, "merged", [0, 0]), (2, "found", [7, 8]), (9, "merged", [7, 8])]
)
def test_top2vec_gets_our_vectors_and_merges_only_what_is_too_many(monkeypatch, n_clusters, topics, labels):
    vectors = np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32)

    class FakeTop2Vec:
        def __init__(self, texts, embedding_model, min_count, umap_args, verbose):
            assert embedding_model(texts).tolist() == vectors.tolist()
            assert embedding_model(["a word"]).tolist() == [[0.5, 0.5]]
            assert umap_args["random_state"] == 5
            self.doc_top = [7, 8]

        def get_num_topics(self):
            return 9

        def hierarchical_topic_reduction(self, wanted):
            assert wanted == n_clusters
            self.doc_top_reduced = [0, 0]

    monkeypatch.setitem(sys.modules, "top2vec", SimpleNamespace(Top2Vec=FakeTop2Vec))
    fit = runpy.run_path(str(find_peer("top2vec").script))["prepare"](n_clusters, 5, topics)
    assert fit(["one", "two"], vectors) == labels


def test_clustpy_gets_vectors_scaled_as_its_paper_says(monkeypatch):
    class FakeDEC:
        def __init__(self, n_clusters, pretrain_epochs, clustering_epochs, random_state):
            self.asked = (n_clusters, pretrain_epochs, clustering_epochs, random_state)

        def fit(self, vectors):
            assert self.asked == (2, 3, 4, 5)
            assert np.mean(vectors**2) == pytest.approx(1)
            self.labels_ = [0, 1]
            return self

    monkeypatch.setitem(sys.modules, "torchvision", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "clustpy", SimpleNamespace(deep=SimpleNamespace(DEC=FakeDEC)))
    fit = runpy.run_path(str(find_peer("clustpy").script))["prepare"](2, 5, "DEC", 3, 4)
    assert fit(["one", "two"], np.array([[0.6, 0.8, 0.0], [0.0, 1.0, 0.0]])) == [0, 1]
