"""The page in a browser: no errors, tables sort, drop-downs change the bars, light and dark."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess

import pytest

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")

# Collects errors from the very beginning.
LISTEN = """<script>
window.problems = [];
addEventListener("error", (event) => problems.push(String(event.message)));
addEventListener("unhandledrejection", (event) => problems.push(String(event.reason)));
document.addEventListener("securitypolicyviolation", (event) => problems.push("policy: " + event.blockedURI));
for (const name of ["error", "warn"]) console[name] = (...words) => problems.push(words.join(" "));
</script>"""

# What a reader does, and what is then on the page.
USE = """<script>
const found = {};
const table = document.querySelector("#leaderboard table");
const column = (i) => [...table.tBodies[0].rows].map((row) => row.cells[i].childNodes[0].textContent);
const click = (i) => table.tHead.rows[0].cells[i].querySelector("button").click();
click(1); found.descending = column(1); found.sort = table.tHead.rows[0].cells[1].ariaSort;
click(1); found.ascending = column(1);
click(0); found.names = column(0);
const form = document.getElementById("browser");
const bars = () => document.getElementById("pair-bars").data[0].y;
const summary = () => document.getElementById("pair-summary").textContent;
const choose = (name, i) => {
  form.elements[name].value = i;
  form.elements[name].dispatchEvent(new Event("change", { bubbles: true }));
};
found.start = [Number(form.elements.a.value), Number(form.elements.b.value)];
found.bars = bars(); found.summary = summary();
choose("a", found.start[1]); choose("b", found.start[0]);
found.turned = bars();
choose("b", [0, 1, 2].find((i) => !found.start.includes(i)));
found.third = bars();
choose("measure", 1); found.measure = bars();
choose("dataset", 1); found.other = bars();
found.lists = document.querySelectorAll("#pair-lists table").length;
found.options = [...form.elements.a.options].map((option) => option.textContent);
const look = () => [
  document.documentElement.classList.contains("dark"),
  getComputedStyle(document.body).backgroundColor,
  document.getElementById("leaderboard-0").layout.font.color,
  document.getElementById("leaderboard-0").data[0].marker.color,
];
found.before = look();
document.getElementById("theme").click(); found.after = look();
document.getElementById("theme").click(); found.again = look();
found.plots = [...document.querySelectorAll(".plot")].filter((box) => box.querySelector(".main-svg")).length;
found.boxes = document.querySelectorAll(".plot").length;
found.fonts = [document.getElementById("leaderboard-0").layout.font.family, getComputedStyle(document.body).fontFamily];
found.header = [...table.tHead.rows[0].cells].map((cell) => cell.getBoundingClientRect().height);
found.line = parseFloat(getComputedStyle(table).lineHeight);
found.wide = document.documentElement.scrollWidth - innerWidth;
found.requests = performance.getEntriesByType("resource").map((entry) => entry.name);
found.problems = problems;
const out = document.createElement("pre");
out.id = "outcome";
out.textContent = JSON.stringify(found);
document.body.append(out);
</script>"""


def use(folder, tmp_path, *flags):
    text = (folder / "report.html").read_text("utf-8")
    text = text.replace("<head>", "<head>" + LISTEN, 1).replace("</body>", USE + "</body>", 1)
    (tmp_path / "page.html").write_text(text, "utf-8")
    done = subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            f"--user-data-dir={tmp_path / 'profile'}", *flags, "--dump-dom", (tmp_path / "page.html").as_uri(),
        ],
        capture_output=True, timeout=600, check=True, text=True,
    )  # fmt: skip
    outcome = re.search(r'<pre id="outcome">(.*?)</pre>', done.stdout, re.DOTALL)
    assert outcome, done.stderr[-2000:]
    return json.loads(html.unescape(outcome[1]))


@pytest.fixture(scope="module")
def outcome(folder, tmp_path_factory):
    return use(folder, tmp_path_factory.mktemp("browser"), "--window-size=1200,900")


def test_no_errors_and_no_requests(outcome):
    assert outcome["problems"] == [] and outcome["requests"] == []
    assert outcome["plots"] == outcome["boxes"] > 15
    assert outcome["wide"] <= 0


def test_tables_sort(outcome):
    numbers = [float(text) for text in outcome["descending"]]
    assert numbers == sorted(numbers, reverse=True) and outcome["sort"] == "descending"
    assert outcome["ascending"] == outcome["descending"][::-1]
    assert sorted(outcome["names"]) == sorted(['<b>&"x', "a_b%", "trees"]) and len(set(outcome["names"])) == 3


def test_drop_downs_change_the_bars(outcome, finished):
    sets = [finished.per_query.filter(dataset=name) for name in finished.datasets]
    rankers = outcome["options"]

    def difference(frame, a, b, measure):
        one, other = (frame.filter(ranker=name)[measure].to_numpy() for name in (a, b))
        return sorted((one - other).tolist(), reverse=True)

    first = finished.leaderboard.filter(dataset=finished.datasets[0])["ranker"].unique(maintain_order=True).to_list()
    a, b = (first[i] for i in outcome["start"])
    assert a == finished.best(finished.datasets[0])
    third = next(ranker for ranker in first if ranker not in (a, b))
    assert outcome["bars"] == pytest.approx(difference(sets[0], a, b, "nDCG@5"), abs=2e-4)
    assert outcome["turned"] == pytest.approx(difference(sets[0], b, a, "nDCG@5"), abs=2e-4)
    assert outcome["third"] == pytest.approx(difference(sets[0], b, third, "nDCG@5"), abs=2e-4)
    assert outcome["measure"] == pytest.approx(difference(sets[0], b, third, "AP"), abs=2e-4)
    assert len(outcome["other"]) == 20 and outcome["lists"] >= 4
    assert '<b>&"x' in rankers
    wins = sum(value > 1e-9 for value in difference(sets[0], a, b, "nDCG@5"))
    assert outcome["summary"].startswith(f"A is better on {wins} queries")


def test_light_and_dark(outcome, folder, tmp_path):
    assert outcome["before"][0] is False and outcome["after"][0] is True and outcome["again"] == outcome["before"]
    assert all(one != other for one, other in zip(outcome["before"], outcome["after"], strict=True))
    dark = use(
        folder, tmp_path, "--window-size=1200,900", "--force-dark-mode", "--blink-settings=preferredColorScheme=0"
    )
    assert dark["problems"] == []
    assert dark["before"] == outcome["after"] and dark["after"] == outcome["before"]


def test_narrow(folder, tmp_path):
    narrow = use(folder, tmp_path, "--window-size=500,900")  # narrower windows are not to be had without a phone
    assert narrow["problems"] == [] and narrow["wide"] <= 0
    # headers out of sight that wrap would leave an empty band above those in sight
    assert max(narrow["header"]) < 2 * narrow["line"]


def test_plots_have_the_font_of_the_page(outcome):
    plots, page = outcome["fonts"]
    assert plots == page and "sans-serif" in page
