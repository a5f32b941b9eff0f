"""A sentence encoder: any Hugging Face backbone, pooled; padding costs next to nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from shoal.encoder.backbone import BUILTIN, load_backbone, silence
from shoal.encoder.int8 import in_int8
from shoal.encoder.shared_work import own_groups
from shoal.encoder.token_states import POOLINGS, TokenStatesEncoder, last_states
from shoal.encoder.tokens import (
    AUTO,
    CHUNK,
    LONG_TEXTS,
    PRECISIONS,
    TRUNCATE,
    TokenisedTexts,
    evenly_spaced,
    length_groups,
    tokenise,
)
from shoal.errors import ModelError, ParameterError
from shoal.progress import announce, progress
from shoal.vectors import unit_rows

# With 'auto', chunks are read if a larger share of the texts than this would be cut off. So many texts are measured.
MOST_CUT = 0.1
MEASURED_TEXTS = 1000
MEASURED_CHARACTERS = 20_000


@contextmanager
def evaluating(module: nn.Module) -> Iterator[None]:
    """Put a module into evaluation mode; afterwards restore the mode of each of its parts.

    ``module.train()`` would put all parts into one mode, and so turn on the dropout of frozen layers.

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

    Sequences are sorted by length and encoded in groups, each padded to its own longest sequence: padding costs
    next to nothing, and the result depends neither on the batch size nor on the order (to about 1e-6).

    Parameters
    ----------
    model : transformers.PreTrainedModel
        The backbone.
    tokenizer : transformers tokenizer
        Its tokenizer.
    pooling : {"mean", "cls"}, default="mean"
        Mean of the states of the real tokens, or the state of the first token.
    max_length : int, default=64
        How many tokens of a text are read, special tokens included.
    normalize : bool, default=True
        Scale every vector to length one.
    long_texts : {"truncate", "chunk", "auto"}, default="truncate"
        What happens to a text of more than ``max_length`` tokens: only its beginning is read, or it is split into
        chunks whose vectors are averaged, weighted by length, before normalisation. With "auto",
        :meth:`settle_long_texts` decides; until then beginnings are read.
    precision : {"float32", "int8"}, default="float32"
        The arithmetic of :meth:`encode`: 8-bit integers are faster and lose a little.

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
        precision: str = "float32",
    ) -> None:
        super().__init__()
        if pooling not in POOLINGS:
            raise ParameterError(f"pooling={pooling!r} is unknown; pass one of {', '.join(POOLINGS)}.")
        if long_texts not in LONG_TEXTS:
            raise ParameterError(f"long_texts={long_texts!r} is unknown; pass one of {', '.join(LONG_TEXTS)}.")
        if precision not in PRECISIONS:
            raise ParameterError(f"precision={precision!r} is unknown; pass one of {', '.join(PRECISIONS)}.")
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
        self.precision = precision
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
        """The word embeddings, one row per token of the vocabulary."""
        embeddings: Tensor = self.model.get_input_embeddings().weight
        return embeddings

    @property
    def fingerprint(self) -> str:
        """Hash of everything that decides the vectors: weights, tokenizer and options."""
        digest = hashlib.sha256()
        for name, tensor in sorted(self.model.state_dict().items()):
            if name.startswith("pooler."):  # not used, and random if the checkpoint has none
                continue
            digest.update(f"{name} {tuple(tensor.shape)} ".encode())
            digest.update(tensor.detach().cpu().contiguous().numpy().data)  # a view: no copy of the weights
        options = [self.pooling, self.max_length, self.normalize, self.long_texts]
        options += [self.precision] * (self.precision != "float32")
        digest.update(json.dumps([_rules(self.tokenizer), options], sort_keys=True).encode())
        return digest.hexdigest()

    def tokenise(self, texts: Sequence[str]) -> TokenisedTexts:
        """Tokenise ``texts`` with this encoder's options."""
        return tokenise(self.tokenizer, texts, self.max_length, chunk=self.long_texts == CHUNK)

    def settle_long_texts(self, texts: Sequence[str]) -> None:
        """Decide what "auto" means for a corpus: chunks if more than a tenth of its texts would be cut off."""
        if self.long_texts != AUTO:
            return
        sample = [text[:MEASURED_CHARACTERS] for text in evenly_spaced(texts, MEASURED_TEXTS)]
        tokens = tokenise(self.tokenizer, sample, self.max_length, chunk=True)
        n_cut = len(np.unique(tokens.owner[1:][np.diff(tokens.owner) == 0]))
        self.long_texts = CHUNK if n_cut > MOST_CUT * len(sample) else TRUNCATE
        if self.long_texts == CHUNK:
            kept = np.minimum(np.bincount(tokens.owner, tokens.lengths), self.max_length).sum()
            announce(
                f"{n_cut / len(sample):.0%} of the texts are longer than {self.max_length} tokens: they are read in "
                f"chunks, {tokens.lengths.sum() / kept:.1f} times the work (long_texts='truncate': beginnings only)."
            )

    def states(
        self, tokens: TokenisedTexts, rows: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], Tensor, Tensor]]:
        """Yield, for groups of similar length, their places in ``rows``, token states and mask."""
        words = self._look_up(tokens, rows) if torch.is_grad_enabled() else None
        for group in own_groups(length_groups(tokens.lengths[rows])):
            yield group, *self._group_states(tokens, rows[group], words)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of ``texts``, (len(texts), dimension), in evaluation mode and without gradients.

        Afterwards ``truncated`` is the number of texts that were cut off at ``max_length``.
        """
        tokens = self.tokenise(texts)
        self.truncated = tokens.truncated
        first, copies = tokens.distinct()  # equal texts, also those that only the tokenizer makes equal, once
        pooled = np.empty((len(first), self.dimension), dtype=np.float32)
        rounded = self.precision == "int8"
        with evaluating(self), self._arithmetic(), torch.inference_mode(), progress("Encoding", len(first)) as bar:
            for group in length_groups(tokens.lengths[first], equal=rounded):
                pooled[group] = POOLINGS[self.pooling](*self._group_states(tokens, first[group])).cpu().numpy()
                bar.advance(len(group))
        return self._joined(pooled[copies], tokens, len(texts))

    def _joined(self, vectors: NDArray[np.float32], tokens: TokenisedTexts, n_texts: int) -> NDArray[np.float32]:
        """Return a vector per text: that of its sequence, or the mean of its chunks, weighed by their lengths."""
        if len(tokens) == n_texts:
            return unit_rows(vectors) if self.normalize else vectors
        sums = np.zeros((n_texts, self.dimension), dtype=np.float32)
        weights = np.zeros((n_texts, 1), dtype=np.float32)
        lengths = tokens.lengths[:, None].astype(np.float32)
        np.add.at(sums, tokens.owner, vectors * lengths)
        np.add.at(weights, tokens.owner, lengths)
        means = np.divide(sums, np.maximum(weights, 1), dtype=np.float32)
        return unit_rows(means) if self.normalize else means

    @cached_property
    def _rounded_model(self) -> Any:
        """The backbone in 8-bit integers; made once, because it is used only for an encoder that is not trained."""
        return in_int8(self.model).eval()

    @contextmanager
    def _arithmetic(self) -> Iterator[None]:
        """Compute in 8-bit integers meanwhile, if that is the precision."""
        model = self.model
        if self.precision == "int8":
            self.model = self._rounded_model
        try:
            yield
        finally:
            self.model = model

    def _look_up(self, tokens: TokenisedTexts, rows: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Look up the embeddings of all tokens; return each token's place among them, and the embeddings.

        A look-up per group would add a gradient as large as the whole vocabulary each time.
        """
        table = self.model.get_input_embeddings()
        found = torch.unique(tokens.padded(rows)[0]).to(self.device)
        places = torch.zeros(table.num_embeddings, dtype=torch.long, device=self.device)
        places[found] = torch.arange(len(found), device=self.device)
        return places, table(found)

    def _group_states(
        self, tokens: TokenisedTexts, rows: NDArray[np.int64], words: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Run one group of sequences; return token states and mask."""
        ids, mask = (part.to(self.device) for part in tokens.padded(rows))
        if words is None:
            inputs = {"input_ids": ids}
        else:
            places, embeddings = words
            inputs = {"inputs_embeds": nn.functional.embedding(places[ids], embeddings)}
        return last_states(self.model, mask, **inputs), mask

    def save(self, folder: Path) -> None:
        """Write a folder that ``SentenceTransformer(folder)`` opens and that gives the same vectors.

        Sentence-transformers does not chunk: it reads only the beginning of a text longer than ``max_length``. The
        backbone's ``config.json`` is in ``0_Transformer``, so that ``folder`` itself may hold other files.
        """
        inner = folder / "0_Transformer"
        with silence():
            self.model.save_pretrained(inner, safe_serialization=True)
        self.tokenizer.save_pretrained(inner)
        _write_json(inner / "sentence_bert_config.json", {"max_seq_length": self.max_length, "do_lower_case": False})
        pooling = {
            "word_embedding_dimension": self.dimension,
            "pooling_mode_cls_token": self.pooling == "cls",
            "pooling_mode_mean_tokens": self.pooling == "mean",
        }
        _write_json(folder / "modules.json", [])
        add_module(folder, "0_Transformer", "Transformer")
        add_module(folder, "1_Pooling", "Pooling", pooling)
        if self.normalize:
            add_module(folder, "2_Normalize", "Normalize")


def add_module(folder: Path, path: str, kind: str, config: Mapping[str, Any] | None = None) -> None:
    """Append a module to the list of a folder that ``SentenceTransformer`` opens."""
    (folder / path).mkdir(exist_ok=True)
    if config is not None:
        _write_json(folder / path / "config.json", config)
    modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
    number = len(modules)
    modules.append({"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"})
    _write_json(folder / "modules.json", modules)


def _write_json(path: Path, content: Any) -> None:
    """Write ``content`` as readable JSON."""
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _rules(tokenizer: Any) -> dict[str, Any]:
    """Return everything that decides the ids of a text: the vocabulary and, of a fast tokenizer, its rules."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    rules: dict[str, Any] = tokenizer.get_vocab() if backend is None else json.loads(backend.to_str())
    # Truncation and padding are left over from the last call; they are not rules of the tokenizer.
    return {name: rule for name, rule in rules.items() if backend is None or name not in ("truncation", "padding")}


def _window(model: Any, tokenizer: Any) -> int:
    """Return how many tokens the backbone can read."""
    positions = getattr(model.config, "max_position_embeddings", None)
    if positions is None:
        return int(min(tokenizer.model_max_length, 1 << 20))
    if not isinstance(positions, int) or positions < 8:
        raise ModelError(f"this backbone has max_position_embeddings={positions!r}, not an int >= 8; pass another.")
    # RoBERTa, MPNet and similar models number positions from the padding id + 1.
    table = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    padding = getattr(table, "padding_idx", None)
    return positions if padding is None else positions - padding - 1
