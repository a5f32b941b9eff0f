from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from shoal.augment import WordNetSubstitution
from shoal.augment.wordnet_files import WordNetFiles, WordNetNotFoundError, find_wordnet
from shoal.errors import MissingExtraError


def results(text: str, wordnet_dir: Path) -> set[str]:
    augmenter = WordNetSubstitution(1.0, wordnet_dir)
    return {augmenter.augment([text], seed)[0] for seed in range(40)}


def test_synonyms_of_all_senses(wordnet_dir):
    files = WordNetFiles(wordnet_dir)
    assert files.synonyms("car") == ["auto", "motor vehicle", "gondola"]
    assert files.synonyms("fast") == ["quick", "tight"]
    assert files.synonyms("café") == ["coffeehouse"]
    assert files.synonyms("bicycle") == []


def test_every_synonym_is_drawn(wordnet_dir):
    assert results("car", wordnet_dir) == {"auto", "motor vehicle", "gondola"}


def test_capitals_are_kept(wordnet_dir):
    assert results("Drive DRIVE!", wordnet_dir) == {"Steer STEER!"}


def test_inflected_and_function_words_stay(wordnet_dir):
    assert results("drives in cars", wordnet_dir) == {"drives in cars"}


def test_a_zipped_nltk_folder_is_found(wordnet_dir, tmp_path, monkeypatch):
    (tmp_path / "data" / "wordnet").mkdir(parents=True)
    for file in wordnet_dir.iterdir():
        shutil.copy(file, tmp_path / "data" / "wordnet")
    shutil.make_archive(str(tmp_path / "corpora" / "wordnet"), "zip", tmp_path / "data", "wordnet")
    monkeypatch.setenv("NLTK_DATA", str(tmp_path))
    augmenter = WordNetSubstitution(1.0)
    assert augmenter.augment(["drive"], seed=0) == ["steer"]
    assert augmenter.fingerprint == WordNetSubstitution(1.0, wordnet_dir).fingerprint


def test_a_missing_wordnet_says_how_to_get_it(tmp_path):
    with pytest.raises(WordNetNotFoundError, match=r"wordnet-base.*nltk\.download.*wordnet_dir=") as caught:
        WordNetSubstitution(wordnet_dir=tmp_path).augment(["car"], seed=0)
    assert str(tmp_path) in str(caught.value)
    assert isinstance(caught.value, MissingExtraError)
    assert caught.value.exit_code == 5


def test_a_folder_with_half_the_files_is_no_wordnet(wordnet_dir, tmp_path):
    shutil.copytree(wordnet_dir, tmp_path / "half")
    (tmp_path / "half" / "data.adv").unlink()
    with pytest.raises(WordNetNotFoundError):
        find_wordnet(tmp_path / "half")
