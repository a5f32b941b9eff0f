"""The workers of a training run: one leads, the others repeat what it says.

The lead runs the loop, evaluates, calls back and writes checkpoints. What takes time, encoding the corpus and the
steps, all workers do together (:meth:`Team.run`): each computes some groups of texts, all of them get every vector and
compute the same loss over the whole batch, and the gradients are averaged. In-batch negatives, target distributions and
topic models are therefore those of one process, and so is the result, up to the order in which numbers are summed.
"""

from __future__ import annotations

import math
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

import torch
from torch import Tensor, distributed, nn

from shoal.encoder.shared_work import Share, shared
from shoal.encoder.tokens import TOKENS_PER_GROUP
from shoal.engine.local import Crew
from shoal.errors import EngineError, ParameterError
from shoal.progress import announce
from shoal.training.batch import CorpusViews, VectorCorpus
from shoal.training.options import TrainingOptions
from shoal.training.randomness import seeded
from shoal.training.stage import Stage

# How long a worker waits for the others. The death of one is noticed at once, because its connections break; this is
# for the lead's own work meanwhile, such as k-means on very many texts.
PATIENCE = timedelta(hours=6)
NO_OTHER = Share(0, of=1)
Result = TypeVar("Result")


class Team:
    """One worker or several; the one with number 0 leads.

    Parameters
    ----------
    share : Share
        Which worker this one is, and of how many; by default there is no other.
    lost : callable
        Says which worker has ended, and how.
    """

    def __init__(self, share: Share = NO_OTHER, lost: Callable[[], str] = str) -> None:
        self.share = share
        self.lost = lost

    def run(self, method: Callable[..., Result], *args: Any) -> Result:
        """Call a method of the trainer on every worker, with the same random numbers; return what it returns here.

        Raises
        ------
        EngineError
            If a worker has ended.
        """
        seed = int(torch.randint(2**62, ()))
        with self._explained():
            self.send((method.__name__, args, seed))
            return self.perform(method, args, seed)

    def tell(self, method: Callable[..., None], *args: Any) -> None:
        """Call a method of the trainer on every worker but this one."""
        if self.share.of > 1:
            with self._explained():
                self.send((method.__name__, _on_cpu(args), None))

    def average_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Average the gradients over the workers, in place.

        A parameter that no worker has a gradient for keeps none: an optimiser treats that differently from zero.
        """
        if self.share.of == 1:
            return
        there = torch.tensor([float(each.grad is not None) for each in parameters], device=parameters[0].device)
        found = [torch.zeros_like(each) if each.grad is None else each.grad for each in parameters]
        joined = torch.cat([there, *(gradient.flatten() for gradient in found)])
        distributed.all_reduce(joined)
        joined /= self.share.of
        there, *averaged = torch.split(joined, [len(parameters), *(each.numel() for each in parameters)])
        for each, gradient, any_there in zip(parameters, averaged, there.tolist(), strict=True):
            each.grad = gradient.view_as(each) if any_there else None

    def send(self, order: Any) -> None:
        """Send something from the lead to all others."""
        if self.share.of > 1:
            distributed.broadcast_object_list([order], src=0)

    def receive(self) -> Any:
        """Receive what the lead sends."""
        order = [None]
        distributed.broadcast_object_list(order, src=0)
        return order[0]

    def perform(self, method: Callable[..., Result], args: Sequence[Any], seed: int) -> Result:
        """Do this worker's share of a method."""
        with seeded(seed), shared(self.share):
            return method(*args)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say which worker was lost instead of which connection."""
        try:
            yield
        except RuntimeError as reason:
            lost = self.lost()
            if not lost:
                raise
            raise EngineError(
                f"{lost}, and training cannot go on without it. What was learnt up to the last checkpoint is kept: "
                "continue with shoal fit --resume RUN, or in Python by the same fit with the same checkpoints=."
            ) from reason


@contextmanager
def team_of(
    crew: Crew, corpus: CorpusViews | VectorCorpus, options: TrainingOptions, stages: Sequence[Stage]
) -> Iterator[Team]:
    """Start the workers of a run and end them after it; small networks on vectors are trained by this process alone.

    Parameters
    ----------
    crew : Crew
        The processes of an engine.
    corpus, options, stages
        What the trainer of every worker needs.
    """
    if crew.size == 1 or isinstance(corpus, VectorCorpus):
        yield Team()
        return
    _check(crew.size, options)
    _tell_of_idle(crew.size, corpus, options, stages)
    n_threads = torch.get_num_threads()
    team = Team(Share(0, of=crew.size), crew.lost)
    try:
        _join(crew.start(follow), team.share)
        torch.set_num_threads(max(1, n_threads // crew.size))
        team.send((corpus, options, stages))
        yield team
    finally:
        torch.set_num_threads(n_threads)
        crew.end()
        if distributed.is_initialized():
            distributed.destroy_process_group()


def follow(address: str, number: int, size: int) -> None:
    """Be a worker: meet the lead, receive what there is to train, and do as it does until the process is ended."""
    from shoal.training.trainer import Trainer  # which has a team itself

    team = Team(Share(number, of=size))
    _join(address, team.share)
    corpus, options, stages = team.receive()
    trainer = Trainer(corpus, options, n_clusters=1, team=team)
    trainer.stages = stages
    while True:
        name, args, seed = team.receive()
        if seed is None:
            getattr(trainer, name)(*args)
        else:
            team.perform(getattr(trainer, name), args, seed)


def _join(address: str, share: Share) -> None:
    """Meet the other workers at an address."""
    if address.startswith("file:"):  # all on this machine: they talk where no other can listen
        names = [name for _, name in socket.if_nameindex() if name.startswith("lo")]
        os.environ.setdefault("GLOO_SOCKET_IFNAME", names[0] if names else "lo")
    backend = "gloo"
    if torch.cuda.is_available():
        torch.cuda.set_device(share.number % torch.cuda.device_count())
        backend = "cpu:gloo,cuda:nccl"
    distributed.init_process_group(
        backend, init_method=address, rank=share.number, world_size=share.of, timeout=PATIENCE
    )


def _check(size: int, options: TrainingOptions) -> None:
    """Reject devices and states of torch that do not work for several workers."""
    if options.resolve_device().type == "mps":
        raise ParameterError(f"workers={size} but an MPS device cannot be shared; omit workers, or pass device='cpu'.")
    if distributed.is_initialized():
        raise ParameterError(
            f"workers={size} but torch.distributed is in use already; omit workers, or end its process group first."
        )


def _tell_of_idle(size: int, corpus: CorpusViews, options: TrainingOptions, stages: Sequence[Stage]) -> None:
    """Say how many workers will have nothing to do, if a batch has fewer groups than there are workers."""
    n_views = max(len(stage.objective.views or corpus.starts) for stage in stages)
    sequences = n_views * min(options.batch_size, corpus.n_texts)
    n_groups = math.ceil(sequences * corpus.tokens.lengths.mean() / TOKENS_PER_GROUP)
    if n_groups < size:
        announce(
            f"batch_size={options.batch_size} makes about {n_groups} groups of {TOKENS_PER_GROUP} tokens: "
            f"{size - n_groups} of {size} workers will wait in every step. Pass fewer workers or a larger batch_size."
        )


def _on_cpu(node: Any) -> Any:
    """Bring the tensors of a tree to the CPU: the device of the same number may be another worker's."""
    if isinstance(node, Tensor):
        return node.cpu()
    if isinstance(node, dict):
        return {name: _on_cpu(child) for name, child in node.items()}
    return tuple(map(_on_cpu, node)) if isinstance(node, tuple) else node
