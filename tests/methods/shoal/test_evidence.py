from __future__ import annotations

import numpy as np
import pytest

from shoal.methods.shoal.evidence import agreement, explains_more


def test_what_counts_is_the_share_of_the_rest_that_is_left():
    assert explains_more(0.7, 0.6, 0.2)  # 0.3 is three quarters of 0.4
    assert not explains_more(0.7, 0.6, 0.3)
    assert not explains_more(0.6, 0.7, 0.0)
    assert explains_more(0.6, 0.6, 0.0)


def test_agreement_is_the_mean_over_all_pairs():
    one, other = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    assert agreement([one, 1 - one]) == 1
    assert agreement([one, other]) == pytest.approx(-0.5)
    assert agreement([one, one, other]) == pytest.approx(0)
    assert agreement([one]) == agreement([]) == 1
