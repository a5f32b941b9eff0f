from __future__ import annotations

import numpy as np
import pytest

from shoal.encoder import word_vectors as vectors_module
from shoal.encoder.sif import SIF
from shoal.errors import DataError, MissingExtraError, ParameterError

FILE = "red 1 0 0\nfish 0 1 0\nblue 0 0 2\nwhale 1 1 0\n"
TEXTS = ["Red fish", "blue fish, fish", "a blue whale!"]


@pytest.fixture
def vectors_file(tmp_path):
    def write(content, encoding="utf-8"):
        file = tmp_path / "vectors.txt"
        file.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return str(file)

    return write


def test_three_sentences_by_hand(vectors_file):
    a = 0.5
    # Eight words: fish 3, blue 2, red, whale and a 1 each; "a" has no vector but counts as a word.
    weight = {word: a / (a + count / 8) for word, count in {"fish": 3, "blue": 2, "red": 1, "whale": 1}.items()}
    red, fish = np.array([1, 0, 0]) * weight["red"], np.array([0, 1, 0]) * weight["fish"]
    blue, whale = np.array([0, 0, 2]) * weight["blue"], np.array([1, 1, 0]) * weight["whale"]
    sentences = np.array([(red + fish) / 2, (blue + 2 * fish) / 3, (blue + whale) / 2])
    values, directions = np.linalg.eigh(sentences.T @ sentences)
    common = directions[:, values.argmax()]
    expected = sentences - np.outer(sentences @ common, common)

    sif = SIF(word_vectors=vectors_file(FILE), a=a, frequencies="corpus").fit(TEXTS)
    encoded = sif.encode(TEXTS)
    assert encoded.dtype == np.float32
    np.testing.assert_allclose(encoded, expected, atol=1e-6)
    np.testing.assert_allclose(encoded @ common, 0, atol=1e-6)
    assert np.linalg.matrix_rank(sentences) == 3
    assert np.linalg.matrix_rank(encoded, tol=1e-5) == 2


def test_the_weight_of_a_word_that_the_corpus_lacks_is_one(vectors_file):
    sif = SIF(word_vectors=vectors_file(FILE), frequencies="corpus").fit(["red fish", "red red fish"])
    unseen = np.array([0, 0, 2])
    np.testing.assert_allclose(sif.encode(["blue"])[0], unseen - (unseen @ sif._common) * sif._common, atol=1e-6)


@pytest.mark.parametrize("header", ["", "4 3\n"])
@pytest.mark.parametrize("ending", ["\n", "\r\n", " \n", "\n\n"])
def test_files_with_and_without_a_header(vectors_file, header, ending):
    plain = SIF(word_vectors=vectors_file(FILE)).fit(TEXTS).encode(TEXTS)
    content = (header + FILE).replace("\n", ending)
    np.testing.assert_array_equal(SIF(word_vectors=vectors_file(content)).fit(TEXTS).encode(TEXTS), plain)


def test_a_word_in_broken_utf8_does_no_harm(vectors_file):
    plain = SIF(word_vectors=vectors_file(FILE), frequencies="corpus").fit(TEXTS).encode(TEXTS)
    broken = vectors_file(FILE.encode() + b"caf\xe9 1 2 3\n")
    np.testing.assert_array_equal(SIF(word_vectors=broken, frequencies="corpus").fit(TEXTS).encode(TEXTS), plain)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("red 1 0\nfish one 0\n", "line 2: could not convert string to float: 'one'; each line is a word"),
        ("red 1 0\nfish 1 0 0\n", "line 2 has 3 numbers but the first word has 2"),
        ("2 2\nred 1 0\nfish 1\n", "line 3 has 1 numbers but the first word has 2"),
        ("red 1 0\nfish nan 0\nwhale 1 inf\n", r"NaN or infinity for 2 words \('fish', …\)"),
        ("", "holds no word vectors"),
        ("0 50\n", "holds no word vectors"),
    ],
)
def test_broken_files_are_named_with_the_line(vectors_file, content, message):
    with pytest.raises(DataError, match=message):
        SIF(word_vectors=vectors_file(content)).fit(TEXTS)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"nothing\.txt' is not a file; pass 'corpus', 'word2vec', 'glove', or a file"):
        SIF(word_vectors=str(tmp_path / "nothing.txt")).fit(TEXTS)


@pytest.mark.parametrize("a", [0, -1e-3, float("nan")])
def test_a_weight_that_is_no_weight_is_refused(a):
    with pytest.raises(ParameterError, match=r"sif_a=.* but it must be greater than 0"):
        SIF(a=a).fit(TEXTS)


def test_vectors_learnt_from_the_corpus_put_like_texts_together():
    texts = ["red car drives fast", "red auto drives fast", "hot tea tastes good", "hot coffee tastes good"] * 5
    sif = SIF().fit(texts)
    unit = sif.encode(["car drives", "auto drives", "coffee tastes"])
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    assert unit[0] @ unit[1] > 0.9 > unit[0] @ unit[2]
    np.testing.assert_array_equal(SIF().fit(texts).encode(texts), sif.encode(texts))


def test_a_corpus_too_small_to_learn_from_is_refused():
    with pytest.raises(DataError, match="no word occurs twice in the 2 texts"):
        SIF().fit(["all different", "words here"])


def test_each_row_is_a_matter_of_its_own_and_unknown_words_are_zero(vectors_file):
    sif = SIF(word_vectors=vectors_file(FILE)).fit(TEXTS)
    texts = [*TEXTS, "", "unheard"]
    whole = sif.encode(texts)
    np.testing.assert_allclose(np.concatenate([sif.encode([text]) for text in texts]), whole, atol=1e-6)
    assert not whole[[3, 4]].any()
    assert sif.encode([]).shape == (0, 3)


def test_saved_and_loaded_it_gives_the_same(vectors_file, tmp_path):
    sif = SIF(word_vectors=vectors_file(FILE + "日本 1 1 1\n")).fit(TEXTS)
    sif.save(tmp_path)
    np.testing.assert_array_equal(SIF.load(tmp_path).encode([*TEXTS, "日本"]), sif.encode([*TEXTS, "日本"]))
    assert {file.suffix for file in tmp_path.iterdir()} == {".json", ".safetensors", ".txt"}


@pytest.mark.slow
def test_glove_loads_and_knows_words():
    sif = SIF(word_vectors="glove").fit(["a cat and a dog", "the price of a share", "a kitten"])
    unit = sif.encode(["cat", "kitten", "dividend"])
    assert unit.shape == (3, 50)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    assert unit[0] @ unit[1] > unit[0] @ unit[2]


def test_glove_that_is_not_installed_names_its_extra(monkeypatch):
    monkeypatch.setattr(vectors_module, "find_spec", lambda package: None)
    with pytest.raises(MissingExtraError, match=r"word_vectors='glove' needs .* 'shoal\[glove\]'"):
        SIF(word_vectors="glove").fit(TEXTS)


def test_column_major_vectors_are_saved_in_the_right_order(monkeypatch, tmp_path):
    table = np.asfortranarray(np.random.default_rng(0).normal(size=(4, 3)))
    monkeypatch.setattr(vectors_module, "_glove", lambda: (["red", "fish", "blue", "whale"], table))
    sif = SIF(word_vectors="glove").fit(TEXTS)
    sif.save(tmp_path)
    np.testing.assert_array_equal(SIF.load(tmp_path).encode(TEXTS), sif.encode(TEXTS))
