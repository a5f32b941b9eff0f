"""Clusters next to each other never look alike, whatever the eye, up to 150 of them."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.report.colours import ALIKE, DARK, LIGHT, choose_colours, differences, neighbours_on_map


def contrast(colour: str, ground: str) -> float:
    def light(shade: str) -> float:
        parts = [int(shade[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted([light(colour), light(ground)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("n_clusters", [2, 12, 40, 150])
@pytest.mark.parametrize("seed", range(3))
def test_neighbours_are_never_alike(n_clusters, seed):
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-1, 1, (n_clusters, 2))
    places = rng.uniform(-1, 1, (6000, 2))  # a map without gaps: every cluster has neighbours all around
    labels = np.square(places[:, None] - centres).sum(axis=2).argmin(axis=1)
    touching = neighbours_on_map(places, labels, n_clusters)
    chosen = choose_colours(touching)
    for palette in (LIGHT, DARK):
        apart = differences(palette)[chosen[:, None], chosen]
        assert apart[touching >= 20].min(initial=1) >= ALIKE


@pytest.mark.parametrize(("palette", "ground"), [(LIGHT, "#ffffff"), (DARK, "#131a21")])
def test_every_colour_is_seen_on_its_ground(palette, ground):
    assert min(contrast(colour, ground) for colour in palette) > 1.7


def test_many_colours_are_used():
    touching = np.zeros((12, 12), dtype=np.int64)
    assert len(set(choose_colours(touching))) == 12
