"""Odd values of parameters: a share of those of `make campaign`, and the way there of Hypothesis."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from campaign.values import OddValues
from shoal.errors import ParameterError
from shoal.methods import METHODS
from shoal.parameters import parameters_of

DECLARED = [(name, key) for name in METHODS for key in parameters_of(METHODS[name].estimator)]
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.binary(max_size=5)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=2)
)


@pytest.mark.slow
def test_an_odd_value_is_used_or_refused_with_a_sentence(tmp_path):
    attacks = list(OddValues(tmp_path, seed=2).attacks(600))
    failures = [f"{attack.what}: {attack.failure}" for attack in attacks if attack.failure]
    assert not failures, "\n".join(failures)


@settings(max_examples=200, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(place=st.sampled_from(DECLARED), value=VALUES)
def test_a_limit_judges_any_value(place, value):
    name, key = place
    declaration = parameters_of(METHODS[name].estimator)[key]
    if declaration.limit is not None and not declaration.limit.allows(value):
        with pytest.raises(ParameterError, match=f"^{key}="):
            declaration.check(key, value)
