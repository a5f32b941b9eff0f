"""``shoal augment``: two views of every row, and nothing lost."""

from __future__ import annotations

import polars as pl

from tiny_backbone import tiny_backbone


def test_every_row_comes_back_with_two_views(shoal, tickets, tmp_path):
    out = tmp_path / "pairs.csv"
    answer = shoal("augment", tickets, "--text", "body", "--augmenter", "word_deletion:0.3", "--out", out, "--json")
    table, source = pl.read_csv(out), pl.read_csv(tickets)
    assert answer.code == 0
    assert table.columns == [*source.columns, "left", "right"]
    assert table["body"].to_list() == source["body"].to_list()
    assert answer.json["n_texts"] == len(table)
    assert answer.json["unchanged_left"] == (table["left"] == table["body"]).sum() < len(table)
    assert (table["left"] != table["right"]).any()


def test_the_seed_decides(shoal, tickets):
    def pairs(seed):
        return shoal("augment", tickets, "--text", "body", "--augmenter", "char_swap", "--seed", seed).out

    assert pairs(1) == pairs(1) != pairs(2)


def test_neighbours_are_judged_by_an_encoder(shoal, tickets, tmp_path):
    folder = tiny_backbone(tmp_path / "backbone")
    answer = shoal("augment", tickets, "--text", "body", "--augmenter", "neighbour:0.3+char_swap", "--backbone", folder)
    assert answer.code == 0, answer.err
    assert "unchanged" in answer.err


def test_mistakes_are_sentences(shoal, tickets, tmp_path):
    unknown = shoal("augment", tickets, "--text", "body", "--augmenter", "thesaurus")
    assert (unknown.code, "augmenter 'thesaurus' is unknown; pass one of" in unknown.err) == (4, True)
    taken = tmp_path / "taken.csv"
    taken.write_text("left\na text\n")
    assert shoal("augment", taken, "--augmenter", "char_swap").code == 3
    assert shoal("augment", tickets, "--text", "body", "--augmenter", "char_swap", "--out", taken).code == 3
