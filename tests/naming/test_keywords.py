from math import log

import numpy as np
import pytest
from scipy import sparse

from shoal.naming.counts import count_terms
from shoal.naming.keywords import c_tf_idf, cluster_keywords


def keywords(texts, labels, n_keywords=8, stop_words=frozenset()):
    counts = count_terms(texts, stop_words)
    chosen = cluster_keywords(counts, np.array(labels), max(labels) + 1, n_keywords)
    return [[counts.spelling[term] for term in own] for own in chosen]


def test_c_tf_idf_by_hand():
    # Terms per cluster 4, 6, 2: A = 4. Occurrences of the three terms: 5, 6, 1.
    weights = c_tf_idf(sparse.csr_matrix([[3, 0, 1], [2, 4, 0], [0, 2, 0]])).toarray()
    expected = [
        [3 / 4 * log(1 + 4 / 5), 0, 1 / 4 * log(1 + 4 / 1)],
        [2 / 6 * log(1 + 4 / 5), 4 / 6 * log(1 + 4 / 6), 0],
        [0, 2 / 2 * log(1 + 4 / 6), 0],
    ]
    np.testing.assert_allclose(weights, expected)


def test_a_cluster_without_terms_changes_no_weight():
    with_empty = c_tf_idf(sparse.csr_matrix([[3, 1], [0, 0], [0, 4]])).toarray()
    without = c_tf_idf(sparse.csr_matrix([[3, 1], [0, 4]])).toarray()
    np.testing.assert_allclose(with_empty[[0, 2]], without)
    assert not with_empty[1].any()


def test_keyword_weights_by_hand():
    counts = count_terms(["oak", "oak, elm", "fir", "ash, fir"])
    (oak_elm, _) = cluster_keywords(counts, np.array([0, 0, 1, 1]), 2, 8)
    by_word = {counts.spelling[t]: w for t, w in oak_elm.items()}
    # None of the other two texts has them: their share there is (0 + 1/2) / (2 + 1).
    assert by_word == pytest.approx({"oak": log(1 / (1 / 6)), "elm": 0.5**0.7 * log(0.5 / (1 / 6))})


def test_spellings_count_as_one_and_show_the_most_frequent():
    counts = count_terms(["iPhone", "iphone iPhone", "e-mail", "email", "E-Mail e-mail", "query queries queries"])
    assert {"iPhone", "e-mail", "queries"} <= set(counts.spelling)
    assert counts.matrix[:2, counts.spelling.index("iPhone")].toarray().ravel().tolist() == [1, 2]


@pytest.mark.parametrize(
    "pair",
    [("cookie", "cookies"), ("box", "boxes"), ("branch", "branches"), ("class", "classes"), ("app", "apps")],
)
def test_a_plural_is_no_second_keyword(pair):
    assert len(keywords([f"{pair[0]}; {pair[1]}"] * 4, [0] * 4)[0]) == 1


def test_an_inflected_form_is_no_second_keyword_but_another_word_is():
    assert len(keywords(["deploy; deployed; deployment; deploying"] * 4, [0] * 4)[0]) == 1
    assert len(keywords(["apple; apply; intern; internal; international"] * 4, [0] * 4)[0]) >= 4


def test_a_phrase_replaces_the_words_that_mostly_occur_in_it():
    texts = ["support vector", "a support vector", "support vector kernel", "kernel"]
    assert keywords(texts, [0] * 4, stop_words={"a"}) == [["support vector", "kernel"]]


def test_a_word_stays_where_its_phrases_are_few():
    texts = ["vector sum", "vector; support vector", "long vector", "vector; support vector", "a vector"]
    (found,) = keywords(texts, [0] * 5, stop_words={"a"})
    assert "vector" in found
    assert "support vector" not in found


def test_a_word_of_one_text_is_no_keyword_of_a_larger_cluster():
    assert keywords(["oak tree", "oak", "oak", "oak zebra"], [0] * 4) == [["oak"]]
    assert keywords(["oak", "elm", "ash", "fir"], [0] * 4) == [["oak", "elm", "ash", "fir"]]


def test_words_of_all_clusters_come_after_words_of_one():
    texts = ["error oak", "error; oak", "error elm", "error; elm", "error ash", "error; ash"]
    assert [own[0] for own in keywords(texts, [0, 0, 1, 1, 2, 2])] == ["oak", "elm", "ash"]


def test_chinese_keywords_are_whole_words_not_their_fragments():
    texts = ["人工智能改变世界", "人工智能未来", "研究人工智能", "讨论人工智能"]
    assert keywords(texts, [0] * 4) == [["人工智能"]]
    texts = ["自然语言处理方法", "好自然语言处理", "自然语言处理模型", "学自然语言处理"]
    assert keywords(texts, [0] * 4) == [["自然语言", "处理"]]


def test_no_more_keywords_than_asked():
    assert [len(own) for own in keywords(["oak, elm, ash, fir"], [0], n_keywords=2)] == [2]
