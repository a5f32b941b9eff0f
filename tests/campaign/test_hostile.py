"""Tampered run folders: a share of those of `make campaign`, every way once."""

from __future__ import annotations

import pytest

from campaign.forked_shoal import ForkedShoal
from campaign.hostile import WAYS, HostileFolders


@pytest.mark.slow
def test_a_tampered_run_is_refused_with_a_sentence_or_does_no_harm(tmp_path):
    with ForkedShoal(tmp_path / "watched") as shoal:
        attacks = list(HostileFolders(shoal, seed=1).attacks(len(WAYS)))
    failures = [f"{attack.what}: {attack.failure}" for attack in attacks if attack.failure]
    assert not failures, "\n".join(failures)
