from __future__ import annotations

import numpy as np

from shoal.naming import describe_topics

WORDS = ["cell", "sheet", "row", "table", "view", "key", "prompt", "shell", "path", "file", "open", "save"]


def beta(*clusters: list[list[str]]) -> np.ndarray:
    """Topics whose words are given best first."""
    found = np.zeros((len(clusters), len(clusters[0]), len(WORDS)))
    for k, topics in enumerate(clusters):
        for t, words in enumerate(topics):
            for rank, word in enumerate(words):
                found[k, t, WORDS.index(word)] = 1 / (rank + 1)
    return found / found.sum(axis=2, keepdims=True)


def test_best_words_first_and_largest_topics_first():
    (topics,) = describe_topics(beta([["cell", "sheet"], ["file", "open"]]), np.array([[0.3, 0.7]]), WORDS, n_words=2)
    assert [topic.words for topic in topics] == [("file", "open"), ("cell", "sheet")]
    assert [topic.share for topic in topics] == [0.7, 0.3]


def test_a_topic_that_half_of_the_others_have_is_general():
    four = beta(
        [["cell", "sheet"], ["file", "open"]],
        [["table", "view"], ["open", "save"]],
        [["prompt", "shell"], ["save", "file"]],
        [["row", "key"], ["path", "shell"]],
    )
    found = describe_topics(four, np.tile([0.6, 0.4], (4, 1)), WORDS, n_words=2)
    # each file topic is like those of two of the three others; the path is like one, by the shell
    expected = [[False, True], [False, True], [False, True], [False, False]]
    assert [[topic.general for topic in own] for own in found] == expected


def test_two_topics_of_one_cluster_do_not_make_each_other_general():
    two = beta([["cell", "sheet"], ["sheet", "cell"]], [["file", "open"], ["save", "path"]])
    assert not any(
        topic.general for own in describe_topics(two, np.full((2, 2), 0.5), WORDS, n_words=2) for topic in own
    )


def test_one_cluster_has_no_general_topic():
    (topics,) = describe_topics(beta([["cell", "sheet"]]), np.ones((1, 1)), WORDS, n_words=2)
    assert not topics[0].general


def test_only_words_likelier_than_by_chance():
    (topics,) = describe_topics(np.array([[[0.3, 0.1, 0.2, 0.4]]]), np.ones((1, 1)), list("abcd"), n_words=10)
    assert topics[0].words == ("d", "a")
