from __future__ import annotations

import contextlib
import json
import shutil
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from shoal.encoder import backbone as backbone_module
from shoal.encoder.backbone import builtin_folder, load_backbone, silence
from shoal.errors import ModelError


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package that stands where the built-in model's would, and how often its weights were hashed."""
    weights = tmp_path / "package" / "model" / "model.safetensors"
    weights.parent.mkdir(parents=True)
    weights.write_bytes(b"the official weights")
    spec = ModuleSpec("package", None, origin=str(tmp_path / "package" / "__init__.py"))
    monkeypatch.setattr(backbone_module, "find_spec", lambda name: spec)
    monkeypatch.setattr(backbone_module, "_BUILTIN_SHA256", backbone_module.sha256_of(weights))
    hashed = []
    sha256_of = backbone_module.sha256_of
    monkeypatch.setattr(backbone_module, "sha256_of", lambda file: hashed.append(file) or sha256_of(file))
    return weights, hashed


def test_official_weights_are_verified_once(installed):
    weights, hashed = installed
    assert [builtin_folder() for _ in range(3)] == [weights.parent] * 3
    assert hashed == [weights]


def test_one_changed_byte_is_refused_every_time(installed):
    weights, hashed = installed
    weights.write_bytes(b"the official weighty")
    for _ in range(2):
        with pytest.raises(ModelError, match=r"has sha256 .* but the official weights have .*; reinstall"):
            builtin_folder()
    assert hashed == [weights, weights]


def test_a_file_changed_after_it_passed_is_hashed_again(installed):
    weights, hashed = installed
    builtin_folder()
    weights.write_bytes(b"other")
    with pytest.raises(ModelError, match="sha256"):
        builtin_folder()
    assert len(hashed) == 2


@pytest.mark.parametrize("content", ["", "{", "[]", '{"path": "elsewhere"}'])
def test_a_damaged_finding_counts_for_nothing(installed, cache, content):
    _, hashed = installed
    builtin_folder()
    (finding,) = (cache / "verified").iterdir()
    finding.write_text(content)
    builtin_folder()
    assert len(hashed) == 2


def test_a_cache_that_cannot_be_written_only_repeats_the_check(installed, tmp_path, monkeypatch):
    weights, hashed = installed
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SHOAL_CACHE", str(tmp_path / "file" / "cache"))
    assert builtin_folder() == builtin_folder() == weights.parent
    assert len(hashed) == 2


def test_a_missing_package_or_file_is_named(installed, monkeypatch):
    weights, _ = installed
    weights.unlink()
    with pytest.raises(ModelError, match=r"model\.safetensors is missing; reinstall"):
        builtin_folder()
    monkeypatch.setattr(backbone_module, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match="built-in encoder is not installed; run: pip install"):
        load_backbone("builtin")


def refused(name, message):
    """The error is one line and drags no chain of foreign tracebacks behind it."""
    with pytest.raises(ModelError, match=message) as caught:
        load_backbone(str(name))
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("name", ["no-such-model", "nobody/no-such-model", "/no/such/folder", "./nothing", ""])
def test_an_unknown_backbone(monkeypatch, capfd, name):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    refused(name, f"backbone='{name}' could not be loaded .*; pass 'builtin', a folder")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("missing", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_folder_without_one_of_its_files(backbone, tmp_path, missing):
    folder = Path(shutil.copytree(backbone, tmp_path / "model"))
    (folder / missing).unlink()
    refused(folder, "could not be loaded")


@pytest.mark.parametrize("damaged", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_folder_with_half_a_file(backbone, tmp_path, damaged):
    folder = Path(shutil.copytree(backbone, tmp_path / "model"))
    file = folder / damaged
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    refused(folder, "could not be loaded")


def test_weights_that_are_not_there_are_never_drawn_at_random(backbone, tmp_path):
    folder = Path(shutil.copytree(backbone, tmp_path / "model"))
    weights = load_file(folder / "model.safetensors")
    kept = {name: tensor for name, tensor in weights.items() if "layer.1." not in name}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"lacks 16 of its weights \(encoder\.layer\.1\."):
        load_backbone(str(folder))


def test_code_that_comes_with_a_model_is_neither_run_nor_asked_about(backbone, tmp_path):
    folder = Path(shutil.copytree(backbone, tmp_path / "model"))
    (folder / "mine.py").write_text("raise SystemExit('run')")
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "mine", "auto_map": {"AutoConfig": "mine.Config", "AutoModel": "mine.Model"}}
    (folder / "config.json").write_text(json.dumps(config))
    refused(folder, "could not be loaded")


def test_an_encoder_decoder_is_refused(tmp_path, backbone):
    from transformers import BartConfig, BartModel

    folder = Path(shutil.copytree(backbone, tmp_path / "model"))
    sizes = {"encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2}
    BartModel(BartConfig(vocab_size=50, d_model=16, encoder_ffn_dim=8, decoder_ffn_dim=8, **sizes)).save_pretrained(
        folder
    )
    with pytest.raises(ModelError, match="is an encoder-decoder; pass an encoder"):
        load_backbone(str(folder))


def test_the_model_is_calm_and_in_full_precision(backbone):
    model, tokenizer = load_backbone(backbone)
    assert not model.training
    assert {str(p.dtype) for p in model.parameters()} == {"torch.float32"}
    assert tokenizer.pad_token_id == 0


@pytest.mark.parametrize("listing", ["{", "[]", '{"0": 1}', '[{"path": ""}]'])
def test_a_listing_that_says_nothing_leaves_the_folder_itself(backbone, tmp_path, listing):
    folder = Path(shutil.copytree(backbone, tmp_path / "model"))
    (folder / "modules.json").write_text(listing)
    assert load_backbone(str(folder))[0].config.hidden_size == 32


@pytest.mark.slow
def test_the_built_in_weights_are_the_official_ones(cache):
    folder = builtin_folder()
    assert (folder / "config.json").is_file()
    (finding,) = (cache / "verified").iterdir()
    assert json.loads(finding.read_text())["sha256"] == backbone_module._BUILTIN_SHA256


def test_silence_is_kept_while_it_lasts_and_no_longer():
    from huggingface_hub.utils import logging as hub
    from transformers.utils import logging

    before = logging.get_verbosity(), hub.get_verbosity(), logging.is_progress_bar_enabled()
    try:
        logging.set_verbosity_info()
        hub.set_verbosity_info()
        logging.enable_progress_bar()
        with contextlib.suppress(KeyError), silence():
            assert logging.get_verbosity() == hub.get_verbosity() == logging.ERROR
            assert not logging.is_progress_bar_enabled()
            raise KeyError
        assert logging.get_verbosity() == hub.get_verbosity() == logging.INFO
        assert logging.is_progress_bar_enabled()
    finally:
        logging.set_verbosity(before[0])
        hub.set_verbosity(before[1])
        if not before[2]:
            logging.disable_progress_bar()
