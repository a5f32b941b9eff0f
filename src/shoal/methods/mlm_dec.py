"""MLM + DEC: unsupervised fine-tuning for text clustering (Huang et al., COLING 2020)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from shoal.clusterers import Clusterer, Vectors, fit_kmeans
from shoal.clusterers.student_t import StudentT
from shoal.encoder.masked_head import MaskedHead, load_masked_head, new_masked_head
from shoal.encoder.masking import MaskedReading, Masking, read_masked
from shoal.encoder.token_states import TokenStatesEncoder
from shoal.encoder.tokens import TokenisedTexts
from shoal.errors import ParameterError
from shoal.functional import cluster_kl, masked_cross_entropy, student_t, target_distribution
from shoal.methods.checks import check_counts, check_not_negative, check_positive
from shoal.methods.trained import TrainedClusterer
from shoal.training import Batch, CorpusViews, Objective, Stage

WARM_UP, JOINT = "warm-up", "joint"

_PAPER_TRAINING = {
    "max_length": 128,
    "normalize": False,
    "scale": 1.0,
    "masked_lm": 1 / 16,
    "batch_size": 16,
    "epochs": 10,
    "learning_rate": 3e-5,
    "head_learning_rate": 3e-5,
    "trainable_layers": "all",
    "tolerance": 0.001,
}
PRESETS: dict[str, dict[str, Any]] = {
    "paper": {**_PAPER_TRAINING, "backbone": "bert-base-uncased"},
    "paper-offline": _PAPER_TRAINING,
}


class _OnMaskedTexts(Objective):
    """What both stages share: reading the texts of a batch with some tokens masked.

    Parameters
    ----------
    encoder : TokenStatesEncoder
        f of section 2.
    masking : Masking or None
        What hides tokens; None hides nothing.
    head : MaskedHead or None
        What guesses the hidden tokens.
    """

    views = (0,)
    encoder: TokenStatesEncoder

    def __init__(self, encoder: nn.Module, masking: Masking | None, head: MaskedHead | None) -> None:
        super().__init__(encoder)
        self.masking = masking
        self.head = head

    def read(self, batch: Batch) -> MaskedReading:
        """Read the texts once, with fresh masks."""
        if self.masking is None:
            (vectors,) = self.encode(batch)
            return MaskedReading(vectors, vectors[:0], torch.empty(0, dtype=torch.long, device=vectors.device))
        texts = batch.tokens.select(batch.views[0])
        return read_masked(self.encoder, texts, self.masking(texts))


class HeadWarmUp(_OnMaskedTexts):
    """The masked-language-model loss on a new head alone; the encoder stays as it is."""

    head: MaskedHead

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Return L_m; no gradient leaves the head."""
        with torch.no_grad():
            reading = self.read(batch)
        scores = self.head(reading.states, self.encoder.words.detach())
        return {"masked_lm": masked_cross_entropy(scores.float(), reading.answers)}


class MLMDECObjective(_OnMaskedTexts):
    """Equation 1.

    Parameters
    ----------
    encoder, masking, head
        As in the warm-up; without a head L_m is left out.
    masked_lm : float
        Weight of L_m.
    n_texts, n_clusters, dimension : int
        Number of texts and of clusters, and length of a vector.
    alpha, scale, n_init
        As in :class:`MLMDEC`.
    """

    targets: Tensor

    def __init__(
        self,
        encoder: nn.Module,
        masking: Masking | None,
        head: MaskedHead | None,
        *,
        masked_lm: float,
        n_texts: int,
        n_clusters: int,
        dimension: int,
        alpha: float,
        scale: float,
        n_init: int,
    ) -> None:
        super().__init__(encoder, masking, head)
        self.masked_lm = masked_lm
        self.alpha, self.scale = alpha, scale
        self.n_init = n_init
        self.centers = nn.Parameter(torch.zeros(n_clusters, dimension))
        self.register_buffer("targets", torch.zeros(n_texts, n_clusters))

    def initialise(self, embeddings: Vectors, rng: np.random.RandomState) -> None:
        """Start the centres by k-means on the original model's vectors (section 2.2), and the targets from them."""
        found = fit_kmeans(embeddings, len(self.centers), rng, n_init=self.n_init).centers
        with torch.no_grad():
            self.centers.copy_(torch.from_numpy(found) * self.scale)
        self.refresh(embeddings)

    def refresh(self, embeddings: Vectors) -> None:
        """Renew P over the whole corpus, read without masks (section 2.2, last paragraph)."""
        with torch.no_grad():
            q = student_t(self.scale * torch.from_numpy(embeddings).to(self.centers), self.centers, self.alpha)
            self.targets.copy_(target_distribution(q))  # eq. 5

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Return the terms of equation 1, both from one pass over the masked texts (figure 1)."""
        reading = self.read(batch)
        terms = {}
        if self.head is not None:
            scores = self.head(reading.states, self.encoder.words)
            terms["masked_lm"] = self.masked_lm * masked_cross_entropy(scores.float(), reading.answers)  # section 2.1
        q = student_t(self.scale * reading.vectors.float(), self.centers, self.alpha)  # eq. 3
        terms["cluster"] = cluster_kl(self.targets[torch.from_numpy(batch.rows).to(q.device)], q)  # eq. 2
        return terms

    def labels(self, embeddings: Vectors) -> NDArray[np.int64]:
        """Return arg max q (eq. 4)."""
        found: NDArray[np.int64] = self.clusterer().scores(embeddings).argmax(axis=1)
        return found

    def clusterer(self) -> StudentT:
        """Return the clusters as they stand."""
        return StudentT((self.centers.detach() / self.scale).cpu().numpy(), self.alpha, self.scale)


class MLMDEC(TrainedClusterer):
    """MLM + DEC: a masked language model and a clustering loss on one encoder.

    Minimises L = L_m + L_c (equation 1): the mean negative log-likelihood of the masked tokens, and the sum over the
    texts of KL[p || q], with q the Student-t assignment to the centres and p its target, renewed once an epoch over
    the whole corpus without masks. Both terms rest on one pass over the masked texts: the paper draws them so
    (figure 1), and that p is computed without masks it says as an exception.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    backbone : str, default="builtin"
        The built-in model, a folder, or a hub name. One that has a masked-language-model head keeps it; for others a
        head is made new.
    pooling : {"mean", "cls"}, default="mean"
        Mean over the tokens, masked ones included, or the first token's state (the ablation of table 2).
    max_length : int, default=64
        The most tokens that are read of a text; 128 in the paper, at twice the time for long texts.
    normalize : bool, default=True
        Unit vectors. A departure from the paper, which takes the mean token state as it is: the built-in encoder was
        trained on cosines.
    scale : float, default=6.0
        What the vectors are multiplied with before equation 3, whose kernel has a unit of its own; unit vectors are
        then as long as the built-in encoder's raw ones (4 to 6).
    alpha : float, default=1
        Degrees of freedom of equation 3.
    masked_lm : float, default=1/16
        Weight of L_m beside the mean of KL[p || q]. Equation 2 is a sum over the texts: with the paper's 16 texts a
        step, L_m + L_c is this weight, up to a factor that Adam does not see. 0 leaves L_m out (the ablation of
        table 2); tokens are then still masked, since only the loss is said to go, unless ``mask_share`` is 0 too.
    mask_share : float, default=0.1
        Share of a text's tokens that are masked, at least one.
    warm_up_epochs : int, default=1
        Passes over the corpus that train a newly made head alone, before it may move the encoder; none are made for
        a head that came with the backbone.
    n_init : int, default=10
        Starts of the first k-means.
    batch_size : int, default=64
        Texts a step; 16 in the paper.
    epochs, max_steps : int, default=2 and None
        Passes over the corpus, and the most steps; at most 10 epochs in the paper.
    learning_rate, head_learning_rate : float, default=2e-5 and 5e-4
        Of the backbone, and of centres and head. The paper names one, 3e-5, for a head that was trained before. The
        built-in encoder's vectors are clusters already: of TREC-6 more and longer steps made a worse space
        (docs/methods/mlm-dec.md).
    optimizer, weight_decay, schedule, warmup_steps, clip_norm, accumulate
        See :class:`shoal.training.TrainingOptions`; the paper names none of them.
    trainable_layers : "all" or int, default=2
        Train everything, as the paper does, or the last so many layers. What is below is computed once for the texts
        as they are, and at every step for their masked forms.
    evaluate_every : int, optional
        Steps between two looks at the corpus; by default once an epoch.
    tolerance : float or None
        Stop when less than this share of the labels moved between two looks.
    checkpoint_every, device, precision
        See :class:`shoal.training.TrainingOptions`.
    log_to : {"tensorboard", "tensorboard:FOLDER", "mlflow"}, optional
        Where else the history goes.
    random_state : int, RandomState or None, default=0
        Seed.

    Attributes
    ----------
    encoder_ : TransformerEncoder
        The encoder after training; the masked-language-model head is not kept.
    outcome_ : dict
        Label-free signs before and after, and whether and why the training was rolled back.

    References
    ----------
    Huang et al. (2020), *Unsupervised Fine-tuning for Text Clustering*, COLING.

    Examples
    --------
    >>> from shoal.methods.mlm_dec import MLMDEC
    >>> texts = ["red apple", "green apple", "ripe apple", "fast car", "slow car", "new car"]
    >>> model = MLMDEC(n_clusters=2, max_steps=1, trainable_layers=1).fit(texts)
    >>> bool((model.predict(texts) == model.labels_).all())
    True
    """

    _tokens: TokenisedTexts

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        backbone: str = "builtin",
        pooling: str = "mean",
        max_length: int = 64,
        normalize: bool = True,
        scale: float = 6.0,
        alpha: float = 1.0,
        masked_lm: float = 1 / 16,
        mask_share: float = 0.1,
        warm_up_epochs: int = 1,
        n_init: int = 10,
        batch_size: int = 64,
        epochs: int = 2,
        max_steps: int | None = None,
        learning_rate: float = 2e-5,
        head_learning_rate: float = 5e-4,
        optimizer: str = "adam",
        weight_decay: float = 0.0,
        schedule: str = "constant",
        warmup_steps: int = 0,
        clip_norm: float | None = None,
        accumulate: int = 1,
        trainable_layers: str | int = 2,
        evaluate_every: int | None = None,
        tolerance: float | None = 0.005,
        checkpoint_every: int = 25,
        device: str = "auto",
        precision: str = "auto",
        log_to: str | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.backbone = backbone
        self.pooling = pooling
        self.max_length = max_length
        self.normalize = normalize
        self.scale = scale
        self.alpha = alpha
        self.masked_lm = masked_lm
        self.mask_share = mask_share
        self.warm_up_epochs = warm_up_epochs
        self.n_init = n_init
        self.batch_size = batch_size
        self.epochs = epochs
        self.max_steps = max_steps
        self.learning_rate = learning_rate
        self.head_learning_rate = head_learning_rate
        self.optimizer = optimizer
        self.weight_decay = weight_decay
        self.schedule = schedule
        self.warmup_steps = warmup_steps
        self.clip_norm = clip_norm
        self.accumulate = accumulate
        self.trainable_layers = trainable_layers
        self.evaluate_every = evaluate_every
        self.tolerance = tolerance
        self.checkpoint_every = checkpoint_every
        self.device = device
        self.precision = precision
        self.log_to = log_to
        self.random_state = random_state

    def _views(self, texts: list[str], seed: int) -> CorpusViews:
        self._tokens = self.encoder_.tokenise(texts)
        return CorpusViews.repeated(self._tokens, 1)

    def _stages(self, encoder: nn.Module) -> list[Stage]:
        masking = Masking.of(self.encoder_.tokenizer, self.mask_share) if self.mask_share else None
        head = load_masked_head(self.backbone) if self.masked_lm else None
        stages = []
        if self.masked_lm and masking is not None and head is None:
            maskable = self._tokens.ids[~np.isin(self._tokens.ids, masking.special_ids)]
            head = new_masked_head(self.encoder_.dimension, self.encoder_.words, maskable)
            if self.warm_up_epochs:  # the encoder does not move, so there is nothing to watch
                warm_up = HeadWarmUp(encoder, masking, head)
                stages.append(Stage(WARM_UP, warm_up, epochs=self.warm_up_epochs, watched=False))
        joint = MLMDECObjective(
            encoder,
            masking,
            head,
            masked_lm=self.masked_lm,
            n_texts=len(self._tokens),
            n_clusters=self.n_clusters,
            dimension=self.encoder_.dimension,
            alpha=self.alpha,
            scale=self.scale,
            n_init=self.n_init,
        )
        del self._tokens  # the run has it now
        return [*stages, Stage(JOINT, joint, refresh_every="epoch")]

    def _final_clusterer(
        self, stages: Sequence[Stage], vectors: Vectors, rng: np.random.RandomState | None
    ) -> Clusterer:
        return cast(MLMDECObjective, stages[-1].objective).clusterer()

    def _check_parameters(self) -> None:
        params = self.get_params(deep=False)
        check_positive(params, {"alpha": 1, "scale": 6})
        check_counts(params, ["n_init"])
        check_counts(params, ["warm_up_epochs"], least=0)
        check_not_negative(params, ["masked_lm"])
        share: Any = self.mask_share
        if isinstance(share, str | None) or not 0 <= share < 1:
            raise ParameterError(f"mask_share={share!r} but it is a share of tokens; pass a value from 0 to below 1.")
        if self.masked_lm and not share:
            raise ParameterError("mask_share=0 leaves nothing to guess; pass mask_share > 0, or masked_lm=0.")
