"""Odd files: a share of those of `make campaign`."""

from __future__ import annotations

import pytest

from campaign.files import OddFiles


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_every_cell_is_what_others_see(seed, tmp_path):
    attacks = list(OddFiles(tmp_path, seed).attacks(200))
    failures = [f"{attack.what}: {attack.failure}" for attack in attacks if attack.failure]
    assert not failures, "\n".join(failures)
