from __future__ import annotations

import numpy as np
import pytest

import shoal
from shoal import METHODS, Shoal
from shoal.errors import MissingExtraError, ParameterError
from shoal.methods import reading
from shoal.methods.inputs import rows_of
from shoal.methods.reading import Reading, plan_reading
from shoal.metrics import nmi

# The same things said in four languages: two topics, and what tells the languages apart.
TOPICS = {
    "en": (("the bread", "the soup", "the cheese", "the cake"), ("is baked in the oven", "tastes of salt and butter"),
           ("the train", "the bus", "the plane", "the ferry"), ("leaves the station late", "is full of passengers")),
    "de": (("das Brot", "die Suppe", "der Käse", "der Kuchen"), ("kommt aus dem Ofen", "schmeckt nach Salz und Butter"),
           ("der Zug", "der Bus", "das Flugzeug", "die Fähre"), ("fährt zu spät vom Bahnhof ab", "ist voll")),
    "es": (("el pan", "la sopa", "el queso", "el pastel"), ("se hace en el horno", "sabe a sal y mantequilla"),
           ("el tren", "el autobús", "el avión", "el barco"), ("sale tarde de la estación", "va lleno de pasajeros")),
    "ru": (("хлеб", "суп", "сыр", "пирог"), ("готовят в печи", "на вкус как соль и масло"),
           ("поезд", "автобус", "самолёт", "паром"), ("уходит со станции поздно", "полон пассажиров")),
}  # fmt: skip


def parallel() -> tuple[list[str], list[int], list[str]]:
    """Texts, their topics and their languages."""
    rows = [
        (f"{thing} {what} ({i + 1})", topic, code)
        for code, parts in TOPICS.items()
        for topic in (0, 1)
        for thing in parts[2 * topic]
        for what in parts[2 * topic + 1]
        for i in range(3)
    ]
    texts, topics, codes = zip(*rows, strict=True)
    return list(texts), list(topics), list(codes)


def german() -> list[str]:
    texts, _, codes = parallel()
    return [text for text, code in zip(texts, codes, strict=True) if code == "de"]


def test_english_is_read_by_the_built_in_encoder_without_a_word():
    found = plan_reading(rows_of(["my parcel is late", "where is my parcel", "I was charged twice"]), {})
    assert (found.backbone, found.sentence, found.mixed) == ("builtin", "", False)


def test_other_languages_are_read_by_the_multilingual_encoder_and_it_is_said():
    found = plan_reading(rows_of(german()), {"keep_language": False})
    assert (found.backbone, found.free) == ("use", False)
    assert found.sentence == "Languages: German. Encoder: use (multilingual)."


def test_a_language_that_use_does_not_know_is_read_by_e5():
    swedish = ["Varför startar inte motorn när det är kallt ute?", "Tåget lämnar stationen för sent och är fullt"]
    assert plan_reading(rows_of(swedish), {}).backbone == "e5"


def test_without_the_extra_the_remedy_is_named(monkeypatch):
    monkeypatch.setattr(reading, "is_installed", lambda backbone: False)
    message = (
        r"100% of the texts are not in English \(German\).*pip install 'shoal\[multilingual\]'.*backbone='builtin'"
    )
    with pytest.raises(MissingExtraError, match=message):
        Shoal(2).fit(german())
    assert plan_reading(rows_of(german()), {"backbone": "builtin"}).backbone == "builtin"
    assert METHODS["tfidf-kmeans"](n_clusters=2).fit(german()).reading_.backbone == "builtin", "it needs no encoder"


@pytest.mark.parametrize("backbone", ["use", "e5", "static", "multilingual"])
def test_a_method_that_trains_says_what_it_can_train(backbone):
    with pytest.raises(ParameterError, match=rf"backbone='{backbone}' is frozen: this method trains its encoder"):
        METHODS["sccl"](n_clusters=2, backbone=backbone).fit(german())
    with pytest.raises(ParameterError, match="is frozen"):
        Shoal(2, effort="balanced", backbone=backbone).fit(german())


def test_a_method_that_trains_refuses_a_language_that_its_encoder_cannot_read():
    with pytest.raises(ParameterError, match=r"not in English \(German\).*the folder or hub name of a transformer"):
        METHODS["sccl"](n_clusters=2).fit(german())


def test_it_is_saved_and_read_again():
    found = plan_reading(rows_of(parallel()[0]), {"keep_language": False})
    assert Reading.from_dict(found.as_dict(), "builtin") == found
    assert Reading.from_dict(None, "a-folder") == Reading("a-folder")


@pytest.mark.slow
def test_texts_of_several_languages_are_grouped_by_topic(tmp_path):
    texts, topics, codes = parallel()
    model = Shoal(2).fit(texts)
    assert model.reading_.free
    assert nmi(codes, model.labels_) <= 5
    alone = []
    for code in TOPICS:
        own = [i for i, each in enumerate(codes) if each == code]
        labels = Shoal(2, backbone="use").fit([texts[i] for i in own]).labels_
        alone.append(nmi([topics[i] for i in own], labels))
    assert nmi(topics, model.labels_) >= max(alone) - 5
    np.testing.assert_array_equal(model.predict(texts), model.labels_)
    model.save(tmp_path / "model")
    again = shoal.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(texts), model.labels_)
    np.testing.assert_allclose(again.predict_proba(texts[::7]), model.predict_proba(texts[::7]), atol=1e-5)
    assert again.reading_ == model.reading_


@pytest.mark.slow
@pytest.mark.parametrize("method", ["kmeans", "ae-kmeans"])
@pytest.mark.parametrize("backbone", ["use", "static"])
def test_packaged_encoders_serve_as_backbones(method, backbone, tmp_path):
    texts, _, _ = parallel()
    small = {"pretrain_epochs": 3, "max_steps": 3} if method == "ae-kmeans" else {}
    model = METHODS[method](n_clusters=2, backbone=backbone, **small).fit(texts)
    assert model.reading_.backbone == backbone
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(shoal.load(tmp_path / "model").predict(texts), model.labels_)


@pytest.mark.slow
def test_the_languages_are_apart_only_if_they_are_to_be_kept():
    texts, _, codes = parallel()

    def apart(**params) -> float:
        vectors = METHODS["kmeans"](n_clusters=2, backbone="use", **params).fit(texts).transform(texts)
        means = [vectors[np.array(codes) == code].mean(axis=0) for code in TOPICS]
        return float(np.linalg.norm(np.array(means) - np.mean(means, axis=0)))

    assert apart() < 0.2 * apart(keep_language=True)
