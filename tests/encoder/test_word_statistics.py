from __future__ import annotations

import json

import numpy as np
import pytest
from safetensors.numpy import save_file
from scipy.sparse import csr_matrix
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from shoal.encoder.word_statistics import WordStatistics
from shoal.errors import ParameterError
from shoal.vectors import unit_rows


@pytest.fixture(scope="module")
def texts():
    """Three hundred texts of eight words, some frequent, some rare."""
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(200)])
    return [" ".join(words[np.minimum(rng.geometric(0.03, size=8), 199)]) for _ in range(300)]


CHINESE = ["今天天气很好", "明天天气不好", "天气预报说明天下雨", "我喜欢吃苹果", "苹果和香蕉都是水果", "他喜欢吃香蕉"]


def test_weights_equal_scikit_learns(texts):
    words = WordStatistics(max_df=0.1).fit(texts)
    theirs = TfidfVectorizer(sublinear_tf=True, min_df=2, max_df=0.1).fit(texts)
    new = [*texts[:50], "word3 word3 WORD3 word9 unheard"]
    ours = words.tfidf(new)
    assert isinstance(ours, csr_matrix)
    assert ours.dtype == np.float32
    np.testing.assert_allclose(ours.toarray(), theirs.transform(new).toarray(), atol=1e-6)


def test_vectors_are_those_of_latent_semantic_analysis():
    rng = np.random.default_rng(0)
    texts = [" ".join(f"topic{i % 8}word{j}" for j in rng.permutation(12)[:6]) for i in range(300)]
    words = WordStatistics(n_components=8).fit(texts)
    reduced = unit_rows(TruncatedSVD(8, algorithm="arpack").fit_transform(words.tfidf(texts).astype(np.float64)))
    vectors = words.encode(texts)
    assert vectors.shape == (300, 8)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(vectors @ vectors.T, reduced @ reduced.T, atol=1e-3)


def test_frequent_and_rare_words_are_no_terms():
    animals = ["ant", "bee", "cat", "dog"]
    texts = [f"the {animals[i % 4]} number{i}" for i in range(88)]
    words = WordStatistics(max_df=0.3).fit([*texts, *["cat"] * 12])  # the cat is in 34 of 100 texts
    assert list(words._columns) == ["ant", "bee", "dog"]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("C++, C# and .NET!", [".net", "and", "c#", "c++"]),
        ("Straße ÉCOLE", ["straße", "école"]),
        ("हिन्दी में", ["में", "हिन्दी"]),
        ("❤️ snake_case 42", ["42", "snake_case"]),
    ],
)
def test_words_of_many_kinds(text, terms):
    assert sorted(WordStatistics().fit([text, text])._columns) == sorted(terms)


def test_a_text_without_known_words_is_the_zero_row(texts):
    words = WordStatistics().fit(texts)
    for rows in (words.encode(["unheard", "", texts[0]]), words.tfidf(["unheard", "", texts[0]]).toarray()):
        assert rows.any(axis=1).tolist() == [False, False, True]


def test_each_row_is_a_matter_of_its_own(texts):
    words = WordStatistics().fit(texts)
    np.testing.assert_array_equal(
        np.concatenate([words.encode([text]) for text in texts[:20]]), words.encode(texts)[:20]
    )
    assert words.encode([]).shape == (0, words.encode(texts).shape[1])


def test_the_same_texts_give_the_same_statistics(texts):
    np.testing.assert_array_equal(WordStatistics().fit(texts).encode(texts), WordStatistics().fit(texts).encode(texts))


@pytest.mark.parametrize("corpus", ["english", "chinese", "empty"])
def test_saved_and_loaded_it_gives_the_same_vectors(texts, tmp_path, corpus):
    known = {"english": texts, "chinese": CHINESE * 5, "empty": ["", "?!"]}[corpus]
    words = WordStatistics(n_components=30).fit(known)
    words.save(tmp_path)
    again = WordStatistics.load(tmp_path)
    np.testing.assert_array_equal(again.encode(known), words.encode(known))
    np.testing.assert_array_equal(again.tfidf(known).toarray(), words.tfidf(known).toarray())


@pytest.mark.parametrize(
    ("content", "idf", "components", "new", "weights", "vectors"),
    [
        (
            {"pairs": False, "terms": ["bread", "c++", "oven", "pointer"]},
            [1.5, 1.5, 1.0, 2.0],
            [[0.0, 0.75], [0.5, 0.0], [0.0, 0.5], [0.75, 0.25]],
            ["C++ c++ Pointer", "Bread, oven?", "unheard"],
            [[0, 0.785640836, 0, 0.618682861], [0.832050323, 0, 0.554700196, 0], [0, 0, 0, 0]],
            [[0.984094918, 0.177643418], [0, 1], [0, 0]],
        ),
        (
            {"pairs": True, "terms": ["天气", "水果"]},
            [1.0, 2.0],
            [[1.0, 0.0], [0.5, 0.5]],
            ["天气水果", "水果", "鱼"],
            [[0.447213590, 0.894427180], [0, 1], [0, 0]],
            [[0.894427240, 0.447213620], [0.707106769, 0.707106769], [0, 0]],
        ),
        ({"pairs": False, "terms": []}, [], np.zeros((0, 1)), ["fish"], np.zeros((1, 0)), [[0]]),
    ],
    ids=["words", "pairs", "empty"],
)
def test_a_file_of_an_earlier_version_gives_what_it_gave(tmp_path, content, idf, components, new, weights, vectors):
    (tmp_path / "word_view.json").write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    arrays = {"idf": np.array(idf, np.float32), "components": np.array(components, np.float32)}
    save_file(arrays, tmp_path / "word_view.safetensors")
    words = WordStatistics.load(tmp_path)
    np.testing.assert_allclose(words.tfidf(new).toarray(), weights, rtol=1e-6)
    np.testing.assert_allclose(words.encode(new), vectors, rtol=1e-6)


def test_languages_without_spaces_are_read_by_pairs_of_characters():
    words = WordStatistics().fit(CHINESE)
    assert "天气" in words._columns
    cosines = words.encode(CHINESE) @ words.encode(CHINESE).T
    assert cosines[0, 1] > cosines[0, 3]
    assert cosines[3, 5] > cosines[3, 0]


def test_words_stay_the_terms_where_they_reach_half_of_the_texts(texts):
    assert "word3" in WordStatistics().fit([*texts, *CHINESE])._columns


def test_rare_words_are_not_compared_by_their_letters():
    alone = ["quartz", "quarter", "quarrel", "heron", "heroin", "heroine"]
    words = WordStatistics().fit([*alone, "blue lake", "blue river", "long river"])
    assert set(words._columns) == {"blue", "river"}
    assert not words.encode(alone).any()


def test_all_texts_equal(texts):
    for corpus in (["red fish"] * 50, ["red fish"] * 2, ["fish"] * 50):
        vectors = WordStatistics().fit(corpus).encode(corpus)
        np.testing.assert_allclose(vectors @ vectors.T, 1, atol=1e-5)


def test_no_word_twice():
    corpus = ["ab cd", "ef gh", "ij kl"]
    vectors = WordStatistics().fit(corpus).encode(corpus)
    assert vectors.shape == (3, 2)  # one less than texts
    assert np.isfinite(vectors).all()


@pytest.mark.parametrize("corpus", [["fish"], ["", ""], ["?!"], []])
def test_next_to_nothing_to_learn_from(corpus):
    vectors = WordStatistics().fit(corpus).encode(["fish", "?", ""])
    assert vectors.shape == (3, 1)
    assert vectors[0].any() == ("fish" in corpus)
    assert not vectors[1:].any()


@pytest.mark.parametrize("wrong", [{"n_components": 0}, {"min_df": 0}, {"max_df": 0}, {"max_df": 1.5}])
def test_values_out_of_range_are_named(wrong):
    name, value = next(iter(wrong.items()))
    with pytest.raises(ParameterError, match=f"{name}={value}"):
        WordStatistics(**wrong).fit(["red fish"])


def test_scripts_without_spaces_are_compared_by_pairs_of_characters_even_among_numbers(tmp_path):
    texts = [f"{what}大跌 {2000 + i % 3}" for what in ("股市", "油价") for i in range(6)]
    words = WordStatistics(max_df=1.0).fit(texts)
    stocks, again, oil = words.encode(["股市 上涨", "今天的股市", "油价"])
    assert stocks @ again > 0.9 > 0.1 > stocks @ oil
    words.save(tmp_path)
    np.testing.assert_allclose(WordStatistics.load(tmp_path).encode(texts), words.encode(texts))
