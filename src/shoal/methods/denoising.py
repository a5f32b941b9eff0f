"""The denoising stage, all of TSDAE and the first stage of ClusterBERT: its parameters and its decoder."""

from __future__ import annotations

from typing import Any

from shoal.encoder.decoder import VOCABULARIES, SentenceDecoder, corpus_vocabulary
from shoal.encoder.masked_head import load_masked_head
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
    "guard": False,
}
BACKBONE = shared.TRAINED_BACKBONE.but(
    meaning="The transformer: 'builtin', a folder, or a hub name; of the BERT, RoBERTa, DistilBERT or MPNet family."
)
POOLING = shared.POOLING.but(
    meaning="How token states become z: their mean, or the state of the first token, as in the paper. The "
    "built-in encoder was trained with the mean; the state of its first token means little."
)
SCALE = shared.SCALE.but(
    meaning="Factor on the vectors before the decoder and the head. It makes unit vectors as long as the "
    "built-in encoder's raw ones."
)
DELETION = parameter(0.6, "Probability of deleting a token.", number(least=0, most=1))
DECODER_LAYERS = parameter(
    1,
    "Number of the encoder's last layers that form the decoder; None for all, as in the paper. A small "
    "decoder is faster and leaves more to the vector.",
    optional(whole()),
)
VOCABULARY = parameter("corpus", "Tokens in the decoder's softmax: those of the corpus, or all.", one_of(*VOCABULARIES))
BATCH_SIZE = TRAINING["batch_size"].but(64, "Texts per batch; 8 in the paper. A CPU is faster with larger batches.")
LEARNING_RATE = TRAINING["learning_rate"].but(
    1.6e-4, "Learning rate of the encoder; 2e-5 in the paper, whose batch is an eighth."
)
HEAD_LEARNING_RATE = TRAINING["head_learning_rate"].but(
    meaning="Learning rate of the new layers: attention to z, output layer, clustering head; 2e-5 in the paper, "
    "with many more steps."
)


def make_decoder(model: FineTuned, material: Material) -> SentenceDecoder:
    """Build the decoder: weights tied to the encoder's, and the checkpoint's own language-model head if it has one."""
    params = model.get_params(deep=False)
    used = corpus_vocabulary(material.views.tokens) if params["vocabulary"] == "corpus" else None
    head = load_masked_head(model.reading_.backbone)
    return SentenceDecoder(model.encoder_, n_layers=params["decoder_layers"], vocabulary=used, head=head)


def objective_options(model: FineTuned) -> dict[str, Any]:
    """Return the options that the objectives of all stages share."""
    params = model.get_params(deep=False)
    before, behind = special_tokens(model.encoder_.tokenizer)
    options = {name: params[name] for name in ("deletion", "scale", "n_init")}
    return {"special": (len(before), len(behind)), **options}
