"""The stage that TSDAE is and ClusterBERT begins with: what its decoder and its objective are built from."""

from __future__ import annotations

from typing import Any

from shoal.encoder.decoder import VOCABULARIES, SentenceDecoder, corpus_vocabulary
from shoal.encoder.tokens import special_tokens
from shoal.methods import shared_parameters as shared
from shoal.methods.fine_tuned import FineTuned, Material
from shoal.parameters import number, one_of, optional, parameter, whole
from shoal.training.options import TRAINING

PAPER = {
    "pooling": "cls",
    "normalize": False,
    "scale": 1.0,
    "decoder_layers": None,
    "vocabulary": "full",
    "batch_size": 8,
    "learning_rate": 2e-5,
    "head_learning_rate": 2e-5,
    "trainable_layers": "all",
}
BACKBONE = shared.BACKBONE.but(
    meaning="The built-in model, a folder, or a hub name; of the BERT, RoBERTa, DistilBERT or MPNet family."
)
POOLING = shared.POOLING.but(
    meaning="z: mean over the tokens, or the state of the first token as in the paper. The built-in encoder was "
    "trained with the mean, and the state of its first token means little."
)
SCALE = shared.SCALE.but(
    meaning="What the vectors are multiplied with before the decoder and the head, so that unit vectors are as long "
    "there as the raw ones of the built-in encoder."
)
DELETION = parameter(0.6, "Probability that a token is deleted.", number(least=0, most=1))
DECODER_LAYERS = parameter(
    1,
    "How many of the encoder's last layers decode; None for all, as in the paper. Less work, and a decoder that can do "
    "little alone leaves more to the vector.",
    optional(whole()),
)
VOCABULARY = parameter("corpus", "The softmax over the tokens that the corpus has, or over all.", one_of(*VOCABULARIES))
BATCH_SIZE = TRAINING["batch_size"].but(64, "8 in the paper. A CPU is faster with larger batches.")
LEARNING_RATE = TRAINING["learning_rate"].but(1.6e-4, "Of the encoder; 2e-5 in the paper, whose batch is an eighth.")
HEAD_LEARNING_RATE = TRAINING["head_learning_rate"].but(
    meaning="Of what is new: attention to z, output layer, clustering head; 2e-5 in the paper, over many more steps."
)


def make_decoder(model: FineTuned, material: Material) -> SentenceDecoder:
    """Build the decoder, its weights tied with those of the encoder."""
    params = model.get_params(deep=False)
    used = corpus_vocabulary(material.views.tokens) if params["vocabulary"] == "corpus" else None
    return SentenceDecoder(model.encoder_, n_layers=params["decoder_layers"], vocabulary=used)


def objective_options(model: FineTuned) -> dict[str, Any]:
    """Return the options that the objective of every stage takes."""
    params = model.get_params(deep=False)
    before, behind = special_tokens(model.encoder_.tokenizer)
    options = {name: params[name] for name in ("deletion", "scale", "n_init")}
    return {"special": (len(before), len(behind)), **options}
