from __future__ import annotations

import inspect
import math

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

from shoal.errors import ParameterError
from shoal.methods import METHODS
from shoal.parameters import (
    FLAG,
    Limit,
    Parameter,
    check_parameters,
    declared,
    number,
    one_of,
    optional,
    parameter,
    parameters_of,
    positional,
    share_of,
    whole,
)

SCALES = Parameter("round", "The shape of its scales.", one_of("round", "pointed"))


@declared
class Fish(BaseEstimator):
    """A fish.

    It swims.

    Attributes
    ----------
    depth_ : float
        Where it is.
    """

    name: str = positional(default="nobody", meaning="What it is called.", kw_only=False)
    fins: int = parameter(7, "How many it has.", whole())
    scales: str = SCALES
    asleep: bool = parameter(False, "Whether it sleeps.", FLAG)
    weight: float | None = parameter(None, "In grams; None if nobody knows.", optional(number(above=0)))


@declared
class Salmon(Fish):
    """A salmon."""

    scales: str = SCALES.but("pointed")
    leaps: int = parameter(2, "How often it leaps.", whole(0))


@declared
class Bare:
    fins: int = parameter(1, "How many it has.")


class TestDeclared:
    def test_the_constructor_stores_what_it_is_given_and_the_defaults_else(self):
        fish = Fish("Wanda", fins=3)
        assert (fish.name, fish.fins, fish.scales, fish.asleep, fish.weight) == ("Wanda", 3, "round", False, None)

    def test_only_what_is_positional_goes_by_position(self):
        assert Fish(name="Wanda").name == "Wanda"
        with pytest.raises(TypeError, match="positional"):
            Fish("Wanda", 3)
        with pytest.raises(TypeError, match="gills"):
            Fish(gills=2)

    def test_the_signature_has_names_annotations_and_defaults(self):
        found = inspect.signature(Fish).parameters
        assert {name: each.default for name, each in found.items()} == {
            "name": "nobody",
            "fins": 7,
            "scales": "round",
            "asleep": False,
            "weight": None,
        }
        assert {name: each.annotation for name, each in found.items()} == {
            "name": "str",
            "fins": "int",
            "scales": "str",
            "asleep": "bool",
            "weight": "float | None",
        }
        kinds = {name: each.kind for name, each in found.items()}
        assert kinds.pop("name") is inspect.Parameter.POSITIONAL_OR_KEYWORD
        assert set(kinds.values()) == {inspect.Parameter.KEYWORD_ONLY}

    def test_a_class_inherits_parameters_and_may_change_their_defaults(self):
        assert set(parameters_of(Salmon)) == {*parameters_of(Fish), "leaps"}
        assert (Salmon("Sam").name, Salmon().fins, Salmon().leaps) == ("Sam", 7, 2)
        assert (Salmon().scales, Fish().scales) == ("pointed", "round")
        assert parameters_of(Salmon)["scales"].limit is parameters_of(Fish)["scales"].limit
        with pytest.raises(ParameterError, match="scales='soft' is unknown; pass one of round, pointed"):
            check_parameters(Salmon(scales="soft"))

    def test_positional_parameters_come_first_then_those_of_the_class(self):
        assert list(parameters_of(Fish)) == ["name", "fins", "scales", "asleep", "weight"]
        assert list(parameters_of(Salmon))[:3] == ["name", "leaps", "fins"]

    def test_attributes_without_a_declaration_are_no_parameters(self):
        @declared
        class Cod(Fish):
            kind = "cod"

        assert "kind" not in parameters_of(Cod)
        assert Cod.kind == Cod().kind == "cod"

    def test_two_equal_fish_are_two_fish(self):
        assert Fish() != Fish()
        assert len({Fish(), Fish()}) == 2


class TestBut:
    def test_another_default_or_meaning_and_nothing_else(self):
        eta = Parameter(0.1, "A weight.", number(above=0), kw_only=False)
        assert eta.but(0.2) == Parameter(0.2, "A weight.", eta.limit, kw_only=False)
        assert eta.but(meaning="Another.") == Parameter(0.1, "Another.", eta.limit, kw_only=False)
        assert eta.but(None).default is None
        assert eta.default == 0.1


class TestDocstring:
    def test_the_parameters_stand_before_the_first_section(self):
        assert Fish.__doc__.splitlines() == [
            "A fish.",
            "",
            "It swims.",
            "",
            "Parameters",
            "----------",
            "name : str, default='nobody'",
            "    What it is called.",
            "fins : int, default=7",
            "    How many it has.",
            "scales : {'round', 'pointed'}, default='round'",
            "    The shape of its scales.",
            "asleep : bool, default=False",
            "    Whether it sleeps.",
            "weight : float | None, default=None",
            "    In grams; None if nobody knows.",
            "",
            "Attributes",
            "----------",
            "depth_ : float",
            "    Where it is.",
        ]

    def test_inherited_parameters_are_described_too_with_the_defaults_of_the_class(self):
        assert Salmon.__doc__.startswith("A salmon.\n\nParameters\n----------\n")
        assert "scales : {'round', 'pointed'}, default='pointed'\n" in Salmon.__doc__
        assert "fins : int, default=7\n    How many it has.\n" in Salmon.__doc__

    def test_long_meanings_are_wrapped(self):
        @declared
        class Eel:
            """An eel."""

            length: float = parameter(1.0, "word " * 60)

        lines = Eel.__doc__.split("default=1.0\n")[1].splitlines()
        assert len(lines) == 3
        assert all(line.startswith("    word") and len(line) <= 116 for line in lines)

    def test_a_class_without_a_docstring_is_described_by_its_parameters(self):
        assert Bare(fins=4).fins == 4
        assert Bare.__doc__.endswith("\n\nParameters\n----------\nfins : int, default=1\n    How many it has.\n")


class TestCheckParameters:
    def test_the_first_that_is_not_allowed_is_named(self):
        check_parameters(Fish())
        with pytest.raises(ParameterError, match=r"^fins=0 but it must be a whole number >= 1 and <= 2147483647\.$"):
            check_parameters(Fish(fins=0, scales="soft"))

    def test_nothing_is_checked_before(self):
        assert Fish(fins="many").fins == "many"

    def test_without_a_limit_everything_is_allowed(self):
        check_parameters(Bare(fins=object()))
        check_parameters(Fish(name=3))


nan, inf = math.nan, math.inf


@pytest.mark.parametrize(
    ("limit", "allowed", "refused", "refusal"),
    [
        (
            whole(),
            [1, 9, np.int64(3), 2**31 - 1],
            [0, -1, 1.0, "1", True, None, 2**31],
            "but it must be a whole number >= 1 and <= 2147483647.",
        ),
        (whole(0), [0, 1], [-1, False], "but it must be a whole number >= 0 and <= 2147483647."),
        (number(above=0), [1e-9, 3, np.float32(2)], [0, -1, nan, inf, "1", True, None], "but it must be a number > 0."),
        (number(least=0, below=1), [0, 0.5], [1, -0.1], "but it must be a number >= 0 and < 1."),
        (number(above=0, most=1), [0.1, 1], [0, 1.1], "but it must be a number > 0 and <= 1."),
        (number(least=0, most=1), [0, 0.3, 1], [-0.1, 1.1], "but it must be a number from 0 to 1."),
        (
            share_of("the texts"),
            [0, 0.99],
            [1, -0.1],
            "but it is a share of the texts; pass a value from 0 to below 1.",
        ),
        (one_of("a", "b", None), ["a", None], ["c", 1, ["a"], np.array(["a"])], "is unknown; pass one of a, b, None."),
        (FLAG, [True, False], ["yes", None], "is unknown; pass one of True, False."),
        (optional(whole()), [None, 1], [0, "none"], "but it must be a whole number >= 1 and <= 2147483647."),
        (optional(one_of("a")), [None, "a"], ["b"], "is unknown; pass one of a."),
        (Limit(callable, "cannot be called."), [print], [3], "cannot be called."),
    ],
    ids=lambda case: case.refusal if isinstance(case, Limit) else "",
)
def test_each_limit_allows_and_refuses(limit, allowed, refused, refusal):
    declaration = Parameter(1, "It.", limit)
    for value in allowed:
        declaration.check("it", value)
    for value in refused:
        with pytest.raises(ParameterError) as error:
            declaration.check("it", value)
        assert str(error.value) == f"it={value!r} {refusal}"


def test_only_lists_of_choices_can_be_listed():
    assert one_of("a", "b").choices == ("a", "b")
    assert optional(one_of("a", "b")).choices == ("a", "b")
    assert FLAG.choices == (True, False)
    assert whole().choices == number(above=0).choices == ()


class TestScikitLearn:
    def test_get_params_are_the_declared_ones(self):
        params = {"name": "Sam", "fins": 7, "scales": "pointed", "asleep": False, "weight": 2.5, "leaps": 2}
        assert Salmon("Sam", weight=2.5).get_params() == params

    def test_a_clone_has_the_same_parameters_and_none_of_what_was_learnt(self):
        salmon = Salmon("Sam", leaps=5)
        salmon.depth_ = 10.0
        copy = clone(salmon)
        assert copy is not salmon
        assert copy.get_params() == salmon.get_params()
        assert not hasattr(copy, "depth_")

    def test_set_params_sets_and_refuses_what_is_not_there(self):
        salmon = Salmon().set_params(name="Sam", leaps=0)
        assert (salmon.name, salmon.leaps, salmon.fins) == ("Sam", 0, 7)
        with pytest.raises(ValueError, match="Invalid parameter 'gills'"):
            salmon.set_params(gills=2)

    def test_only_what_differs_is_shown(self):
        assert repr(Salmon("Sam", scales="pointed")) == "Salmon(name='Sam')"


@pytest.mark.parametrize("name", METHODS)
def test_every_parameter_of_every_method_declares_its_limit(name):
    free = [key for key, each in parameters_of(METHODS[name].estimator).items() if each.limit is None]
    assert set(free) <= {"n_clusters"}, "n_clusters depends on the corpus, and is checked with it"


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        ("sccl", "augmentation", None),
        ("sccl", "max_length", None),
        ("sccl", "log_to", True),
        ("sccl", "tolerance", "abc"),
        ("sccl", "augmentation_strength", 2),
        ("sccl", "augmentation_options", {"wordnet": 1}),
        ("kmeans", "backbone", 3),
        ("kmeans", "backbone", ""),
        ("kmeans", "cache", 1),
        ("kmeans", "representation", ["bow"]),
        ("kmeans", "word_vectors", "a\0b"),
        ("kmeans", "random_state", True),
        ("kmeans", "random_state", 2**32),
        ("shoal", "epochs", "abc"),
        ("shoal", "learning_rate", 10**400),
        ("shoal", "learning_rate", 1j),
        pytest.param("shoal", "batch_size", -(10**5000), id="more digits than Python writes"),
        ("clusterbert", "normalize", "abc"),
    ],
)
def test_a_bad_value_ends_in_a_parameter_error(name, parameter, value):
    model = METHODS[name](n_clusters=2, **{parameter: value})
    with pytest.raises(ParameterError, match=f"^{parameter}="):
        model.fit(["one text", "another text", "a third"])
