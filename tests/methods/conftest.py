from __future__ import annotations

import pytest

from shoal.methods import auto_encoded, idec_clusterer


@pytest.fixture
def short_pretraining(monkeypatch):
    """Auto-encoders are pre-trained for the epochs asked for, even if they are few steps."""
    monkeypatch.setattr(auto_encoded, "LEAST_STEPS", 1)


@pytest.fixture
def short_idec(monkeypatch, short_pretraining):
    """IDEC behind other vectors, trained for a few steps: its real length is tested in test_idec_clusterer."""
    short = {**idec_clusterer.PRESETS["clusterbert"], "pretrain_epochs": 30, "epochs": 10}
    monkeypatch.setattr(idec_clusterer, "PRESETS", {"clusterbert": short})
