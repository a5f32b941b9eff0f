"""From flags and a file to parameters: flags win over the file, the file over the preset, the preset over defaults."""

from __future__ import annotations

import json

import pytest

from shoal.cli.settings import parameters_of, parse_assignments, read_config
from shoal.errors import DataError, ParameterError
from shoal.methods import build_method


class TestAssignments:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("a=3", 3),
            ("a=-0.5", -0.5),
            ("a=1e-3", 1e-3),
            ("a=true", True),
            ("a=none", None),
            ("a=None", None),
            ("a=umap", "umap"),
            ('a="3"', "3"),
            ('a=["the", "of"]', ["the", "of"]),
            (" a = umap ", "umap"),
            ("a=x=y", "x=y"),
            ("a=", ""),
            ("a=sentence-transformers/all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"),
            ("a=2024-05-01", "2024-05-01"),  # TOML would make a date of it
            ("a=12:30:00", "12:30:00"),
        ],
    )
    def test_values(self, text, value):
        parsed = parse_assignments([text])
        assert parsed == {"a": value}
        assert type(parsed["a"]) is type(value)

    def test_the_last_wins(self):
        assert parse_assignments(["a=1", "b=2", "a=3"]) == {"a": 3, "b": 2}

    @pytest.mark.parametrize("text", ["n_init", "=3", " =3", ""])
    def test_not_an_assignment(self, text):
        with pytest.raises(ParameterError, match=r"is not of the form name=value; e\.g\. --set n_init=3"):
            parse_assignments([text])


class TestFile:
    @pytest.fixture
    def config(self, tmp_path):
        def write(content: str):
            (tmp_path / "shoal.toml").write_text(content, encoding="utf-8")
            return tmp_path / "shoal.toml"

        return write

    def test_none_is_empty(self):
        assert read_config(None) == {}

    def test_keys_and_parameters(self, config):
        content = read_config(config('text = "body"\nclusters = 5\nseed = 1\n[set]\nn_init = 3\n'))
        assert content == {"text": "body", "clusters": 5, "seed": 1, "set": {"n_init": 3}}
        assert parameters_of(content) == {"n_init": 3, "n_clusters": 5, "random_state": 1}
        assert parameters_of({"clusters": 5, "set": {"n_clusters": 4}}) == {"n_clusters": 5}  # the plainer word

    @pytest.mark.parametrize(("written", "value"), [("5", 5), ("'5-80'", "5-80"), ("'auto'", "auto")])
    def test_clusters_are_a_number_or_a_range(self, config, written, value):
        assert parameters_of(read_config(config(f"clusters = {written}"))) == {"n_clusters": value}

    def test_unknown_key(self, config):
        with pytest.raises(ParameterError, match="has an unknown key 'n_clusters'; the keys are text, id, label"):
            read_config(config("n_clusters = 3"))

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("clusters = 5.0", "clusters = 5.0 is invalid; clusters must be a whole number or a string"),
            ("seed = '5'", "seed = '5' is invalid; seed must be a whole number"),
            ("level = 3", "level must be a string"),
            ("clusters = true", "clusters = True is invalid"),
            ("method = ['kmeans']", "method must be a string"),
            ("set = 3", "set must be a table"),
            ("clusters = ", "is not valid TOML"),
        ],
    )
    def test_wrong_values(self, config, content, message):
        with pytest.raises(ParameterError, match=message):
            read_config(config(content))

    def test_not_text(self, tmp_path):
        (tmp_path / "shoal.toml").write_bytes(b"\xff\xfe\x00")
        with pytest.raises(ParameterError, match="is not valid TOML"):
            read_config(tmp_path / "shoal.toml")

    def test_missing(self, tmp_path):
        with pytest.raises(DataError, match=r"--config .*nowhere\.toml cannot be read \(No such file"):
            read_config(tmp_path / "nowhere.toml")


class TestMethodParameters:
    def parameters(self, preset=None, **params):
        return build_method("tfidf-kmeans", preset, params).get_params()

    def test_params_win_over_the_preset(self):
        chosen = self.parameters("clusterbert", max_features=7)
        assert (chosen["max_features"], chosen["stop_words"]) == (7, "english")

    def test_none_is_a_value_like_any_other(self):
        assert self.parameters("clusterbert", stop_words=None)["stop_words"] is None

    def test_several_presets_add_up_and_the_later_one_counts(self):
        both = build_method("sccl", "paper-offline+biomedical", {}).get_params()
        assert (both["alpha"], both["batch_size"], both["guard"]) == (10.0, 400, False)
        assert build_method("sccl", "paper-offline+clusterbert", {}).learning_rate == 1e-5
        with pytest.raises(ParameterError, match="has no preset 'none'; its presets: paper, "):
            build_method("sccl", "paper-offline+none", {})

    def test_unknown_preset(self):
        with pytest.raises(
            ParameterError, match="method 'tfidf-kmeans' has no preset 'sccl'; its presets: clusterbert"
        ):
            self.parameters("sccl")

    def test_unknown_parameter(self):
        with pytest.raises(ParameterError, match="there is no parameter 'n_int'; the parameters are n_clusters"):
            self.parameters(n_int=3)


class TestOnTheCommandLine:
    @pytest.fixture
    def fitted_with(self, shoal, tickets, tmp_path):
        """Return a function that fits with a file and flags and returns the parameters of the run."""

        def parameters(config: str, *flags: object) -> dict:
            (tmp_path / "shoal.toml").write_text(config)
            run = tmp_path / "run"
            answer = shoal("fit", tickets, "--config", tmp_path / "shoal.toml", *flags, "--out", run, "--overwrite")
            assert answer.code == 0, answer.err
            return json.loads((run / "run.json").read_text())

        return parameters

    FILE = """
text = "body"
method = "tfidf-kmeans"
preset = "clusterbert"
clusters = 4
seed = 11
[set]
n_init = 3
max_features = 50
"""

    def test_the_file_wins_over_the_preset(self, fitted_with):
        info = fitted_with(self.FILE)
        found = {"n_clusters": 4, "random_state": 11, "n_init": 3, "max_features": 50, "stop_words": "english"}
        assert found.items() <= info["parameters"].items()
        assert (info["method"], info["seed"]) == ("tfidf-kmeans", 11)

    def test_flags_win_over_the_file(self, fitted_with):
        flags = ("--clusters", 3, "--seed", 0, "--set", "n_init=1", "--set", "stop_words=none", "--label", "topic")
        info = fitted_with(self.FILE, *flags)
        found = {"n_clusters": 3, "random_state": 0, "n_init": 1, "max_features": 50, "stop_words": None}
        assert found.items() <= info["parameters"].items()
        assert "scores" in info

    def test_set_on_the_command_line_wins_over_a_key_of_the_file(self, fitted_with):
        info = fitted_with(self.FILE, "--set", "n_clusters=5", "--set", "random_state=7")
        assert (info["parameters"]["n_clusters"], info["seed"]) == (5, 7)

    def test_method_by_flag(self, fitted_with):
        info = fitted_with('text = "body"\nmethod = "tfidf-kmeans"\nclusters = 3\n', "--method", "bow-kmeans")
        assert info["method"] == "bow-kmeans"
        assert info["parameters"]["representation"] == "bow"
