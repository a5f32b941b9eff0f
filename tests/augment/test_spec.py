from __future__ import annotations

import pytest

from shoal.augment import AUGMENTERS, Compose, make_augmenter
from shoal.errors import ParameterError


def test_name_alone_takes_the_default_strength():
    assert make_augmenter("char_swap").strength == 0.2


def test_value_after_the_colon():
    assert make_augmenter("contextual:0.3").strength == 0.3
    assert make_augmenter("back_translation:medium").choice == "medium"


def test_plus_composes():
    composed = make_augmenter("contextual + char_swap:0.1")
    assert isinstance(composed, Compose)
    assert [step.name for step in composed.augmenters] == ["contextual", "char_swap"]
    assert composed.augmenters[1].strength == 0.1


def test_options_go_to_their_augmenter_only():
    augmenter = make_augmenter("contextual", {"contextual": {"models": "some/model"}, "wordnet": {"x": 1}})
    assert augmenter.models == ("some/model",)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ParameterError, match="'wordnett' is unknown") as caught:
        make_augmenter("wordnett:0.2")
    assert all(name in str(caught.value) for name in AUGMENTERS)


@pytest.mark.parametrize(
    ("spec", "options", "message"),
    [
        ("char_swap:much", {}, "a strength is a number"),
        ("virtual:0.2", {}, "takes none"),
        ("back_translation:worst", {}, "choice='worst'"),
        ("back_translation", {"back_translation": {"engine": "babel"}}, "engine='babel'"),
        ("neighbour", {}, "texts"),
        ("char_swap", {"char_swap": {"colour": 1}}, "colour"),
        ("contextual", {"contextual": {"top_n": 0}}, "top_n=0"),
        ("", {}, "unknown"),
        ("char_swap+", {}, "unknown"),
    ],
)
def test_bad_specs_are_refused(spec, options, message):
    with pytest.raises(ParameterError, match=message):
        make_augmenter(spec, options)


def test_virtual_changes_no_text():
    assert not make_augmenter("virtual").changes_text
    assert make_augmenter("virtual+char_swap").changes_text
