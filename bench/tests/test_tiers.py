from __future__ import annotations

import pytest

from shoal.errors import ParameterError
from shoal_bench.tiers import TIERS, find_tier


def test_the_three_tiers():
    assert {name: (tier.cheap_texts, tier.expensive_texts, tier.seeds) for name, tier in TIERS.items()} == {
        "quick": (2000, 2000, (0,)),
        "standard": (None, 5000, (0, 1, 2)),
        "paper": (None, None, (0, 1, 2, 3, 4)),
    }
    assert find_tier("standard").texts("cheap") is None
    with pytest.raises(ParameterError, match="there is no tier 'slow'; the tiers are quick, standard, paper"):
        find_tier("slow")
