from __future__ import annotations

import pytest

from shoal.methods import idec_clusterer


@pytest.fixture
def short_idec(monkeypatch):
    """IDEC behind other vectors, trained for a few steps: its real length is tested in test_idec_clusterer."""
    short = {**idec_clusterer.PRESETS["clusterbert"], "pretrain_epochs": 30, "epochs": 10}
    monkeypatch.setattr(idec_clusterer, "PRESETS", {"clusterbert": short})
