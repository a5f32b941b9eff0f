"""A convolutional sentence encoder over word vectors, with dynamic k-max pooling (Kalchbrenner et al. 2014)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from shoal.text.words import split_words
from shoal.vectors import Vectors, unit_rows

_WORDS, _ARRAYS = "words.json", "convolution.safetensors"
ROWS_PER_BLOCK = 1024


class WordRows:
    """Texts as rows of word numbers, in the order of the words; 0 pads.

    Parameters
    ----------
    words : sequence of str
        The known words, in lower case; the first has number 1. Others are skipped.
    max_length : int
        Words read per text.

    Examples
    --------
    >>> WordRows(["fish", "red"], 3).rows(["A red fish!", "blue"]).tolist()
    [[2.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """

    def __init__(self, words: Sequence[str], max_length: int) -> None:
        self.words = list(words)
        self.max_length = max_length
        self._numbers = {word: number for number, word in enumerate(self.words, start=1)}

    def rows(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), max_length), as float32, which holds numbers of words exactly."""
        found = np.zeros((len(texts), self.max_length), dtype=np.float32)
        for row, text in zip(found, texts, strict=True):
            known = [
                self._numbers[word.text.lower()] for word in split_words(text) if word.text.lower() in self._numbers
            ]
            kept = known[: self.max_length]
            row[: len(kept)] = kept
        return found


class WordConvolution(nn.Module):
    """Word vectors, two layers of convolution, folding and k-max pooling, one flat vector.

    A layer convolves each coordinate of the words on its own (wide, so that every word meets every weight), adds pairs
    of coordinates (folding), and keeps the largest values of each map, in their order: k_top at the end, and before it
    as many as halve the length of the text. What is kept depends on the text's own length, not on its padding.

    Parameters
    ----------
    vectors : ndarray of shape (n_words, d)
        Word vectors to start from; d is padded with zeros to a multiple of four, for two foldings.
    maps : pair of int
        Feature maps of the two layers.
    width : int
        Words that a convolution spans.
    k_top : int
        Values that the last pooling keeps of each map.
    """

    def __init__(
        self, vectors: NDArray[np.floating], maps: tuple[int, int] = (12, 8), width: int = 3, k_top: int = 5
    ) -> None:
        super().__init__()
        rows, columns = len(vectors) + 1, int(-(-vectors.shape[1] // 4) * 4)
        table = torch.zeros(rows, columns)
        table[1:, : vectors.shape[1]] = torch.from_numpy(np.asarray(vectors, dtype=np.float32))
        self.words = nn.Embedding(rows, columns, padding_idx=0, _weight=table)
        self.maps, self.width, self.k_top, self.columns = maps, width, k_top, columns
        half = columns // 2
        self.first = nn.Conv1d(columns, columns * maps[0], width, padding=width - 1, groups=columns)
        self.second = nn.Conv1d(half * maps[0], half * maps[1], width, padding=width - 1, groups=half)

    @property
    def dimension(self) -> int:
        """Length of the vector of a text."""
        return self.columns // 4 * self.maps[1] * self.k_top

    def forward(self, rows: Tensor) -> Tensor:
        """Return the vectors of rows of word numbers, (m, dimension)."""
        numbers = rows.long()
        lengths = (numbers > 0).sum(dim=1)
        numbers = numbers[:, : max(int(lengths.max()), 1)]
        x = self.words(numbers).transpose(1, 2)
        # the first of two layers keeps half of a text, and at least k_top
        keep = torch.clamp((lengths + 1) // 2, min=self.k_top)
        x = torch.tanh(k_max(_fold(self.first(x), self.maps[0]), lengths + self.width - 1, keep))
        x = k_max(_fold(self.second(x), self.maps[1]), keep + self.width - 1, torch.full_like(keep, self.k_top))
        return torch.tanh(x).flatten(1)

    def encode(self, rows: Vectors) -> Vectors:
        """Return unit vectors of rows of word numbers; a row's vector does not depend on the other rows."""
        self.eval()
        with torch.inference_mode():
            blocks = [
                self(torch.from_numpy(rows[first : first + ROWS_PER_BLOCK]).to(self.words.weight.device)).cpu().numpy()
                for first in range(0, len(rows), ROWS_PER_BLOCK)
            ]
        return unit_rows(np.concatenate(blocks))

    def save(self, folder: Path, words: WordRows) -> None:
        """Write the words and the weights into ``folder``."""
        content = {"words": words.words, "max_length": words.max_length, "maps": self.maps}
        content |= {"width": self.width, "k_top": self.k_top}
        (folder / _WORDS).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        save_file({name: value.cpu().contiguous() for name, value in self.state_dict().items()}, folder / _ARRAYS)

    @classmethod
    def load(cls, folder: Path) -> tuple[WordConvolution, WordRows]:
        """Read what :meth:`save` wrote."""
        content = json.loads((folder / _WORDS).read_text(encoding="utf-8"))
        weights = load_file(folder / _ARRAYS)
        words = WordRows(content["words"], content["max_length"])
        shape = (len(words.words), weights["words.weight"].shape[1])
        network = cls(np.zeros(shape), tuple(content["maps"]), content["width"], content["k_top"])
        network.load_state_dict(weights)
        return network, words


def _fold(x: Tensor, n_maps: int) -> Tensor:
    """Add the two halves of the coordinates, (m, d · maps, n) to (m, d/2 · maps, n)."""
    half = x.shape[1] // n_maps // 2 * n_maps
    return x[:, :half] + x[:, half:]


def k_max(x: Tensor, lengths: Tensor, keep: Tensor) -> Tensor:
    """Keep the largest values of each map in their order; as many as ``keep`` says, per text.

    Parameters
    ----------
    x : Tensor of shape (m, c, n)
        The maps.
    lengths : Tensor of shape (m,)
        Valid positions of each text; the others are padding.
    keep : Tensor of shape (m,)
        How many values to keep.

    Returns
    -------
    Tensor of shape (m, c, max(keep))
        Zeros where a text keeps fewer, or has fewer.

    Examples
    --------
    >>> k_max(torch.tensor([[[3.0, 1.0, 2.0, 9.0]]]), torch.tensor([3]), torch.tensor([2])).tolist()
    [[[3.0, 2.0]]]
    """
    n, most = x.shape[2], int(keep.max())
    place = torch.arange(n, device=x.device)
    valid = (place < lengths[:, None])[:, None]
    largest = x.masked_fill(~valid, -torch.inf).topk(min(most, n), dim=2).indices
    rank = torch.arange(largest.shape[2], device=x.device)
    wanted = (rank < torch.minimum(keep, lengths)[:, None])[:, None]
    order = torch.where(wanted, largest, n).sort(dim=2).values  # position n is a zero behind the end
    kept = nn.functional.pad(x, (0, 1)).gather(2, order)
    return nn.functional.pad(kept, (0, most - kept.shape[2]))
