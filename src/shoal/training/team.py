"""The workers of a training run: one leads, the others repeat what it says.

The lead runs the loop, evaluates, calls back and writes checkpoints. What takes time, encoding the corpus and the
steps, all workers do together (:meth:`Team.run`): each computes some groups of texts, all of them get every vector and
compute the same loss over the whole batch, and the gradients are averaged. In-batch negatives, target distributions and
topic models are therefore those of one process, and so is the result, up to the order in which numbers are summed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor, distributed, nn

from shoal.encoder.shared_work import Share, shared
from shoal.errors import ParameterError, WorkerError
from shoal.training.options import TrainingOptions
from shoal.training.processes import LocalProcesses
from shoal.training.randomness import seeded

# How long a worker waits for the others. The death of one is noticed at once, because its connections break; this is
# for the lead's own work meanwhile, such as k-means on very many texts.
PATIENCE = timedelta(hours=6)
Result = TypeVar("Result")


class Alone:
    """One process: everything is done here, from one stream of random numbers."""

    def run(self, method: Callable[..., Result], *args: Any) -> Result:
        """Call a method of the trainer."""
        return method(*args)

    def tell(self, method: Callable[..., None], *args: Any) -> None:
        """Do nothing: there is nobody to tell."""

    def average_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Do nothing: the gradients are complete."""


class Crew(Protocol):
    """The other workers of a team, wherever they run: processes of this machine, or actors of a cluster."""

    size: int

    def start(self) -> str:
        """Start them; return where they wait for the lead, as ``torch.distributed`` writes addresses."""

    def lost(self) -> str:
        """Say which of them has ended, and how; an empty string if none has."""

    def end(self) -> None:
        """End those that still run."""


class Team:
    """Several workers; the one with number 0 leads.

    Parameters
    ----------
    share : Share
        Which worker this one is, and of how many.
    lost : callable
        Says which worker has ended, and how.
    """

    def __init__(self, share: Share, lost: Callable[[], str] = str) -> None:
        self.share = share
        self.lost = lost

    def run(self, method: Callable[..., Result], *args: Any) -> Result:
        """Call a method of the trainer on every worker, with the same random numbers; return what it returns here.

        Raises
        ------
        WorkerError
            If a worker has ended.
        """
        seed = int(torch.randint(2**62, ()))
        with self._explained():
            self.send((method.__name__, args, seed))
            return self._perform(method, args, seed)

    def tell(self, method: Callable[..., None], *args: Any) -> None:
        """Call a method of the trainer on every worker but this one."""
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
        there, *averaged = joined.div_(self.share.of).split([len(parameters), *(each.numel() for each in parameters)])
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

    def follow(self, trainer: Any) -> None:
        """Do what the lead does, or says, until the process is ended."""
        while True:
            name, args, seed = self.receive()
            if seed is None:
                getattr(trainer, name)(*args)
            else:
                self._perform(getattr(trainer, name), args, seed)

    def _perform(self, method: Callable[..., Result], args: Sequence[Any], seed: int) -> Result:
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
            raise WorkerError(
                f"{lost}, and training cannot go on without it. What was learnt up to the last checkpoint is kept: "
                "continue with shoal fit --resume RUN, or in Python by the same fit with the same checkpoints=."
            ) from reason


@contextmanager
def team_of(
    workers: int | Crew | None, corpus: Any, options: TrainingOptions, stages: Sequence[Any]
) -> Iterator[Alone | Team]:
    """Start the workers of a run and end them after it.

    Parameters
    ----------
    workers : int, Crew or None
        How many, with this process, which leads; or the others; None for this process alone, as ever. One worker
        draws random numbers as several do.
    corpus, options, stages
        What the trainer of every worker needs.
    """
    if workers is None or workers == 1:
        yield Alone() if workers is None else Team(Share(0, of=1))
        return
    _check(workers, options)
    crew = LocalProcesses(workers, max(1, torch.get_num_threads() // workers)) if isinstance(workers, int) else workers
    n_threads = torch.get_num_threads()
    try:
        team = Team(Share(0, of=crew.size), crew.lost)
        join(crew.start(), team.share)
        team.send((corpus, options, stages))
        if isinstance(crew, LocalProcesses):
            torch.set_num_threads(crew.n_threads)
        yield team
    finally:
        torch.set_num_threads(n_threads)
        crew.end()
        if distributed.is_initialized():
            distributed.destroy_process_group()


def join(address: str, share: Share) -> None:
    """Meet the other workers at an address."""
    backend = "gloo"
    if torch.cuda.is_available():
        torch.cuda.set_device(share.number % torch.cuda.device_count())
        backend = "cpu:gloo,cuda:nccl"
    distributed.init_process_group(
        backend, init_method=address, rank=share.number, world_size=share.of, timeout=PATIENCE
    )


def _check(workers: int | Crew, options: TrainingOptions) -> None:
    """Reject numbers of workers, devices and states of torch that do not work."""
    if isinstance(workers, int) and workers < 1:
        raise ParameterError(f"workers={workers} but there must be at least one; pass an int >= 1.")
    kind = options.resolve_device().type
    n_devices = torch.cuda.device_count()
    if kind == "mps" or (kind == "cuda" and isinstance(workers, int) and workers > n_devices):
        there = f"{n_devices} CUDA devices" if kind == "cuda" else "an MPS device, which cannot be shared"
        raise ParameterError(f"workers={workers} but this machine has {there}; pass fewer, or device='cpu'.")
    if distributed.is_initialized():
        raise ParameterError(
            "workers was given but torch.distributed is in use already; omit workers, or end its process group first."
        )


def _on_cpu(node: Any) -> Any:
    """Bring the tensors of a tree to the CPU: the device of the same number may be another worker's."""
    if isinstance(node, Tensor):
        return node.cpu()
    if isinstance(node, dict):
        return {name: _on_cpu(child) for name, child in node.items()}
    return tuple(map(_on_cpu, node)) if isinstance(node, tuple) else node
