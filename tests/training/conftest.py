from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from shoal.encoder.transformer import TransformerEncoder
from shoal.training import CorpusViews, Objective, kmeans_from
from tiny_backbone import tiny_backbone

ANIMALS = ["cat", "dog", "horse", "sheep", "goat", "mouse"]
TOOLS = ["hammer", "saw", "drill", "nail", "screw", "wrench"]
TEXTS = [f"{words[i % 6]} {words[(i * 5 + 1) % 6]}" + " it" * (i % 4) for words in (ANIMALS, TOOLS) for i in range(12)]


@pytest.fixture(scope="session")
def backbone(tmp_path_factory):
    return tiny_backbone(tmp_path_factory.mktemp("backbone"))


@pytest.fixture
def encoder(backbone):
    return TransformerEncoder.load(backbone, max_length=32)


@pytest.fixture
def views(encoder):
    return CorpusViews.repeated(encoder.tokenise(TEXTS), 2)


class Gather(Objective):
    """Draws every text's two views towards the centre it is nearest to: a loss that is a mean over the rows."""

    def __init__(self, encoder, n_clusters=2, dimension=32):
        super().__init__(encoder)
        self.centers = nn.Parameter(torch.zeros(n_clusters, dimension))
        self.initialised = self.refreshed = 0

    def initialise(self, embeddings, rng):
        self.initialised += 1
        chosen = np.arange(len(self.centers)) * len(embeddings) // len(self.centers)
        with torch.no_grad():
            self.centers.copy_(torch.from_numpy(embeddings[chosen] + 0.01 * rng.normal(size=self.centers.shape)))

    def forward(self, batch):
        left, right = self.encode(batch)
        nearest = torch.cdist(left, self.centers).argmin(dim=1)
        return {
            "gather": (left - self.centers[nearest]).square().sum(dim=1).mean(),
            "agree": 0.5 * (left - right).square().sum(dim=1).mean(),
        }

    def refresh(self, embeddings):
        self.refreshed += 1

    def labels(self, embeddings, rng=None):
        start = self.centers.detach().numpy()
        return kmeans_from(embeddings, start).scores(embeddings).argmax(axis=1).astype(np.int64)


@pytest.fixture(scope="session")
def gather():
    return Gather
