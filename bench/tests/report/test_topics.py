"""The chapter of a suite about topics has their words."""

from __future__ import annotations

from made_data import table_of
from shoal_bench.report.suite_chapter import suite_chapter
from shoal_bench.report.summary import summarise


def test_the_largest_clusters_are_shown_with_their_topics(made_suite, made_records):
    clusters = [
        {
            "name": f"cluster {k}",
            "size": 10 * k,
            "topics": [
                {"words": ["own", f"w{k}"], "share": 0.6, "general": False},
                {"words": ["file"], "share": 0.4, "general": True},
            ],
        }
        for k in range(5)
    ]
    npmi = dict.fromkeys(("topics", "telling", "largest", "c_tf_idf"), 0.0)
    known = {
        record["key"]: {**record, "topics": {"clusters": clusters, "npmi": npmi}}
        if (record["cell"]["method"], record["cell"]["data_set"]) == ("sccl", "tweet")
        else record
        for record in made_records
    }
    blocks = suite_chapter(summarise(made_suite.model_copy(update={"kind": "topics"}), known), [])
    place = blocks.index("### Topics of Gamma on tweet, seed 0")
    _, rows = table_of(blocks[place + 1])
    assert rows == [row for k in (4, 3, 2) for row in ([f"cluster {k}", f"own, w{k}", ""], ["", "file", "general"])]
    plain = suite_chapter(summarise(made_suite, known), [])
    assert not any("Topics" in block for block in plain)
