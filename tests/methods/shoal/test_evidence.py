from __future__ import annotations

import pytest

from shoal.methods.shoal.evidence import BALANCED, UNEQUAL, Evidence, choose


def test_unequal_clusters_are_taken_if_they_are_about_as_distinct():
    balanced = Evidence(BALANCED, modularity=0.6, silhouette=0.20, link=0.06)
    assert balanced.distinctness == pytest.approx(0.6 * 0.2**1.5 / 0.06)
    for taken in (Evidence(UNEQUAL, 0.7, 0.21, 0.06), Evidence(UNEQUAL, 0.6, 0.20, 0.07)):
        assert choose([balanced, taken])[0] == UNEQUAL
    splinters = Evidence(UNEQUAL, 0.65, 0.21, 0.12)  # stronger, but what was cut off hangs on to the rest
    assert splinters.strength > balanced.strength
    for left in (splinters, Evidence(UNEQUAL, 0.5, 0.20, 0.06), Evidence(UNEQUAL, 0.4, 0.195, 0.06)):
        assert choose([balanced, left])[0] == BALANCED
    nothing = [Evidence(branch, 0.0, 0.0, 0.0) for branch in (BALANCED, UNEQUAL)]
    assert choose(nothing)[0] == BALANCED


def test_clusters_that_are_apart_are_equally_distinct_however_far():
    assert Evidence("x", 0.5, 0.2, 0.0).distinctness == Evidence("x", 0.5, 0.2, 0.01).distinctness


def test_the_strongest_of_the_balanced_partitions_is_taken():
    plain, half = Evidence("plain", 0.5, 0.22, 0.1), Evidence("half", 0.55, 0.22, 0.1)
    whole = Evidence("whole", 0.6, 0.20, 0.1)
    assert choose([plain, half, whole, Evidence(UNEQUAL, 0.1, 0.1, 0.1)])[0] == "half"


def test_smoothing_that_costs_too_much_silhouette_is_not_weighed():
    plain, torn = Evidence("plain", 0.40, 0.200, 0.1), Evidence("torn", 0.60, 0.189, 0.1)
    assert torn.strength > plain.strength
    assert choose([plain, torn])[0] == "plain"
    assert choose([plain, Evidence("near", 0.60, 0.191, 0.1)])[0] == "near"
    linked = Evidence(UNEQUAL, 0.80, 0.189, 0.05)  # linkage follows the graph too
    assert linked.distinctness > 2 * plain.distinctness
    assert choose([plain, linked])[0] == "plain"
    assert choose([Evidence("less bad", 0.1, -0.2, 0.1), Evidence("bad", 0.1, -0.3, 0.1)])[0] == "less bad"


def test_evidence_is_weak_if_either_part_is():
    assert Evidence("x", 0.5, 0.25, 0.1).strength == pytest.approx(0.5 * 0.125)
    assert Evidence("x", -0.5, 0.5, 0.1).strength == Evidence("x", 0.5, -0.5, 0.1).strength == 0
