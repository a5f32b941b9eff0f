"""What became of clusters: every kind of change, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.clustering import Cluster
from shoal.errors import DataError
from shoal.report.comparison import changes_of, compare, shared_rows
from shoal.report.comparison_page import compare_report


def kinds(counts) -> list[tuple]:
    return [(change.kind, change.before, change.after) for change in changes_of(np.array(counts))]


def test_every_kind_of_change():
    counts = [
        [50, 0, 0, 0, 0, 2],  # stayed
        [0, 30, 28, 0, 0, 0],  # split
        [0, 0, 0, 40, 0, 0],  # merged with the next
        [0, 0, 0, 35, 0, 1],
        [6, 5, 5, 6, 0, 7],  # scattered
        [0, 0, 0, 0, 0, 0],  # empty
    ]
    assert kinds(counts) == [
        ("stayed", (0,), (0,)),
        ("split", (1,), (1, 2)),
        ("merged", (2, 3), (3,)),
        ("gone", (4,), ()),
        ("new", (), (5,)),
    ]


def test_every_cluster_with_texts_has_one_fate():
    rng = np.random.default_rng(0)
    for _ in range(50):
        counts = rng.poisson(rng.gamma(0.3, 10, (7, 9)))
        found = changes_of(counts)
        old = [i for change in found for i in change.before]
        new = [j for change in found for j in change.after]
        assert sorted(old) == np.flatnonzero(counts.sum(axis=1)).tolist()
        assert sorted(new) == np.flatnonzero(counts.sum(axis=0)).tolist()


def test_the_same_run_has_only_stayed(contents):
    same = compare(contents, contents)
    assert {change.kind for change in same.changes} == {"stayed"}
    assert same.agreement == pytest.approx({"matched": 100, "nmi": 100, "ari": 100})
    assert same.n_shared == same.n_before == same.n_after == 119


def test_texts_correspond_by_content_and_copy():
    first, second = shared_rows(["a", "b", "a", "c"], ["c", "a", "d", "a", "a"])
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == [(0, 1), (2, 3), (3, 0)]


def test_rows_in_another_order(contents):
    order = np.random.default_rng(0).permutation(len(contents.texts))
    shuffled = replace(
        contents,
        texts=[contents.texts[i] for i in order],
        labels=contents.labels[order],
        second=contents.second[order],
        confidence=contents.confidence[order],
    )
    assert compare(contents, shuffled).agreement["ari"] > 99


def test_nothing_in_common(contents):
    with pytest.raises(DataError, match="no text in common"):
        compare(contents, replace(contents, texts=[f"other {i}" for i in range(len(contents.texts))]))


@pytest.mark.slow
def test_the_page_opens(opened, contents, tmp_path):
    from axe_playwright_python.sync_playwright import Axe

    merged = replace(
        contents,
        labels=np.minimum(contents.labels, 1),
        clusters=(Cluster(0, "<b>one</b>", 40, 0.9), Cluster(1, "both", 79, 0.9)),
    )
    page = opened(compare_report(compare(contents, merged), "a", "<script>b</script>").save(tmp_path / "page.html"))
    assert page.title() == "a → <script>b</script>"
    assert page.locator("svg path.flow").count() == 3
    assert "merged" in page.locator("table").inner_text()
    page = opened(tmp_path / "page.html", viewport={"width": 390, "height": 800}, bypass_csp=True)
    faults = Axe().run(page).response["violations"]
    assert [fault["id"] for fault in faults if fault["impact"] in ("serious", "critical")] == []
