"""Suites: every file reads, every method in it exists, the published figures are the papers'."""

from __future__ import annotations

import pytest

from shoal.errors import DataError, ParameterError
from shoal.methods import METHODS
from shoal_bench.data_sets import DATA_SETS
from shoal_bench.suite import load_suite, suite_names
from shoal_bench.tiers import TIERS

STANDARD, PAPER = TIERS["standard"], TIERS["paper"]


def row_of(suite: str, name: str):
    return next(row for row in load_suite(suite).rows if row.name == name)


@pytest.mark.parametrize("name", suite_names())
def test_every_suite_is_sound(name):
    suite = load_suite(name)
    assert set(suite.data_sets) <= DATA_SETS.keys()
    assert set(suite.quick_data_sets) <= set(suite.data_sets)
    for row in suite.rows:
        assert row.published.keys() <= set(suite.metrics), row.name
        assert {data_set for figures in row.published.values() for data_set in figures} <= set(suite.data_sets)
        assert all(0 < figure <= 100 for figures in row.published.values() for figure in figures.values())
        assert row.paper_for.keys() <= set(suite.data_sets)
    for tier in TIERS.values():
        for row, cell in suite.cells(tier):
            told = row.params.get("n_clusters", DATA_SETS[cell.data_set].n_classes)
            assert cell.params["n_clusters"] == told
            assert cell.k_is_told == ("K unknown" not in row.name)
            if row.method is not None:
                METHODS[cell.method](**cell.params, random_state=cell.seed)


def test_the_suites_that_the_papers_have():
    assert {f"sccl-{what}" for what in ("table1", "table3", "figure3", "figure4", "figure5", "figure6")} <= set(
        suite_names()
    )
    assert {"clusterbert-table2", "clusterbert-table3", "deccrl-table2", "deccrl-table3"} <= set(suite_names())
    assert {"mlm-dec-table1", "mlm-dec-table2"} <= set(suite_names())
    assert all(load_suite(name).runnable for name in suite_names())


@pytest.mark.parametrize(("data_set", "fitted"), [("agnews", 6400), ("stackoverflow", 15084), ("biomedical", 15583)])
def test_the_split_of_deccrls_table_1(data_set, fitted):
    cell = row_of("deccrl-table2", "DECCRL, texts never seen").cell(DATA_SETS[data_set], PAPER, 0)
    assert cell.n_texts is None
    assert round(cell.train_share * DATA_SETS[data_set].n_texts) == fitted
    assert row_of("deccrl-table2", "DECCRL").cell(DATA_SETS[data_set], PAPER, 0).train_share is None


def test_the_variants_of_deccrl():
    assert row_of("deccrl-table3", "DECCRL without CRL").params == {"reconstruction": "none"}
    assert [row.params["n_topics"] for row in load_suite("deccrl-figure4").rows] == [1, 5, 10, 15, 20, 25, 30]
    cell = row_of("deccrl-table2", "DECCRL").cell(DATA_SETS["biomedical"], PAPER, 0)
    assert (cell.params["alpha"], cell.params["n_topics"], cell.params["word_vectors"]) == (10.0, 20, "word2vec")


@pytest.mark.parametrize(
    ("suite", "row", "metric", "data_set", "figure"),
    [
        ("sccl-table1", "BoW + k-means", "acc", "stackoverflow", 18.5),
        ("sccl-table1", "TF-IDF + k-means", "nmi", "googlenews_s", 83.0),
        ("sccl-table1", "STCC", "acc", "biomedical", 43.6),
        ("sccl-table1", "Self-Train", "nmi", "biomedical", 47.1),
        ("sccl-table1", "HAC-SD", "acc", "tweet", 89.6),
        ("sccl-table1", "SCCL", "acc", "agnews", 88.2),
        ("sccl-table1", "SCCL", "nmi", "googlenews_ts", 94.9),
        ("sccl-table3", "SCCL, WordNet", "acc", "tweet", 70.6),
        ("sccl-table3", "SCCL, back translation", "nmi", "biomedical", 39.5),
        ("sccl-table3", "SCCL, contextual", "acc", "searchsnippets", 85.0),
        ("clusterbert-table2", "ClusterBERT", "acc", "stackoverflow", 79.9),
        ("clusterbert-table3", "VaSCL + UMAP + k-means", "nmi", "agnews", 55.8),
        ("clusterbert-table4", "SIF + IDEC (Hadifar et al. 2019)", "acc", "searchsnippets", 77.1),
        ("deccrl-table2", "DECCRL", "acc", "stackoverflow", 82.3),
        ("deccrl-table3", "DECCRL without CRL", "nmi", "agnews", 59.2),
        ("mlm-dec-table1", "IDEC", "purity", "trec6", 26.33),
        ("mlm-dec-table2", "MLM + DEC with [CLS]", "purity", "dbpedia", 65.18),
    ],
)
def test_published_figures(suite, row, metric, data_set, figure):
    assert row_of(suite, row).published[metric][data_set] == figure


def test_what_a_paper_does_not_report_is_not_there():
    assert "agnews" not in row_of("sccl-table1", "STCC").published["acc"]
    assert not row_of("sccl-table1", "MiniLM + k-means").published


def test_one_fit_serves_every_table_that_asks_for_it():
    stackoverflow = DATA_SETS["stackoverflow"]
    cells = [
        row_of(suite, name).cell(stackoverflow, STANDARD, 0)
        for suite, name in (
            ("sccl-table1", "SCCL"),
            ("sccl-figure3", "SCCL"),
            ("sccl-figure5", "Corpus neighbours, 20 %"),
            ("deccrl-table2", "SCCL"),
        )
    ]
    assert len({cell.key(stackoverflow.sha256) for cell in cells}) == 1


def test_tiers_decide_texts_and_parameters():
    sccl = row_of("sccl-table1", "SCCL")
    assert sccl.cell(DATA_SETS["agnews"], STANDARD, 0).n_texts == 5000
    assert sccl.cell(DATA_SETS["tweet"], STANDARD, 0).n_texts is None, "a set below the limit is whole"
    assert sccl.cell(DATA_SETS["agnews"], STANDARD, 0, n_texts=70).n_texts == 70
    assert row_of("sccl-table1", "BoW + k-means").cell(DATA_SETS["agnews"], STANDARD, 0).n_texts is None
    assert sccl.cell(DATA_SETS["agnews"], STANDARD, 0).params == {"n_clusters": 4}
    papers = sccl.cell(DATA_SETS["biomedical"], PAPER, 4)
    assert (papers.params["alpha"], papers.params["max_steps"]) == (10.0, 3000)
    assert (papers.params["augmentation"], papers.params["guard"]) == ("contextual", False)
    assert "alpha" not in sccl.cell(DATA_SETS["agnews"], PAPER, 4).params
    wordnet = row_of("sccl-table3", "SCCL, WordNet").cell(DATA_SETS["tweet"], PAPER, 0)
    assert wordnet.params["augmentation"] == "wordnet", "a row's own parameters win over the preset"


def test_a_peers_cell_has_its_options_and_no_method(suite_file):
    suite_file.write_text(
        'title = "t"\nsource = "s"\ndata_sets = ["tweet"]\n'
        '[[rows]]\nname = "B"\npeer = "bertopic"\npeer_options = { topics = "merged" }\n'
    )
    cell = load_suite(str(suite_file)).rows[0].cell(DATA_SETS["tweet"], STANDARD, 1)
    assert (cell.method, cell.peer, cell.params) == (None, "bertopic", {"topics": "merged", "n_clusters": 89})


def test_a_row_may_let_its_method_find_k():
    row = row_of("shoal", "Shoal, K unknown")
    cell = row.cell(DATA_SETS["tweet"], STANDARD, 0)
    assert (cell.params, cell.k_is_told) == ({"n_clusters": "auto"}, False)
    assert cell.key("a") != row_of("shoal", "Shoal").cell(DATA_SETS["tweet"], STANDARD, 0).key("a")


def test_a_suite_of_ones_own(suite_file, data):
    suite = load_suite(str(suite_file))
    assert (suite.name, suite.kind, suite.metrics) == ("topics-table", "table", ("acc", "nmi"))
    cells = [cell for _, cell in suite.cells(TIERS["quick"])]
    assert [cell.method for cell in cells] == ["bow-kmeans", "tfidf-kmeans"]
    assert {cell.params["n_clusters"] for cell in cells} == {3}
    with pytest.raises(ParameterError, match="row 'Later' has no method yet"):
        suite.rows[2].cell(DATA_SETS["tweet"], STANDARD, 0)


def test_a_row_that_the_quick_tier_leaves_out(suite_file, data):
    suite_file.write_text(
        'title = "t"\nsource = "s"\ndata_sets = ["topics"]\n'
        '[[rows]]\nname = "A"\nmethod = "bow-kmeans"\n[[rows]]\nname = "B"\nmethod = "tfidf-kmeans"\nquick = false\n'
    )
    suite = load_suite(str(suite_file))
    assert [row.name for row in suite.rows if row.runs_in(TIERS["quick"])] == ["A"]
    assert [row.name for row in suite.rows if row.runs_in(STANDARD)] == ["A", "B"]
    assert {row.name for row, _ in suite.cells(TIERS["quick"])} == {"A", "B"}, "who asks for it by name gets it"


def test_no_such_suite(tmp_path):
    with pytest.raises(ParameterError, match=r"there is no suite 'sccl-table9'; the suites are .*sccl-table1"):
        load_suite("sccl-table9")
    with pytest.raises(DataError, match="cannot be read"):
        load_suite(str(tmp_path / "nowhere.toml"))


def test_the_figure_with_maps_shows_all_epochs():
    (figure,) = load_suite("mlm-dec-figure2").rows
    table = row_of("mlm-dec-table1", "MLM + DEC")
    mapped, plain = (row.cell(DATA_SETS["dbpedia"], STANDARD, 0) for row in (figure, table))
    assert (mapped.extras, plain.extras) == (("maps",), ())
    assert mapped.params["epochs"] == 5, "all the epochs of the paper's figure"
    assert mapped.params["guard"] is False
