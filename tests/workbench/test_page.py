"""The stories of the workbench in Chromium: one test each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from plackett.workbench.bench import Workbench
from plackett.workbench.sources.runs import RunsSource
from plackett.workbench.store import Store
from workbench.conftest import QUERIES, served

#: Seconds are plenty; the machine may be busy.
PATIENCE = 30_000


@pytest.fixture
def site(bench):
    with served(bench) as server:
        yield server


def ready(page, selector):
    page.wait_for_selector(selector, timeout=PATIENCE)
    return page.locator(selector)


def until(page, expression):
    """Wait until an expression is true; Playwright's own way needs eval, which the page's policy forbids."""
    for _ in range(PATIENCE // 50):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never true: {expression}")


def test_search_side_by_side_and_share_the_address(site, open_page, shot):
    page = open_page(site.url)
    ready(page, "#q").fill("whale near the ice")
    page.keyboard.press("Enter")
    results = ready(page, "li.result")
    assert page.locator(".column h2").all_inner_texts() == ["BM25", "RM3"]
    assert page.locator("li.result mark").count() > 0
    assert "in common, RBO" in page.locator(".overlap").inner_text()
    until(page, "document.querySelectorAll('.lines path').length > 3")
    # markup in documents is text
    assert page.locator("li.result .snippet b").count() == 0
    assert "<b>" in page.locator(".column >> nth=0").inner_text()
    shot(page, "search")
    # filters and a third ranker
    page.click(".options summary")
    page.fill("[name=add]", "Dirichlet")
    page.fill("[name=f]", "year:>=1980")
    page.keyboard.press("Enter")
    until(page, "document.querySelectorAll('.column').length === 3")
    years = [int(text.partition("year: ")[2][:4]) for text in page.locator("li.result .fields").all_text_contents()]
    assert min(years) >= 1980
    assert ready(open_page(f"{site.url}/?view=toString&q=whale"), "li.result").count() > 0
    # somebody else opens the address and sees the same
    other = open_page(page.url)
    ready(other, "li.result")
    assert other.locator(".column h2").all_inner_texts() == ["BM25", "RM3", "Dirichlet"]
    assert other.locator("li.result .title").all_text_contents() == page.locator("li.result .title").all_text_contents()
    page.go_back()
    until(page, "document.querySelectorAll('.column').length === 2")
    assert results.count() > 0


def test_search_with_one_thousand_results_loads_what_is_seen(site, open_page):
    page = open_page(f"{site.url}/?q=whale+shark+seal+near&k=1000&c=BM25")
    ready(page, "li.result")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    until(page, "document.querySelectorAll('li.result').length > 40")  # the next slice
    page.locator("li.result").last.scroll_into_view_if_needed()
    until(page, "![...document.querySelectorAll('li.result')].at(-1).classList.contains('bare')")
    assert "near" in page.locator("li.result").last.inner_text()


def test_long_lists_are_made_in_slices(tmp_path, open_page):
    source = RunsSource("long")
    for name, step in (("a", 1), ("b", 7)):
        lines = [f"q Q0 d{(step * i) % 1000} {i + 1} {1000 - i // 2} {name}\n" for i in range(1000)]
        (tmp_path / f"{name}.run").write_text("".join(lines))
        source.add(str(tmp_path / f"{name}.run"))
    with served(Workbench(source, Store())) as server:
        page = open_page(f"{server.url}/?qid=q&k=1000")
        ready(page, "li.result")
        page.wait_for_timeout(300)
        made = "document.querySelectorAll('li.result').length"
        assert page.locator(".column .note").first.inner_text().startswith("1,000 documents")
        assert page.evaluate(made) <= 200  # of 2,000: the rest would block the page while it is made
        assert page.evaluate("document.documentElement.scrollHeight") > 100_000  # there is room for it
        assert page.locator("li.result .tied").count() == page.evaluate(made)
        # keys reach what is not made yet
        for _ in range(page.evaluate("document.querySelectorAll('li.result[data-column=\"0\"]').length") + 3):
            page.keyboard.press("ArrowDown")
        until(page, "Number(document.activeElement.closest('li.result')?.dataset.rank) > 31")
        # and so does the scroll bar
        before = page.evaluate(made)
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        until(page, f"{made} > {before}")
        ranks = page.evaluate("[...document.querySelectorAll('[data-column=\"1\"].result')].map((e) => e.dataset.rank)")
        assert ranks == [str(i + 1) for i in range(len(ranks))]


def test_explain_one_document_and_a_pair(site, open_page, shot):
    page = open_page(f"{site.url}/?q=whale+ice")
    ready(page, "li.result")
    page.locator("li.result").first.get_by_text("Why?").click()
    ready(page, "dialog[open] table.contributions")
    assert "all:whale" in page.locator("dialog").inner_text()
    assert page.locator("dialog .bar").count() > 0
    page.keyboard.press("Escape")
    first, fourth = (page.locator(".column >> nth=0").locator("li.result").nth(i) for i in (0, 3))
    first.get_by_text("A/B").click()
    fourth.get_by_text("A/B").click()
    ready(page, "dialog[open] table.contributions")
    assert "is above" in page.locator("dialog h2").inner_text()
    shot(page, "explain")
    page.keyboard.press("Escape")
    page.locator("li.result button.title").first.click()
    assert "The " in ready(page, "dialog[open] dl.document").inner_text()


def test_query_set_is_imported_and_measured(site, open_page, shot):
    page = open_page(f"{site.url}/?view=queries")
    ready(page, ".chart rect")
    assert page.locator(".chart rect").count() == len(QUERIES)
    assert re.search(r"wins \d+ quer.* loses \d+", page.locator(".lead").inner_text())
    shot(page, "queries")
    page.get_by_text("Import a query set").click()
    page.get_by_label("Name").fill("mine")
    page.get_by_label("Queries", exact=True).fill("query,docid,grade\nseal reef,d01,2\notter shore,d02,1")
    page.get_by_role("button", name="Import", exact=True).click()
    until(page, "document.body.innerText.includes('2 judged queries of mine')")
    page.locator("tbody a", has_text="seal reef").click()
    ready(page, "li.result")
    assert page.locator("#q").input_value() == "seal reef"


def test_judge_with_the_keyboard_alone(site, open_page, shot):
    store = site.bench.store
    page = open_page(f"{site.url}/?view=judge")
    page.fill("#rater", "ann")
    page.keyboard.press("Tab")
    ready(page, '.judging li[aria-selected="true"]')
    page.wait_for_timeout(300)
    page.locator(".judging").focus()
    ids = page.evaluate("[...document.querySelectorAll('.judging .title')].map((e) => e.textContent)")
    for key in "213":
        before = len(store.judgements(rater="ann"))
        page.keyboard.press(key)
        until(page, f"[...document.querySelectorAll('.judging .grade:not(.none)')].length === {before + 1}")
        assert len(store.judgements(rater="ann")) == before + 1  # on disk when the page says so
    assert [one.grade for one in store.judgements(rater="ann")] == [2.0, 1.0, 3.0]
    page.keyboard.press("u")
    until(page, "document.querySelectorAll('.judging .grade:not(.none)').length === 2")
    assert len(store.judgements(rater="ann")) == 2
    page.keyboard.press("n")
    ready(page, "dialog[open] textarea").fill("which edition?")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("dialog", state="detached", timeout=PATIENCE)
    assert [one.note for one in store.judgements(rater="ann") if one.note] == ["which edition?"]
    page.keyboard.press("ArrowDown")
    selected = page.locator('.judging li[aria-selected="true"] .title').inner_text()
    assert selected == ids[3]
    page.keyboard.press("Enter")
    ready(page, "dialog[open] dl.document")
    page.keyboard.press("Escape")
    shot(page, "judge")
    query = page.locator("#asked").inner_text()
    page.keyboard.press("ArrowRight")
    until(page, f"document.querySelector('#asked')?.textContent !== {query!r}")


def test_document_is_graded_while_it_is_read(site, open_page):
    store = site.bench.store
    page = open_page(f"{site.url}/?view=judge&qid=q0")
    ready(page, '.judging li[aria-selected="true"]')
    page.keyboard.press("Enter")
    assert "whale ice" in ready(page, "dialog[open] .body").inner_text()  # what it is judged for
    page.keyboard.press("3")
    until(page, "document.querySelectorAll('.judging .grade:not(.none)').length > 0")
    page.keyboard.press("1")
    until(page, "document.querySelectorAll('.judging .grade:not(.none)').length > 1")
    # one key, one grade: the one that closed the dialog did not grade the next document as well
    assert [one.grade for one in store.judgements(rater="me")] == [3.0, 1.0]
    assert page.locator("dialog").count() == 0
    page.keyboard.press("ArrowUp")
    page.keyboard.press("0")
    until(page, "document.querySelector('#status').textContent.includes('(it was 1)')")


def test_query_stays_in_sight_and_the_next_one_begins_at_its_top(site, open_page):
    page = open_page(f"{site.url}/?view=judge&qid=q0&depth=50", viewport={"width": 1100, "height": 500})
    ready(page, '.judging li[aria-selected="true"]')
    for _ in range(2):
        page.keyboard.press("End")
        until(page, "scrollY > 300")
        clear = """() => {
            const box = (selector) => document.querySelector(selector).getBoundingClientRect();
            const asked = box("#asked"), legend = box(".legend"), chosen = box('.judging li[aria-selected="true"]');
            const seen = asked.top >= 0 && asked.bottom <= innerHeight;
            return seen && chosen.top >= legend.bottom - 1 && chosen.bottom <= innerHeight;
        }"""
        until(page, clear)
        query = page.locator("#asked").inner_text()
        page.keyboard.press("ArrowRight")
        until(page, f"document.querySelector('#asked')?.textContent !== {query!r}")
        until(page, "scrollY === 0 && document.querySelector('#status').textContent === ''")
        until(page, clear)


def test_what_only_others_judged_is_hidden_from_those_who_judge(site, open_page):
    site.bench.store.judge("ann", "q0", "nowhere", 3)
    page = open_page(f"{site.url}/?view=judge&qid=q0")
    ready(page, ".judging li")
    assert "nowhere" not in page.locator(".judging").inner_text()
    page.get_by_label("Show ranks and others' grades").check()
    until(page, "document.querySelector('.judging').innerText.includes('nowhere')")


def test_grades_are_those_of_the_collection(bench, open_page):
    bench.source.grades = ("no", "partly", "yes")
    with served(bench) as server:
        page = open_page(f"{server.url}/?view=judge&qid=q0")
        ready(page, '.judging li[aria-selected="true"]')
        assert page.locator(".scale").all_inner_texts() == ["0 no", "1 partly", "2 yes"]
        page.keyboard.press("3")  # no grade of this scale
        page.keyboard.press("2")
        until(page, "document.querySelector('.judging .grade.g4')")
        assert [one.grade for one in bench.store.judgements(rater="me")] == [2.0]


def test_keys_that_come_fast_grade_one_document_each(site, open_page):
    page = open_page(f"{site.url}/?view=judge&qid=q0")
    ready(page, '.judging li[aria-selected="true"]')
    ids = page.evaluate("[...document.querySelectorAll('.judging .title')].map((e) => e.textContent)")
    # all before the first answer; a key that is held down counts once, and what follows → is for no document here
    page.evaluate(
        """() => {
            const list = document.querySelector(".judging");
            for (const [key, repeat] of [["1"], ["2"], ["2", 1], ["3"], ["4"], ["u"], ["0"], ["ArrowRight"], ["4"]])
                list.dispatchEvent(new KeyboardEvent("keydown", { key, repeat: Boolean(repeat), bubbles: true }));
        }"""
    )
    until(page, "document.querySelector('#asked')?.textContent === 'shark reef'")
    titles = {
        docid: doc["title"]
        for docid in site.bench.labels(qid="q0")["q0"]
        for doc in [site.bench.source.document(docid, site.bench.query("", "q0"))]
    }
    given = {titles.get(one.docid, one.docid): one.grade for one in site.bench.store.judgements(rater="me")}
    assert given == dict(zip(ids[:4], [1.0, 2.0, 3.0, 0.0], strict=True))


def test_note_in_one_window_keeps_the_grade_of_another(site, open_page):
    pages = [open_page(f"{site.url}/?view=judge&qid=q0") for _ in range(2)]
    for page in pages:
        ready(page, '.judging li[aria-selected="true"]')
    pages[0].keyboard.press("3")
    until(pages[0], "document.querySelectorAll('.judging .grade:not(.none)').length === 1")
    pages[1].keyboard.press("n")
    ready(pages[1], "dialog[open] textarea").fill("see the other window")
    pages[1].keyboard.press("Control+Enter")
    until(pages[1], "document.querySelectorAll('.judging .grade:not(.none)').length === 1")
    (kept,) = site.bench.store.judgements(rater="me")
    assert (kept.grade, kept.note) == (3.0, "see the other window")


def test_grade_that_is_taken_back_leaves_the_label_of_the_file(site, open_page):
    qid, own = next(iter(site.bench.given.items()))
    page = open_page(f"{site.url}/?qid={qid}&c=BM25")
    ready(page, "li.result")
    docid = page.evaluate("document.querySelector('li.result').dataset.id")
    shown = "document.querySelector('li.result .grade').lastChild.textContent"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("4")
    until(page, f"{shown} === '4'")
    page.keyboard.press("Backspace")
    until(page, f"{shown} === '{own[docid]:g}'")


def test_two_raters_see_where_they_differ(site, open_page):
    store = site.bench.store
    for rater, grades in (("ann", (2, 0, 1)), ("bob", (0, 0, 1))):
        for i, grade in enumerate(grades):
            store.judge(rater, "q0", f"d0{i}", grade, "old" if rater == "bob" and not i else None)
    page = open_page(f"{site.url}/?view=judge")
    ready(page, ".judging li")
    page.get_by_role("button", name="Agreement and conflicts").click()
    panel = ready(page, ".panel table >> nth=1")
    assert "ann, bob" in page.locator(".panel").inner_text() and "Krippendorff" in page.locator(".panel").inner_text()
    assert "d00" in panel.inner_text() and "bob: old" in panel.inner_text()
    store.judge("ann", "q0", "nowhere", 3)
    page.get_by_role("button", name="Relevant, but not found").click()
    until(page, "document.querySelector('.panel').innerText.includes('nowhere')")
    with page.expect_download() as download:
        page.locator("a", has_text="qrels").click()
    assert "q0 0 nowhere 3" in Path(download.value.path()).read_text()


def test_snapshots_are_compared(site, open_page, shot):
    page = open_page(f"{site.url}/?view=snapshots")
    for name, ranker in (("monday", "BM25"), ("tuesday", "RM3"), ("wednesday", "BM25")):
        page.get_by_label("Name").fill(name)
        page.locator("select[name=column]").select_option(ranker)
        page.get_by_role("button", name="Take a snapshot").click()
        until(page, f"document.querySelector('table')?.innerText.includes('{name}')")
    shot(page, "snapshots")
    page.get_by_role("button", name="Compare", exact=True).click()
    ready(page, ".chart")
    rows = page.locator("table >> nth=0").locator("tbody tr").all_inner_texts()
    figures = {row.split("\t")[0]: row.split("\t")[1].split()[0] for row in rows}
    assert figures["snapshot: monday"] == figures["snapshot: wednesday"] == figures["BM25"]
    assert figures["snapshot: tuesday"] != figures["BM25"]


@pytest.mark.full
def test_train_open_the_report_and_add_the_winner(site, open_page, shot):
    page = open_page(f"{site.url}/?view=train")
    for name in ("LambdaMART", "RankSVM"):
        page.get_by_label(name, exact=True).uncheck()
    page.get_by_label("LinearRegression", exact=True).check()
    page.get_by_label("Folds").select_option("3")
    page.get_by_role("button", name="Start").click()
    ready(page, "article.job")
    page.get_by_role("button", name=re.compile("Add .* as a column")).wait_for(timeout=120_000)
    shot(page, "train")
    with page.expect_popup() as report:
        page.get_by_text("Open the report").click()
    report.value.wait_for_selector("h1", timeout=PATIENCE)
    assert report.value.evaluate("origin") == "null"  # an origin of its own
    page.get_by_role("button", name=re.compile("Add .* as a column")).click()
    page.get_by_text("compare it").click()
    ready(page, ".warning")
    assert "cross-validated" in page.locator(".warning").inner_text()


def test_runs_and_datasets_have_the_same_page(runs_bench, dataset_bench, open_page):
    with served(runs_bench) as server:
        page = open_page(server.url)
        page.locator(".queries a").first.click()
        ready(page, "li.result")
        assert page.locator(".column h2").all_inner_texts() == ["first", "second"]
    with served(dataset_bench) as server:
        page = open_page(server.url)
        page.locator(".queries a").first.click()
        ready(page, "li.result")
        page.locator("li.result").first.get_by_text("Why?").click()
        assert "match_0" in ready(page, "dialog[open] table.contributions").inner_text()


VIEWS = ["?q=whale+ice", "?view=judge", "?view=queries", "?view=snapshots", "?view=train"]


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.full)])
def test_pages_are_accessible(site, open_page, axe, scheme):
    site.bench.store.add_snapshot("s", "BM25", "given", 10, {})
    site.bench.store.judge("ann", "q0", "d01", 3)
    page = open_page(site.url, color_scheme=scheme)
    faults = []
    for view in VIEWS:
        page.goto(site.url + "/" + view)
        ready(
            page,
            {"?q=whale+ice": "li.result", "?view=judge": ".judging li", "?view=queries": ".chart"}.get(view, "form"),
        )
        if view == VIEWS[0]:
            page.locator("li.result").first.get_by_text("Why?").click()
            ready(page, "dialog[open] table")
            faults += violations(page, axe, "explain")
            page.keyboard.press("Escape")
        faults += violations(page, axe, view)
    assert faults == []


def violations(page, axe, where):
    page.evaluate(axe)
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
    result = page.evaluate("(tags) => axe.run(document, { runOnly: { type: 'tag', values: tags } })", tags)
    return [(where, one["id"], [node["html"][:120] for node in one["nodes"]][:3]) for one in result["violations"]]


@pytest.mark.parametrize("width", [360, 768, 2560])
def test_nothing_sticks_out_at_any_width(site, open_page, shot, width):
    page = open_page(site.url, viewport={"width": width, "height": 800})
    for view in VIEWS:
        page.goto(site.url + "/" + view)
        ready(
            page,
            {"?q=whale+ice": "li.result", "?view=judge": ".judging li", "?view=queries": ".chart"}.get(view, "form"),
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view
        shot(page, f"{width}-{VIEWS.index(view)}")


def test_judgement_that_is_not_saved_is_not_shown(index, open_page, tmp_path):
    from workbench.conftest import index_bench

    bench = index_bench(index, Store(tmp_path / "store.sqlite"))
    with served(bench) as server:
        page = open_page(f"{server.url}/?view=judge")
        ready(page, '.judging li[aria-selected="true"]')
        page.route("**/api/judge", lambda route: route.abort())
        page.keyboard.press("3")
        until(page, "document.querySelector('#status').textContent.startsWith('Not saved')")
        assert page.locator(".judging .grade:not(.none)").count() == 0
