from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from shoal.encoder.word_counts import WordCounts
from shoal.errors import DataError, ParameterError

TEXTS = ["The red fish and the blue fish", "a blue whale", "Whales sing; fish do not", "1999 was a good year", "?!"]
NEW = ["red red whale", "unheard words", "", "The the THE"]


@pytest.mark.parametrize("stop_words", [None, "english", ["fish", "the"]])
@pytest.mark.parametrize("max_features", [4, 1500])
@pytest.mark.parametrize(("tfidf", "sklearn"), [(False, CountVectorizer), (True, TfidfVectorizer)])
def test_equals_scikit_learn(tfidf, sklearn, max_features, stop_words):
    counts = WordCounts(tfidf=tfidf, max_features=max_features, stop_words=stop_words).fit(TEXTS)
    theirs = sklearn(max_features=max_features, stop_words=stop_words).fit(TEXTS)
    assert counts.terms_ == theirs.get_feature_names_out().tolist()
    for texts in (TEXTS, NEW):
        vectors = counts.encode(texts)
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(vectors, theirs.transform(texts).toarray(), atol=1e-6)


def test_by_hand():
    texts = ["red fish", "blue fish"]
    assert WordCounts().fit(texts).encode(["fish fish red"]).tolist() == [[0, 2, 1]]
    rare, common = np.log(3 / 2) + 1, np.log(3 / 3) + 1
    expected = np.array([0, 2 * common, rare]) / np.hypot(2 * common, rare)
    np.testing.assert_allclose(WordCounts(tfidf=True).fit(texts).encode(["fish fish red"])[0], expected, rtol=1e-6)


@pytest.mark.parametrize("tfidf", [False, True])
def test_each_row_is_a_matter_of_its_own(tfidf):
    counts = WordCounts(tfidf=tfidf).fit(TEXTS)
    whole = counts.encode(NEW)
    np.testing.assert_array_equal(np.concatenate([counts.encode([text]) for text in NEW]), whole)
    assert not whole[[1, 2]].any()
    assert counts.encode([]).shape == (0, len(counts.terms_))


@pytest.mark.parametrize("tfidf", [False, True])
def test_saved_and_loaded_it_counts_the_same(tmp_path, tfidf):
    counts = WordCounts(tfidf=tfidf, stop_words="english").fit([*TEXTS, "日本語 テキスト"])
    counts.save(tmp_path)
    np.testing.assert_array_equal(WordCounts.load(tmp_path).encode(TEXTS), counts.encode(TEXTS))


def test_a_file_of_an_earlier_version_gives_what_it_gave(tmp_path):
    idf = "[1.4054651260375977, 1.0, 1.4054651260375977]"
    content = f'{{"tfidf": true, "terms": ["blue", "fish", "red"], "idf": {idf}}}'
    (tmp_path / "vocabulary.json").write_text(content, encoding="utf-8")
    found = WordCounts.load(tmp_path).encode(["Fish fish red a", "blue", "unheard"])
    np.testing.assert_allclose(found, [[0, 0.818180203, 0.574961901], [1, 0, 0], [0, 0, 0]], rtol=1e-6)


def test_texts_without_words_are_refused():
    with pytest.raises(DataError, match="the 2 texts hold no word of two letters or more; use"):
        WordCounts().fit(["a", "?"])
    with pytest.raises(DataError, match="besides stop words"):
        WordCounts(stop_words="english").fit(["the", "and"])


@pytest.mark.parametrize("stop_words", ["french", 3, ("the",)])
def test_unknown_stop_words_are_named(stop_words):
    with pytest.raises(ParameterError, match=r"stop_words=.* is unknown; pass 'english', a list of words or None"):
        WordCounts(stop_words=stop_words).fit(TEXTS)
