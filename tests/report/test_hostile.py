"""A hundred thousand equal texts have a report, too."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.clustering import Cluster, Clustering
from shoal.report import Contents, make_report, place


@pytest.mark.slow
def test_a_hundred_thousand_equal_texts(opened, tmp_path):
    n = 100_000
    clustering = Clustering(
        np.zeros(n, dtype=np.int64),
        np.ones((n, 1), dtype=np.float32),
        (Cluster(0, "same", n, 1.0, ("same",), ("same",)),),
    )
    places = place(np.ones((n, 16), dtype=np.float32))
    assert np.isfinite(places[:, 0]).sum() == 20_000
    report = make_report(Contents.of(clustering, ["same text <b>"] * n, places, {}))
    assert len(report.html) < 3_000_000
    page = opened(report.save(tmp_path / "page.html"))
    assert page.locator(".note").inner_text() == "A sample of 20,000 of 100,000 texts"
    assert "100% near-duplicates" in page.locator(".card .facts").first.inner_text().replace(" %", "%")
    page.get_by_placeholder("Search the texts").fill("same")
    page.wait_for_selector("#found:not([hidden])")
    assert page.locator("#found h3").inner_text() == "20,000 texts with “same”"
