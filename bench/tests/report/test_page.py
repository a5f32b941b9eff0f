"""Pages: whatever a text holds, it arrives as text."""

from __future__ import annotations

from shoal_bench.report.page import (
    Bullets,
    Command,
    Heading,
    Note,
    Paragraph,
    Picture,
    Strong,
    Table,
    to_markdown,
)

NASTY = "a|b <script>alert(1)</script> *x* _y_ [z](u) & `c|<d>` \\ # $e$ ~f~"


def test_markdown_signs_are_escaped_outside_code():
    line = to_markdown([Paragraph(NASTY)])
    assert line == (
        "a\\|b \\<script\\>alert(1)\\</script\\> \\*x\\* \\_y\\_ \\[z\\](u) &amp; `c\\|<d>` \\\\ \\# \\$e\\$ \\~f\\~\n"
    )


def test_an_underscore_in_a_word_and_a_lonely_backtick_stay_readable():
    assert to_markdown([Paragraph("googlenews_ts")]) == "googlenews_ts\n"
    assert to_markdown([Paragraph("a ` b")]) == "a \\` b\n"


def test_a_cell_cannot_break_its_table():
    table = Table(["one", "two"], [["a\nb|c", Note("not run")], ["", Strong("1.0")]])
    assert to_markdown([table]) == "| one | two |\n|---|---:|\n| a b\\|c | *not run* |\n|  | **1.0** |\n"


def test_the_other_blocks_in_markdown():
    blocks = [Heading(3, "H"), Bullets(["a", "b"]), Command("shoal-bench"), Picture("p/x.png", "T", "says *it*")]
    assert to_markdown(blocks) == ("### H\n\n- a\n- b\n\n```sh\nshoal-bench\n```\n\n![T](p/x.png)\n\n*says \\*it\\**\n")
