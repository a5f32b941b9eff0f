"""No text becomes markup."""

from __future__ import annotations

from shoal.report.markup import Markup, element, join, shortened


def test_children_and_attributes_are_escaped():
    assert element("p", "<script>x</script>", title='"><b>') == (
        '<p title="&quot;&gt;&lt;b&gt;">&lt;script&gt;x&lt;/script&gt;</p>'
    )


def test_markup_is_kept_and_none_omitted():
    assert join("a", None, [Markup("<b>"), "&"]) == "a<b>&amp;"
    assert element("input", disabled=True, value=None, hidden=False) == "<input disabled>"


def test_control_characters_are_shown_and_direction_marks_removed():
    assert join("\x00\x07a\u202eb\x7f") == "␀␇ab␡"


def test_a_long_text_is_cut():
    assert shortened("word " * 1_000_000, 12) == "word word w…"
    assert shortened("short", 12) == "short"
