"""Encoding speed beside ``SentenceTransformer.encode``: same process, same weights, same threads, same texts.

    python benchmarks/encode.py                      # texts made on the spot
    SHOAL_DATA=folder python benchmarks/encode.py    # StackOverflow's titles and BBC's sentences, if they are there

Prints the ratio of their times (above 1: Shoal is faster) and the largest difference between their vectors.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time
from pathlib import Path

import numpy as np
import torch

from shoal import Corpus
from shoal.demo_texts import standard_library_texts
from shoal.encoder.backbone import builtin_folder
from shoal.encoder.transformer import TransformerEncoder

SETS = ("stackoverflow", "bbc_sentences")


def texts_to_encode(n: int) -> dict[str, list[str]]:
    folder = Path(os.environ.get("SHOAL_DATA", "../shared/data"))
    found = {
        name: Corpus.read(folder / f"{name}.tsv.gz", text="text").texts
        for name in SETS
        if (folder / f"{name}.tsv.gz").is_file()
    }
    found = found or {"docstrings": [text.text for text in standard_library_texts(None)]}
    return {name: random.Random(0).sample(texts, min(n, len(texts))) for name, texts in found.items()}


def timed(encode, texts: list[str], **options) -> tuple[float, np.ndarray]:
    started = time.perf_counter()
    vectors = encode(texts, **options)
    return time.perf_counter() - started, vectors


def main() -> None:
    from sentence_transformers import SentenceTransformer

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=2000, help="how many texts of each set")
    parser.add_argument("--repeats", type=int, default=3, help="how often each is timed, in turns")
    options = parser.parse_args()
    ours = TransformerEncoder.load("builtin", max_length=64)
    theirs = SentenceTransformer(str(builtin_folder()))
    theirs.max_seq_length = 64
    print(f"threads {torch.get_num_threads()}, {options.texts} texts of each set, {options.repeats} repeats in turns")
    for name, texts in texts_to_encode(options.texts).items():
        ours.encode(texts[:64]), theirs.encode(texts[:64], show_progress_bar=False)
        pairs = [
            (timed(ours.encode, texts), timed(theirs.encode, texts, show_progress_bar=False))
            for _ in range(options.repeats)
        ]
        ratio = statistics.median(reference / own for (own, _), (reference, _) in pairs)
        difference = np.abs(pairs[0][0][1] - pairs[0][1][1]).max()
        print(f"{name}: SentenceTransformer / Shoal = {ratio:.2f}   largest difference {difference:.1e}")


if __name__ == "__main__":
    main()
