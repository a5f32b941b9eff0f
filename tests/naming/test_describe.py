import numpy as np
import pytest

from shoal.errors import DataError, ParameterError
from shoal.naming import ClusterDescription, describe
from shoal.naming.names import unique_names

GIT = [
    "How do I merge two git branches?",
    "git merge conflict",
    "Delete a git branch",
    "Undo the last git commit",
]
BREAD = [
    "Why does my bread not rise?",
    "bread with less yeast",
    "How to bake rye bread",
    "Is the yeast too old?",
]


def names(*args, **options):
    return [cluster.name for cluster in describe(*args, **options)]


def test_two_topics_get_their_words():
    git, bread = describe(GIT + BREAD, [0] * 4 + [1] * 4, 2)
    assert git.name == "git, merge"
    assert bread.name == "bread, yeast"
    assert git.keywords[0] == "git"
    assert set(git.examples) <= {0, 1, 2, 3}
    assert set(bread.examples) <= {4, 5, 6, 7}


def test_keywords_that_another_source_finds_telling_come_first():
    plain = describe(GIT + BREAD, [0] * 4 + [1] * 4, 2)
    git, bread = describe(GIT + BREAD, [0] * 4 + [1] * 4, 2, telling=[{"merge", "unheard"}, set()])
    assert (plain[0].name, git.name) == ("git, merge", "merge, git")
    assert sorted(git.keywords) == sorted(plain[0].keywords), "the keywords stay, in another order"
    assert bread == plain[1]


def test_the_same_call_gives_the_same_answer():
    labels = np.array([0] * 4 + [1] * 4)
    assert describe(GIT + BREAD, labels, 2) == describe(GIT + BREAD, labels.astype(np.int32), 2)


def test_texts_in_no_cluster_change_nothing():
    plain = describe(GIT + BREAD, [0] * 4 + [1] * 4, 2)
    noisy = describe([*GIT, *BREAD, "git bread noise"], [0] * 4 + [1] * 4 + [-1], 2)
    assert noisy == plain


def test_rows_of_examples_count_the_texts_in_no_cluster():
    (cluster,) = describe(["noise", "oak"], [-1, 0], 1)
    assert cluster == ClusterDescription(keywords=("oak",), examples=(1,), name="oak")


def test_examples_follow_centrality_and_skip_near_copies():
    texts = [
        "Order 17 has not arrived",
        "order 23 has not arrived!",
        "refund please",
        "lost parcel",
        "refund please",
    ]
    (cluster,) = describe(texts, [0] * 5, 1, centrality=np.array([0.9, 0.8, 0.1, 0.5, 0.7]), n_examples=3)
    assert cluster.examples == (0, 4, 3)


def test_near_copies_in_chinese_are_skipped():
    texts = ["请问人工智能的未来会怎么样呢", "请问人工智能的未来会怎么样", "苹果手机"]
    (cluster,) = describe(texts, [0] * 3, 1, centrality=np.array([3, 2, 1]))
    assert cluster.examples == (0, 2)


def test_without_centrality_the_texts_with_the_keywords_come_first():
    texts = ["unrelated remark here", "oak elm", "oak", "something else entirely", "oak and elm wood"]
    (cluster,) = describe(texts, [0] * 5, 1, n_examples=3)
    assert set(cluster.examples) == {1, 2, 4}


def test_names_of_like_clusters_say_what_tells_them_apart():
    same = "oak, elm, ash. " * 3
    assert names([same, f"{same} fir"], [0, 1], 2) == ["oak, elm", "fir"]


def test_names_differ_by_a_number_as_the_last_resort():
    assert names(["oak", "Oak", "oak"], [0, 1, 2], 3) == ["oak", "oak (2)", "oak (3)"]


def test_the_same_words_in_another_order_are_not_another_name():
    assert unique_names([["oak", "elm"], ["Elm", "oak"]], [["oak", "elm"]] * 2, ["", ""]) == [
        "oak, elm",
        "Elm, oak (2)",
    ]


def test_what_distinguishes_comes_before_what_is_frequent():
    wrong = ["wrong exchange rate for my card payment", "exchange rate of a card payment is wrong"] * 3
    cash = ["wrong exchange rate for my cash withdrawal", "exchange rate of a cash withdrawal is wrong"] * 3
    other = ["where is my parcel", "my parcel is late", "track a parcel"] * 2
    card, withdrawal, parcel = names(wrong + cash + other, [0] * 6 + [1] * 6 + [2] * 6, 3)
    assert card.startswith("card payment")
    assert withdrawal.startswith("cash withdrawal")
    assert parcel.startswith("parcel")


def test_phrases_keep_their_form_and_casing():
    top_up = ["My top-up failed", "Why has my top-up failed?", "top up failed again", "The top-up failed"]
    pin = ["Change my PIN", "How do I change my PIN?", "I want to change my PIN", "Where to change my PIN"]
    assert names(top_up + pin, [0] * 4 + [1] * 4, 2) == ["top-up failed", "change my PIN"]


def test_no_name_is_made_of_filler():
    texts = ["I want to know how to get my refund", "do I get my refund", "I'd like to know if I get my refund"] * 3
    others = ["I want to know about fees", "do I get my fees", "I'd like to know the fees"] * 3
    assert names(texts + others, [0] * 9 + [1] * 9, 2) == ["refund", "fees"]


def test_a_footer_under_every_text_is_in_no_name():
    footer = "\n--\nSent from my Mailbox by Example Corporation. This message is confidential."
    texts = [f"{text}{footer}" for text in GIT * 3 + BREAD * 3]
    for cluster in describe(texts, [0] * 12 + [1] * 12, 2):
        said = " ".join([cluster.name, *cluster.keywords]).casefold()
        assert not any(word in said for word in ("mailbox", "example", "corporation", "confidential", "sent"))


def test_a_negation_stays_with_its_word():
    texts = ["my card is not working", "card isn't working", "the card is not working", "card not working at all"]
    others = ["my card is lost", "lost card", "I lost my card", "card lost yesterday"]
    working, lost = names(texts + others, [0] * 4 + [1] * 4, 2)
    assert "not working" in working
    assert "lost" in lost


def test_own_stop_words_are_added_to_those_of_the_language():
    texts = ["the oak tree of Acme", "an oak of Acme", "the elm of Acme", "elm trees of Acme"]
    plain = describe(texts, [0, 0, 1, 1], 2)
    assert all("the" not in cluster.keywords for cluster in plain)
    for cluster in describe(texts, [0, 0, 1, 1], 2, own_stop_words=["Oak"]):
        assert "oak" not in cluster.name.casefold().split()


def test_all_names_are_unique_over_many_clusters():
    rng = np.random.default_rng(0)
    vocabulary = [f"word{letter}" for letter in "abcdefgh"]
    texts = [" ".join(rng.choice(vocabulary, 4)) for _ in range(300)]
    found = names(texts, rng.integers(-1, 60, 300), 64)
    assert len(set(found)) == len(found) == 64


def test_clusters_without_telling_words():
    texts = ["What is it", "?!", "  ", ""]
    assert names(texts, [0, 1, 2, 2], 4) == ['"What is it"', '"?!"', "(no telling words)", "(empty)"]
    assert names([], [], 2) == ["(empty)", "(empty) (2)"]


def test_a_long_text_is_shortened_when_it_is_the_name():
    (name,) = names(["it is what it is " * 10], [0], 1)
    assert name.startswith('"it is what')
    assert len(name) <= 42


def test_one_text_per_cluster():
    assert names(["merge git branches", "bake rye bread"], [0, 1], 2) == [
        "merge git branches",
        "bake rye bread",
    ]


def test_german_and_french_function_words_are_no_keywords():
    german = [
        "Der Motor springt nicht an",
        "Wie laut ist der Motor?",
        "Die Kette ist gerissen",
        "Eine neue Kette für das Rad",
    ]
    assert names(german, [0, 0, 1, 1], 2) == ["Motor, springt", "Kette, gerissen"]
    french = [
        "L'huile du moteur est noire",
        "Quelle huile pour ce moteur ?",
        "Le gâteau n'a pas levé",
        "Un gâteau sans œufs",
    ]
    assert [name.split(", ")[0] for name in names(french, [0, 0, 1, 1], 2)] == ["huile", "gâteau"]


def test_chinese_and_japanese():
    chinese = ["人工智能的未来", "什么是人工智能", "苹果的价格", "我买苹果"]
    assert [name.split(", ")[0] for name in names(chinese, [0, 0, 1, 1], 2)] == ["人工智能", "苹果"]
    japanese = ["スマートフォンの電池", "スマートフォンを買った", "明日の天気", "東京の天気は晴れです"]
    assert [name.split(", ")[0] for name in names(japanese, [0, 0, 1, 1], 2)] == ["スマートフォン", "天気"]


def test_names_of_programming_languages_stay_whole():
    texts = ["pointers in C++", "C++ templates", "C# events", "delegates in C#"]
    assert [name.split(", ")[0] for name in names(texts, [0, 0, 1, 1], 2)] == ["C++", "C#"]


def test_own_stop_words_and_none():
    assert names(["the oak"], [0], 1, stop_words=["oak"]) == ["the"]
    assert describe(["the oak"], [0], 1, stop_words=None)[0].name == "the oak"


def test_any_sequence_of_texts_and_no_examples():
    assert describe(np.array(["oak", "elm"]), [0, 1], 2, n_examples=0)[1].examples == ()


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0], r"labels has shape \(1,\) but there are 2 texts"),
        ([0, 2], "labels run from 0 to 2 but n_clusters=2; pass labels from -1 to 1"),
        ([-2, 0], "labels run from -2 to 0"),
        ([0.5, 1.0], "labels has type float64; pass whole numbers"),
    ],
)
def test_labels_that_do_not_fit(labels, message):
    with pytest.raises(DataError, match=message):
        describe(["a", "b"], labels, 2)


@pytest.mark.parametrize(("centrality", "message"), [([1.0], "has shape"), ([1.0, np.nan], "holds 1 NaN")])
def test_centrality_that_does_not_fit(centrality, message):
    with pytest.raises(DataError, match=f"centrality {message}"):
        describe(["a", "b"], [0, 1], 2, centrality=centrality)


@pytest.mark.parametrize("options", [{"n_keywords": 0}, {"n_examples": -1}, {"stop_words": "none"}])
def test_parameters_that_do_not_work(options):
    with pytest.raises(ParameterError, match=next(iter(options))):
        describe(["a"], [0], 1, **options)
