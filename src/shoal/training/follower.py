"""A worker that follows the lead of a training run: ``python -m shoal.training.follower ADDRESS NUMBER SIZE``."""

from __future__ import annotations

import os
import sys
import threading

from shoal.encoder.shared_work import Share
from shoal.training.processes import READY
from shoal.training.team import Team, join
from shoal.training.trainer import Trainer


def follow(address: str, share: Share) -> None:
    """Meet the lead at an address, receive what there is to train, and do as it does until the process is ended."""
    join(address, share)
    team = Team(share)
    corpus, options, stages = team.receive()
    trainer = Trainer(corpus, options, n_clusters=1, team=team)
    trainer.stages = stages
    team.follow(trainer)


def _end_with_the_lead() -> None:
    """Wait for the end of standard input, which comes when the lead closes it or dies; end the process at once."""
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=_end_with_the_lead, daemon=True).start()
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    follow(sys.argv[1], Share(int(sys.argv[2]), of=int(sys.argv[3])))
