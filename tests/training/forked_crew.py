"""Workers that are forked from a process which has imported everything: a moment each instead of seconds."""

from __future__ import annotations

import multiprocessing
import tempfile
from pathlib import Path

import torch

from shoal.engine.local import LocalEngine

IMPORTS = [
    "training.forked_crew",
    "shoal.training.trainer",
    "shoal.methods.fine_tuned",
    "shoal.methods.objectives.deccrl",
    "transformers.models.bert.modeling_bert",
    "transformers.tokenization_utils_fast",
]


class ForkedEngine(LocalEngine):
    """An engine whose workers start at once."""

    def crew(self):
        return ForkedCrew(self.n_workers)


class ForkedCrew:
    def __init__(self, size):
        self.size = size

    def start(self, work):
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(IMPORTS)
        self.folder = tempfile.TemporaryDirectory()
        address = (Path(self.folder.name) / "meeting").as_uri()
        self.processes = [
            context.Process(target=on_one_thread, args=(work, address, number, self.size), daemon=True)
            for number in range(1, self.size)
        ]
        for process in self.processes:
            process.start()
        return address

    def lost(self):
        return ""

    def end(self):
        for process in self.processes:
            process.kill()
            process.join()
        self.folder.cleanup()


def on_one_thread(work, *args):
    torch.set_num_threads(1)
    work(*args)
