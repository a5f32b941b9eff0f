"""The page of a run in a browser: it shows what it says, and does what its controls say."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from report.conftest import fit
from shoal.report import Contents, make_report
from shoal.run_folder import RunFolder

pytestmark = pytest.mark.slow


def states(page) -> np.ndarray:
    """Return how each point is drawn: 0 dim, 1 plain, 2 lit."""
    return np.array(page.evaluate("Array.from(document.getElementById('map').textMap.state)"))


def clusters_of(page) -> np.ndarray:
    return np.array(page.evaluate("Array.from(document.getElementById('map').textMap.points.cluster)"))


def place_of(page, i: int) -> tuple[float, float]:
    """Return where a point is on the page."""
    return page.evaluate("i => document.getElementById('map').textMap.pageOf(i)", i)


@pytest.fixture
def page(opened, run):
    return opened(run / "report.html")


def test_the_page_opens_with_every_text_on_the_map(page):
    assert page.title() == "table.parquet: clusters"
    assert (states(page) == 1).all()
    assert len(states(page)) == 119
    assert page.locator(".card").count() == 3
    assert page.evaluate("document.getElementById('map').textMap.drawn.length") == 3  # the names


def test_search_lights_what_it_finds(page):
    page.get_by_placeholder("Search the texts").fill("GUITAR")
    page.wait_for_selector("#found:not([hidden])")
    found = int(re.match(r"(\d+) texts", page.locator("#found h3").inner_text())[1])
    assert found == (states(page) == 2).sum() > 0
    texts = page.locator("#found .texts p").all_inner_texts()
    assert all("guitar" in text for text in texts)
    page.locator("#clear").click()
    assert (states(page) == 1).all()


def test_a_click_on_a_point_isolates_its_cluster_and_escape_shows_all(page):
    point = 0
    own = clusters_of(page)[point]
    page.mouse.click(*place_of(page, point))
    assert ((states(page) == 1) == (clusters_of(page) == own)).all()
    assert page.locator(f'#clusters button[data-cluster="{own}"]').get_attribute("aria-pressed") == "true"
    page.keyboard.press("Escape")
    assert (states(page) == 1).all()


def test_a_click_in_the_list_and_on_a_card_isolate_too(page):
    page.locator('#clusters button[data-cluster="1"]').click()
    assert ((states(page) == 1) == (clusters_of(page) == 1)).all()
    page.locator('[data-isolate="2"]').click()
    assert ((states(page) == 1) == (clusters_of(page) == 2)).all()


def test_the_slider_dims_what_is_less_sure_and_counts_the_rest(opened, contents, tmp_path):
    confidence = np.where(contents.labels >= 0, np.linspace(0.2, 0.99, len(contents.labels)), 0.0)
    page = opened(make_report(replace(contents, confidence=confidence)).save(tmp_path / "page.html"))
    slide = "slider => { slider.value = 60; slider.dispatchEvent(new Event('input')) }"
    page.locator("#least").evaluate(slide)
    sure = int((confidence >= 0.6).sum())
    assert 0 < sure < 119
    assert page.locator("#least-said").inner_text() == f"0.60 or more: {sure} of 119 texts"
    assert (states(page) == 1).sum() == sure


def test_the_lasso_counts(page):
    page.locator("#lasso").click()
    box = page.locator("#map").bounding_box()
    left, top, right, bottom = box["x"] + 5, box["y"] + 5, box["x"] + box["width"] / 2, box["y"] + box["height"] - 5
    page.mouse.move(left, top)
    page.mouse.down()
    for corner in ((right, top), (right, bottom), (left, bottom)):
        page.mouse.move(*corner, steps=4)
    page.mouse.up()
    places = np.array([place_of(page, i) for i in range(119)])
    inside = (places[:, 0] < right).sum()
    assert page.locator("#found h3").inner_text() == f"{inside} texts in the lasso"
    assert (states(page) == 2).sum() == inside


def test_hover_shows_the_text(page):
    page.mouse.move(*place_of(page, 7))
    shown = page.locator("#tip p").first.inner_text()
    assert shown in page.evaluate("JSON.parse(document.getElementById('data').textContent).map.texts")
    assert "confidence" in page.locator("#tip").inner_text()


def test_zoom_by_button_key_and_wheel(page):
    zoom = "document.getElementById('map').textMap.zoom"
    page.locator("#zoom-in").click()
    assert page.evaluate(zoom) == pytest.approx(1.6)
    page.locator("#map").focus()
    page.keyboard.press("0")
    assert page.evaluate(zoom) == 1
    page.keyboard.press("+")
    assert page.evaluate(zoom) == pytest.approx(1.4)
    box = page.locator("#map").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.wheel(0, -200)
    for _ in range(100):  # the policy forbids the eval that waiting for a function needs
        if page.evaluate(zoom) > 1.5:
            break
        page.wait_for_timeout(50)
    assert page.evaluate(zoom) > 1.5


def test_cards_are_sorted_and_filtered(page):
    page.locator("#sort").select_option("name")
    names = page.locator(".card h3").all_inner_texts()
    assert names == sorted(names, key=str.casefold)
    page.locator("#filter").fill("guitar")
    assert 0 < page.locator(".card:visible").count() <= 3
    page.locator("#filter").fill("no such word")
    assert page.locator(".card:visible").count() == 0
    assert page.locator("#cards-said").inner_text() == "0 of 3 clusters"


def test_both_themes(opened, run):
    page = opened(run / "report.html", color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.locator("#theme").click()
    assert page.evaluate(ground) != dark
    assert page.locator("#theme").inner_text() == "Dark"


def test_a_phone_needs_no_sideways_scrolling(opened, run):
    page = opened(run / "report.html", viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    x, y = place_of(page, 0)
    page.touchscreen.tap(x, y)
    assert (states(page) == 1).sum() < 119


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_no_serious_fault_for_those_who_do_not_see_or_point(opened, run, scheme, width):
    from axe_playwright_python.sync_playwright import Axe

    page = opened(run / "report.html", color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true })")
    page.locator("#clusters button").first.click()
    found = Axe().run(page).response["violations"]
    serious = [fault["id"] for fault in found if fault["impact"] in ("serious", "critical")]
    assert serious == [], [node["html"] for fault in found for node in fault["nodes"]]


def test_without_scripts_the_clusters_are_there(opened, run):
    page = opened(run / "report.html", java_script_enabled=False)
    assert page.locator(".card").count() == 3


def test_print_opens_what_is_closed_and_is_light(opened, run):
    page = opened(run / "report.html", color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator(".controls").first.is_visible()


HOSTILE = [
    "<script>document.title = 'owned'</script>",
    "</script><script>document.title = 'owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "<!-- --><style>body { display: none }</style>",
    "{title} {data} {script} ${policy}",
    "&lt;b&gt; &amp; \"quoted\" 'single'",
    "nul \x00 bell \x07 escape \x1b[31m delete \x7f",
    "\u202eright to left override\u202c and after",
    "مرحبا بالعالم هذا نص عربي",
    "שלום עולם טקסט בעברית",
    "👩\u200d👩\u200d👧 emoji 🎉🎉🎉 party 🏳️\u200d🌈",
    "line\u2028separator\u2029paragraph",
    "zero\u200bwidth\ufeff",
    "\\u003cscript\\u003e \\",
    "]]> <![CDATA[ x ]]>",
    "javascript:alert(1)",
]


def test_a_hostile_corpus_is_shown_and_not_run(opened, tmp_path):
    texts = HOSTILE * 6 + ["x" * 10_000_000]
    run = fit(pl.DataFrame({"body": texts, "topic": (HOSTILE * 7)[: len(texts)]}), tmp_path, params={"n_clusters": 5})
    size = (run / "report.html").stat().st_size
    assert size < 2_000_000
    page = opened(run / "report.html")
    assert page.title() == "table.parquet: clusters"
    shown = page.evaluate("JSON.parse(document.getElementById('data').textContent).map.texts")
    assert "<script>document.title = 'owned'</script>" in shown
    assert "nul ␀ bell ␇ escape ␛[31m delete ␡" in shown
    page.get_by_placeholder("Search the texts").fill("<script>")
    page.wait_for_selector("#found:not([hidden])")
    assert page.locator("#found .texts p").first.inner_text().count("<script>") == 1
    for i in range(0, len(texts), 5):
        page.mouse.move(*place_of(page, i))
    assert page.title() == "table.parquet: clusters"
    assert page.locator("body").evaluate("body => getComputedStyle(body).display") == "block"


def test_the_policy_stops_what_would_get_in(opened, run, tmp_path):
    """Markup that should never be there, put there by hand: the browser refuses it."""
    html = (run / "report.html").read_text(encoding="utf-8")
    bad = '<script>document.title = "owned"</script><b style="color: red">x</b>'
    (tmp_path / "bad.html").write_text(html.replace("<main>", "<main>" + bad), encoding="utf-8")
    page = opened(tmp_path / "bad.html", refused=True)
    assert page.title() == "table.parquet: clusters"


def test_a_report_without_a_map(contents):
    bare = contents.with_places(np.full_like(contents.places, np.nan))
    html = make_report(bare).html
    assert 'id="map"' not in html
    assert html.count('class="card ') == 3


def test_the_same_run_gives_the_same_page(run):
    folder = RunFolder.open(run)
    assert (
        make_report(Contents.read(folder)).html == make_report(Contents.read(folder)).html == folder.report.read_text()
    )


def large(contents, n: int):
    """Return a run of ``n`` texts."""
    rng = np.random.default_rng(0)
    return replace(
        contents,
        texts=[f"text number {i} of a large corpus, as long as the title of a question is" for i in range(n)],
        labels=rng.integers(3, size=n),
        second=rng.integers(3, size=n),
        confidence=rng.random(n),
        places=rng.uniform(-1, 1, (n, 2)),
        classes=None,
    )


def test_twenty_thousand_texts_open_at_once(opened, tmp_path, contents):
    file = make_report(large(contents, 20_000)).save(tmp_path / "page.html")
    assert file.stat().st_size < 15_000_000
    page = opened(file)
    page.wait_for_timeout(300)
    assert page.evaluate("document.getElementById('map').textMap.firstDrawn") < 3_000


def test_a_large_map_stays_fluid(opened, tmp_path, contents):
    """A hundred thousand points are drawn in a fraction of a second, by this machine's processor alone."""
    page = opened(make_report(large(contents, 100_000)).save(tmp_path / "large.html"))
    took = page.evaluate(
        "(() => { const map = document.getElementById('map').textMap; map.draw(); const start = performance.now();"
        " for (let i = 0; i < 5; i++) map.draw(); return (performance.now() - start) / 5 })()"
    )
    assert took < 400
