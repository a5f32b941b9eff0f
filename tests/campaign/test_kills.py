"""A fit killed at a write, resumed: a share of what `make campaign` does at every write."""

from __future__ import annotations

import pytest

from campaign.forked_shoal import ForkedShoal
from campaign.kills import KINDS, KilledFits


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_a_write_it_can_be_resumed(kind, tmp_path):
    with ForkedShoal(tmp_path / "watched") as shoal:
        fits = KilledFits(shoal, kind, tmp_path / "base")
        assert fits.writes > 100
        # the first, one in the training, some while the model is saved, those of the last step
        early, late = [1, fits.writes // 3], [fits.writes * 3 // 5, fits.writes * 4 // 5]
        last = range(fits.writes - 1, fits.writes - 20 if kind == "overwrite" else fits.writes - 9, -4)
        failures = [
            attack.what + ": " + attack.failure for attack in fits.attacks([*early, *late, *last]) if attack.failure
        ]
    assert not failures, "\n".join(failures)
