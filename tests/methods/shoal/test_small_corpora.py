"""Small corpora with known groups: at least as good as k-means, and as a person would group them."""

from __future__ import annotations

import numpy as np
import pytest

from shoal import METHODS, Shoal
from shoal.demo_texts import standard_library_texts
from shoal.encoder.transformer import TransformerEncoder
from shoal.metrics import accuracy

pytestmark = pytest.mark.slow

TOPICS = {
    "delivery": [
        "my parcel never arrived",
        "the parcel came two weeks late",
        "where is my delivery",
        "the courier left the box at the wrong house",
        "tracking has not moved since Monday",
        "the package was damaged when it got here",
        "I need my order shipped to another address",
        "the driver did not ring the bell",
        "shipping takes far too long",
        "half of the items in the box are missing",
        "can you deliver on a Saturday",
        "my order is stuck at customs",
    ],
    "billing": [
        "I was charged twice",
        "please refund the second charge",
        "wrong amount on my invoice",
        "the discount code was not applied to the bill",
        "my card was declined at checkout",
        "can I pay by bank transfer",
        "you took money after I cancelled my subscription",
        "I need a receipt with my tax number",
        "the price went up without notice",
        "how do I update my credit card",
        "where is the refund you promised",
        "there is a fee on my statement that I do not know",
    ],
    "account": [
        "I forgot my password",
        "the login page says my user name is unknown",
        "please delete my account",
        "I cannot change the email in my profile",
        "the reset link does not work",
        "my account was locked after three attempts",
        "how do I turn on two factor sign in",
        "I never got the confirmation email",
        "someone else signed in with my name",
        "I want to change my user name",
        "the app logs me out every hour",
        "how can I merge two accounts",
    ],
    "weather": [
        "it will rain in the north tomorrow",
        "heavy snow closed the mountain road",
        "the heat wave ends on Friday",
        "strong winds are expected along the coast",
        "a thunderstorm hit the city last night",
        "the fog should clear by noon",
        "temperatures fall below zero tonight",
        "the drought has lasted all summer",
        "hail damaged the crops",
        "a mild and sunny weekend lies ahead",
        "the hurricane lost force over land",
        "spring came early this year",
    ],
    "cooking": [
        "fry the onions until they are golden",
        "add a pinch of salt to the dough",
        "bake the bread for forty minutes",
        "how long do I boil an egg",
        "this soup needs more garlic",
        "marinate the chicken over night",
        "whisk the eggs with the sugar",
        "the cake did not rise in the oven",
        "simmer the sauce on low heat",
        "which pan is best for pancakes",
        "chop the parsley and the mint",
        "let the pasta drain before you serve it",
    ],
}


@pytest.fixture(scope="module")
def sentences():
    """Sentences of five topics by topic, first sentences of docstrings by module, and the vector of each."""
    modules: dict[str, list[str]] = {}
    for each in standard_library_texts(modules=8):
        modules.setdefault(each.module, []).append(each.text)
    modules = {name: sorted(set(texts))[:50] for name, texts in modules.items()}
    texts = [text for group in (*TOPICS.values(), *modules.values()) for text in group]
    encoder = TransformerEncoder.load("builtin")
    return TOPICS, modules, dict(zip(texts, encoder.encode(texts), strict=True))


def scores_of(groups, vectors, sizes, draw):
    """Return the ACC of Shoal and of k-means on texts of some groups, so many of each."""
    rng = np.random.RandomState(draw)
    names = rng.choice(sorted(groups), len(sizes), replace=False)
    rows = [
        (text, name)
        for name, size in zip(names, sizes, strict=True)
        for text in rng.permutation(groups[name])[:size].tolist()
    ]
    texts, labels = zip(*rows, strict=True)
    matrix = np.array([vectors[text] for text in texts])
    models = [METHODS[name](n_clusters=len(sizes), random_state=draw) for name in ("shoal", "kmeans")]
    return [accuracy(labels, model.fit(texts, vectors=matrix).labels_) for model in models]


def test_the_readmes_sentences_are_grouped_as_a_person_would(sentences):
    topics, _, vectors = sentences
    texts = [*topics["delivery"][:3], *topics["billing"][:3]]
    matrix = np.array([vectors[text] for text in texts])
    for seed in range(10):
        labels = Shoal(2, random_state=seed).fit(texts, vectors=matrix).labels_
        assert labels.tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    "shapes",
    [
        [(3, 3), (4, 2), (2, 2, 2)],
        [(5, 5), (7, 3), (4, 3, 3), (2,) * 5],
        [(10, 10), (7, 7, 6), (12, 5, 3), (4,) * 5, (8, 5, 3, 2, 2)],
        [(12,) * 4, (12, 12, 12, 7, 7), (12, 12, 10, 8, 4)],
    ],
    ids=["6", "10", "20", "50"],
)
def test_a_few_sentences_of_each_topic(sentences, shapes):
    topics, _, vectors = sentences
    ours, plain = np.mean([scores_of(topics, vectors, sizes, draw) for sizes in shapes for draw in range(5)], axis=0)
    assert ours >= plain
    assert ours > 0.75


def test_up_to_two_hundred_docstrings_of_each_module(sentences):
    """Modules overlap far more than topics: a draw proves little, so all sizes are taken together."""
    _, modules, vectors = sentences
    shapes = [(10, 10), (15, 5), (25, 25), (30, 15, 5), (7,) * 7, (50, 50), (25,) * 4, (50, 20, 15, 10, 5), (25,) * 8]
    ours, plain = np.mean([scores_of(modules, vectors, sizes, draw) for sizes in shapes for draw in range(4)], axis=0)
    assert ours >= plain


@pytest.mark.parametrize("method", ["shoal", "kmeans"])
@pytest.mark.parametrize(
    ("texts", "allowed"),
    [
        (["one text"], [1]),
        (["the same text"] * 12, [1]),
        (["red apple", "fast car"], [1]),
        (["red apple", "fast car", "green apple"], [1]),
        ([text for texts in TOPICS.values() for text in texts[:3]], range(2, 7)),
        ([text for texts in TOPICS.values() for text in texts], range(2, 3 * len(TOPICS))),
    ],
    ids=["one", "equal", "two", "three", "three of each", "all"],
)
def test_the_number_is_sensible_however_few_there_are(method, texts, allowed):
    model = METHODS[method]().fit(texts)
    assert model.n_clusters_ in allowed
    assert (model.predict(texts) == model.labels_).all()
    assert np.isfinite(model.probabilities_).all()
