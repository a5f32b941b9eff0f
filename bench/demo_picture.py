"""Draw the demo's clusters: ``python bench/demo_picture.py`` writes docs/pictures/demo.png.

The map is t-SNE on both views of the texts, for the eye only; the colours and names are the clustering's.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from sklearn.manifold import TSNE

from shoal import Shoal
from shoal.demo_texts import standard_library_texts

matplotlib.use("Agg")
from matplotlib import pyplot as plt

OUT = Path(__file__).parents[1] / "docs" / "pictures" / "demo.png"
INK, PAPER = "#22313f", "#fbfaf7"


def main() -> None:
    demo = standard_library_texts()
    texts = [text.text for text in demo]
    model = Shoal(len({text.module for text in demo})).fit(texts)
    places = TSNE(perplexity=30, metric="cosine", init="pca", random_state=0).fit_transform(model.transform(texts))
    colours = plt.get_cmap("tab20")(np.arange(model.n_clusters_) % 20)
    figure, axes = plt.subplots(figsize=(11, 6.4), dpi=110, facecolor=PAPER)
    axes.set_facecolor(PAPER)
    sure = 0.25 + 0.75 * model.probabilities_.max(axis=1)
    axes.scatter(*places.T, s=9, c=colours[model.labels_], alpha=sure, linewidths=0)
    for cluster in model.clusters_:
        middle = np.median(places[model.labels_ == cluster.id], axis=0)
        axes.annotate(
            cluster.name,
            middle,
            ha="center",
            va="center",
            fontsize=8.5,
            color=INK,
            weight="bold",
            bbox={"boxstyle": "round,pad=0.25", "fc": PAPER, "ec": colours[cluster.id], "alpha": 0.85},
        )
    axes.set_axis_off()
    title = f"{len(texts)} sentences of Python's standard library, {model.n_clusters_} groups, named by Shoal"
    axes.set_title(title, loc="left", color=INK, fontsize=12, weight="bold")
    figure.tight_layout()
    OUT.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(OUT)
    print(OUT)


if __name__ == "__main__":
    main()
