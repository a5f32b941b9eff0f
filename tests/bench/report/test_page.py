"""Pages: whatever a text holds, it arrives as text."""

from __future__ import annotations

import base64

from shoal.bench.report.page import (
    Bullets,
    Command,
    Heading,
    Note,
    Paragraph,
    Picture,
    Strong,
    Table,
    to_html,
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
    blocks = [Heading(3, "H"), Bullets(["a", "b"]), Command("shoal bench"), Picture("p/x.png", "T", "says *it*")]
    assert to_markdown(blocks) == ("### H\n\n- a\n- b\n\n```sh\nshoal bench\n```\n\n![T](p/x.png)\n\n*says \\*it\\**\n")


def test_html_escapes_everything_and_needs_nothing_beside_it(tmp_path):
    (tmp_path / "x.png").write_bytes(b"picture")
    cells = [[NASTY, Strong("<1>")]]
    blocks = [Heading(1, NASTY), Heading(2, "A <b>"), Paragraph(NASTY), Bullets([NASTY]), Command("a < b")]
    page = to_html([*blocks, Table([NASTY, "n"], cells), Picture("x.png", '"><script>', "<i>")], tmp_path)
    assert "<script>" not in page
    assert "<i>" not in page
    assert "<strong>&lt;1&gt;</strong>" in page
    assert "<code>c|&lt;d&gt;</code>" in page
    assert "<pre><code>a &lt; b</code></pre>" in page
    assert '<a href="#a-b">' in page
    assert '<h2 id="a-b">' in page
    assert f"data:image/png;base64,{base64.b64encode(b'picture').decode()}" in page
    assert "http" not in page
    assert "prefers-color-scheme: dark" in page


def test_html_tells_names_from_figures():
    page = to_html([Table(["m", "", "x"], [["a", "published", "1.0"], ["", "ours", "2.0"]], n_names=2)], None)
    assert '<tr class=first><td class="name">a</td><td class="name">published</td><td class="figure">1.0</td>' in page
    assert '<tr><td class="name"></td><td class="name">ours</td>' in page
