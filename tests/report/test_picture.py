"""The map as a picture."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest

from shoal.errors import DataError, ParameterError
from shoal.report.picture import draw_map, save_map

matplotlib.use("Agg")


@pytest.mark.parametrize(("ending", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_every_format_and_the_same_file_again(contents, tmp_path, ending, start):
    one, other = (save_map(contents, tmp_path / f"{name}.{ending}", dpi=60).read_bytes() for name in "ab")
    assert one.startswith(start)
    assert one == other


def test_another_format_is_refused(contents, tmp_path):
    with pytest.raises(ParameterError, match=r"'map.docx' has no known format; pass a name that ends with .svg"):
        save_map(contents, tmp_path / "map.docx")


def test_axes_in_axes_out(contents):
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert draw_map(contents, ax) is ax
    assert len(ax.collections[0].get_offsets()) == 119
    assert {text.get_text() for text in ax.texts} <= {cluster.name for cluster in contents.clusters}
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) >= 1
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])
    assert not draw_map(contents, Figure().subplots(), names=False).texts


def test_nothing_to_draw(contents):
    with pytest.raises(DataError, match="nothing to draw"):
        draw_map(contents.with_places(np.full_like(contents.places, np.nan)))
