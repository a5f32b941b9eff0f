"""Pages: whatever a text holds, it arrives as text."""

from __future__ import annotations

from shoal_bench.report.page import Note, Strong, bullets, command, inline, section, table

NASTY = "a|b <script>alert(1)</script> *x* _y_ [z](u) & `c|<d>` \\ # $e$ ~f~"


def test_markdown_signs_are_escaped_outside_code():
    assert inline(NASTY) == (
        "a\\|b \\<script\\>alert(1)\\</script\\> \\*x\\* \\_y\\_ \\[z\\](u) &amp; `c\\|<d>` \\\\ \\# \\$e\\$ \\~f\\~"
    )


def test_an_underscore_in_a_word_and_a_lonely_backtick_stay_readable():
    assert inline("googlenews_ts") == "googlenews_ts"
    assert inline("a ` b") == "a \\` b"


def test_a_cell_cannot_break_its_table():
    shown = table(["one", "two"], [["a\nb|c", Note("not run")], ["", Strong("1.0")]])
    assert shown == "| one | two |\n|---|---:|\n| a b\\|c | *not run* |\n|  | **1.0** |"


def test_the_other_blocks():
    blocks = bullets(["a", "*b*"]), command("shoal-bench")
    assert section(3, "H|", *blocks) == ["### H\\|", "- a\n- \\*b\\*", "```sh\nshoal-bench\n```"]


def test_nothing_has_no_heading():
    assert section(3, "H", bullets([]), table(["one"], [])) == []
    assert inline(Note(" ")) == ""
