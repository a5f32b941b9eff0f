"""A sentence encoder: any Hugging Face backbone, pooled, with the cost following the real tokens."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from shoal.encoder.backbone import BUILTIN, load_backbone, silence
from shoal.encoder.token_states import POOLINGS, TokenStatesEncoder
from shoal.encoder.tokens import TokenisedTexts, length_groups, tokenise
from shoal.errors import ModelError, ParameterError
from shoal.progress import progress

LONG_TEXTS = ("truncate", "chunk")
_SENTENCE_TRANSFORMERS = "sentence_transformers.models"


@contextmanager
def evaluating(module: nn.Module) -> Iterator[None]:
    """Put a module into evaluation mode; afterwards each of its parts is in the mode that it was in.

    ``train`` would put all parts into one mode, and so switch on the dropout of layers that are held fast.

    Examples
    --------
    >>> both = nn.Sequential(nn.Dropout().eval(), nn.Dropout())
    >>> with evaluating(both):
    ...     both[1].training
    False
    >>> [part.training for part in both]
    [False, True]
    """
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, training in modes:
            part.training = training


class TransformerEncoder(TokenStatesEncoder):
    """Turns texts into vectors with a transformer.

    Sequences are sorted by length and encoded in groups that are padded only among themselves, so padding costs
    next to nothing and the result depends neither on the batch size nor on the order (to about 1e-6).

    Parameters
    ----------
    model : transformers.PreTrainedModel
        The backbone.
    tokenizer : transformers tokenizer
        Its tokenizer.
    pooling : {"mean", "cls"}, default="mean"
        Mean of the real tokens' states, or the state of the first token.
    max_length : int, default=64
        The most tokens of a text that are read.
    normalize : bool, default=True
        Scale every vector to length one.
    long_texts : {"truncate", "chunk"}, default="truncate"
        What happens to a text of more than ``max_length`` tokens: its head is read, or it is cut into chunks
        whose vectors are averaged, weighted by their length, before the normalisation.

    Examples
    --------
    >>> encoder = TransformerEncoder.load("builtin")
    >>> encoder.encode(["a small fish", "a large whale"]).shape
    (2, 384)
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        pooling: str = "mean",
        max_length: int = 64,
        normalize: bool = True,
        long_texts: str = "truncate",
    ) -> None:
        super().__init__()
        if pooling not in POOLINGS:
            raise ParameterError(f"pooling={pooling!r} is unknown; pass one of {', '.join(POOLINGS)}.")
        if long_texts not in LONG_TEXTS:
            raise ParameterError(f"long_texts={long_texts!r} is unknown; pass one of {', '.join(LONG_TEXTS)}.")
        window = _window(model, tokenizer)
        if not 4 <= max_length <= window:
            raise ParameterError(
                f"max_length={max_length} but this backbone reads 4 to {window} tokens; pass a value in that range."
            )
        self.model = model
        self.tokenizer = tokenizer
        self.pooling = pooling
        self.max_length = max_length
        self.normalize = normalize
        self.long_texts = long_texts
        self.truncated = 0

    @classmethod
    def load(cls, backbone: str = BUILTIN, **options: Any) -> TransformerEncoder:
        """Load ``backbone`` (``"builtin"``, a folder, a hub name); ``options`` are the constructor's."""
        return cls(*load_backbone(backbone), **options)

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(self.model.config.hidden_size)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return torch.device(self.model.device)

    @property
    def words(self) -> Tensor:
        """The word embeddings, one row a token of the vocabulary."""
        embeddings: Tensor = self.model.get_input_embeddings().weight
        return embeddings

    @property
    def fingerprint(self) -> str:
        """Identity of the vectors this encoder gives: weights, tokenizer and options, by content."""
        digest = hashlib.sha256()
        for name, tensor in sorted(self.model.state_dict().items()):
            if name.startswith("pooler."):  # never read, and drawn at random if the checkpoint has none
                continue
            digest.update(f"{name} {tuple(tensor.shape)} ".encode())
            digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
        options = (self.pooling, self.max_length, self.normalize, self.long_texts)
        digest.update(json.dumps([_rules(self.tokenizer), options], sort_keys=True).encode())
        return digest.hexdigest()

    def tokenise(self, texts: Sequence[str]) -> TokenisedTexts:
        """Tokenise ``texts`` under this encoder's options."""
        return tokenise(self.tokenizer, texts, self.max_length, chunk=self.long_texts == "chunk")

    def states(
        self, tokens: TokenisedTexts, rows: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], Tensor, Tensor]]:
        """Yield, for groups of like length, their places in ``rows``, token states and mask."""
        words = self._look_up(tokens, rows) if torch.is_grad_enabled() else None
        for group in length_groups(tokens.lengths[rows]):
            yield group, *self._group_states(tokens, rows[group], words)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of ``texts``, (len(texts), dimension), in evaluation mode and without gradients.

        ``truncated`` afterwards holds how many of them were longer than ``max_length``.
        """
        tokens = self.tokenise(texts)
        self.truncated = tokens.truncated
        sums = np.zeros((len(texts), self.dimension), dtype=np.float32)
        weights = np.zeros((len(texts), 1), dtype=np.float32)
        with evaluating(self), torch.inference_mode(), progress("Encoding", len(tokens)) as bar:
            for group in length_groups(tokens.lengths):
                length = tokens.lengths[group][:, None].astype(np.float32)
                vectors = POOLINGS[self.pooling](*self._group_states(tokens, group)).cpu().numpy()
                # A text of one sequence is divided by its own weight: x * w / w is x to the last bit or two.
                np.add.at(sums, tokens.owner[group], vectors * length)
                np.add.at(weights, tokens.owner[group], length)
                bar.advance(len(group))
        means = np.divide(sums, np.maximum(weights, 1), dtype=np.float32)
        if self.normalize:
            means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12)
        return means

    def _look_up(self, tokens: TokenisedTexts, rows: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Look every token up once; return the tokens' places among those found, and their embeddings.

        Otherwise each group would add a gradient as large as the whole vocabulary.
        """
        table = self.model.get_input_embeddings()
        found = torch.unique(tokens.padded(rows)[0]).to(self.device)
        places = torch.zeros(table.num_embeddings, dtype=torch.long, device=self.device)
        places[found] = torch.arange(len(found), device=self.device)
        return places, table(found)

    def _group_states(
        self, tokens: TokenisedTexts, rows: NDArray[np.int64], words: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Run one group of sequences, padded among themselves; return the tokens' states and the mask."""
        ids, mask = (part.to(self.device) for part in tokens.padded(rows))
        if words is None:
            inputs = {"input_ids": ids}
        else:
            places, embeddings = words
            inputs = {"inputs_embeds": nn.functional.embedding(places[ids], embeddings)}
        # Without padding no mask is needed, and attention takes its faster way.
        out = self.model(**inputs, attention_mask=None if bool(mask.all()) else mask.long())
        return out.last_hidden_state, mask

    def save(self, folder: Path) -> None:
        """Write a folder that ``SentenceTransformer(folder)`` opens and that gives the same vectors.

        It knows no chunks: of a text longer than ``max_length`` it reads the head.
        Its own ``config.json`` lies in ``0_Transformer``, so that ``folder`` itself may hold other files.
        """
        inner = folder / "0_Transformer"
        with silence():
            self.model.save_pretrained(inner, safe_serialization=True)
        self.tokenizer.save_pretrained(inner)
        modules = [("0_Transformer", "Transformer"), ("1_Pooling", "Pooling")]
        if self.normalize:
            modules.append(("2_Normalize", "Normalize"))
        listing = [
            {"idx": i, "name": str(i), "path": path, "type": f"{_SENTENCE_TRANSFORMERS}.{kind}"}
            for i, (path, kind) in enumerate(modules)
        ]
        for path, _ in modules:
            (folder / path).mkdir(exist_ok=True)
        _write_json(folder / "modules.json", listing)
        _write_json(inner / "sentence_bert_config.json", {"max_seq_length": self.max_length, "do_lower_case": False})
        _write_json(
            folder / "1_Pooling" / "config.json",
            {
                "word_embedding_dimension": self.dimension,
                "pooling_mode_cls_token": self.pooling == "cls",
                "pooling_mode_mean_tokens": self.pooling == "mean",
            },
        )


def _write_json(path: Path, content: Any) -> None:
    """Write ``content`` as readable JSON."""
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _rules(tokenizer: Any) -> dict[str, Any]:
    """Return all that decides which ids a text becomes: the vocabulary and, of a fast tokenizer, its rules."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    rules: dict[str, Any] = tokenizer.get_vocab() if backend is None else json.loads(backend.to_str())
    # These two are no rules of the tokenizer: they are left over from how it was called last.
    return {name: rule for name, rule in rules.items() if backend is None or name not in ("truncation", "padding")}


def _window(model: Any, tokenizer: Any) -> int:
    """Return how many tokens the backbone can read."""
    positions = getattr(model.config, "max_position_embeddings", None)
    if positions is None:
        return int(min(tokenizer.model_max_length, 1 << 20))
    if not isinstance(positions, int) or positions < 8:
        raise ModelError(f"this backbone states max_position_embeddings={positions!r}; pass another backbone.")
    # RoBERTa, MPNet and their kin number their positions from the padding id on.
    table = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    padding = getattr(table, "padding_idx", None)
    return positions if padding is None else positions - padding - 1
