"""``shoal methods``: what there is, from which paper, with which parameters."""

from __future__ import annotations

import json

from shoal import METHODS
from shoal.parameters import parameters_of


def test_json_lists_every_method_with_its_parameters(shoal):
    found = shoal("methods", "--json").json
    assert list(found) == list(METHODS)
    for name, entry in found.items():
        assert entry["summary"]
        assert entry["source"]
        assert entry["parameters"] == json.loads(json.dumps(METHODS[name].defaults()))
        assert {"n_clusters", "random_state"} <= entry["parameters"].keys()
    assert found["tfidf-kmeans"]["parameters"]["representation"] == "tfidf"
    assert found["tfidf-kmeans"]["presets"]["clusterbert"] == {"max_features": 2000, "stop_words": "english"}


def test_presets_only_use_parameters_that_exist():
    for method in METHODS.values():
        for preset in method.presets.values():
            method.check_names(preset)


def test_the_table_names_every_method_and_marks_the_default(shoal):
    answer = shoal("methods")
    assert all(name in answer.out for name in METHODS)
    assert "shoal *" in answer.out
    assert "the default" in answer.err


def test_one_method_is_explained_parameter_by_parameter(shoal):
    answer = shoal("methods", "tfidf-kmeans")
    table = " ".join(answer.out.split())
    assert "n_clusters 'auto' The number of clusters; 'auto' finds it from the texts" in table
    assert "representation 'tfidf'" in table
    assert "max_features 1500" in table
    assert "--preset clusterbert: max_features=2000, stop_words='english'" in answer.err


def test_every_parameter_has_a_meaning(shoal):
    for name, method in METHODS.items():
        missing = [key for key, each in parameters_of(method.estimator).items() if not each.meaning.endswith(".")]
        assert not missing, f"{name}: nothing is said of {missing}"
        assert all(f"\n{key} : " in method.estimator.__doc__ for key in method.defaults()), name


def test_unknown_method(shoal):
    answer = shoal("methods", "kmaens")
    assert answer.code == 4
    assert "there is no method 'kmaens'; the methods are shoal" in answer.err
