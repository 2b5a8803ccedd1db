// Train: an experiment in a process of its own, with progress, its report, and the winner as a column.

import { get, post } from "./api.js";
import { button, h, number, plural, replace, say, select, table } from "./dom.js";

export const title = "Train";

export async function render(main, app, current) {
  const { sets } = app.state;
  const choice = await get("/api/train/choice");
  if (!current()) return undefined;
  const progress = h("section", { class: "jobs", "aria-label": "Experiments", "aria-live": "polite" });
  let timer = 0, ended = false;
  replace(main, h("h1", null, "Train"), h("p", { class: "note" }, "Rankers are tuned and tested by cross-validation on the judged queries of a set; the page stays usable meanwhile. The best one is then trained on all of them."), sets.length ? form() : h("p", null, "Import a query set first: ", h("a", { href: app.link({ view: "queries" }) }, "Queries"), "."), progress);
  for (const job of choice.jobs) card(job);
  if (choice.jobs.some(running)) timer = setTimeout(poll, 500);
  return () => { ended = true; clearTimeout(timer); };

  function running(job) { return job.state === "preparing" || job.state === "running"; }

  function form() {
    const box = (one) => h("label", { class: "check" }, h("input", { type: "checkbox", value: one.name, checked: one.chosen }), one.name);
    const features = choice.features.map(box), rankers = choice.rankers.map(box);
    const chosen = (list) => list.map((label) => label.firstChild).filter((input) => input.checked).map((input) => input.value);
    const all = button("All or none", () => { const on = chosen(features).length < features.length; for (const label of features) label.firstChild.checked = on; }, { class: "small" });
    const set = select("set", "Query set", sets.map((one) => [one.name, `${one.name} (${one.queries})`]), sets[0].name);
    const measure = h("input", { name: "measure", value: "nDCG@10", size: 10, autocomplete: "off" });
    const folds = select("folds", "Folds", [3, 4, 5, 10], 5), trials = select("trials", "Settings per ranker", [1, 2, 3, 5, 10, 20], 3);
    const send = async (event) => {
      event.preventDefault();
      try {
        const picked = chosen(features);
        const body = { set: set.querySelector("select").value, rankers: chosen(rankers), features: picked.length === features.length ? [] : picked, measure: measure.value, folds: Number(folds.querySelector("select").value), trials: Number(trials.querySelector("select").value) };
        if (!picked.length) { say("Choose at least one feature", true); return; }
        const { job } = await post("/api/train", body);
        card(job);
        clearTimeout(timer);
        timer = setTimeout(poll, 500);
        say("The experiment has begun");
      } catch (error) { say(error.message, true); }
    };
    return h("form", { class: "stack", onsubmit: send }, h("div", { class: "controls" }, set, h("label", null, "Measure ", measure), folds, trials),
      h("fieldset", null, h("legend", null, "Rankers"), h("div", { class: "checks" }, rankers.slice(0, 6)), h("details", null, h("summary", null, `${rankers.length - 6} more`), h("div", { class: "checks" }, rankers.slice(6)))),
      h("fieldset", null, h("legend", null, "Features ", all), h("div", { class: "checks" }, features)), h("div", null, h("button", { class: "main" }, "Start")));
  }

  async function poll() {
    if (ended) return;
    const now = await get("/api/train/choice").catch(() => null);
    if (ended) return;
    for (const job of now?.jobs ?? []) card(job);
    if (!now || now.jobs.some(running)) timer = setTimeout(poll, 700);
  }

  function card(job) {
    const id = `job-${job.number}`;
    const kept = document.getElementById(id);
    if (kept && kept.dataset.state === job.state && !running(job) && kept.dataset.column === String(job.column)) return;
    const states = { preparing: "computing features …", running: job.total ? `${job.done} of ${job.total} cells` : "starting …", done: `done in ${Math.round(job.seconds)} s`, failed: "failed", stopped: "stopped" };
    const result = job.result.leaderboard;
    const made = h("article", { id, class: "job", dataset: { state: job.state, column: String(job.column) } },
      h("h2", null, `Experiment ${job.number}: ${job.settings.rankers.join(", ")}`),
      h("p", null, states[job.state], running(job) ? [" ", h("progress", { max: job.total ?? 1, value: job.total ? job.done : undefined, "aria-label": "Progress" }), " ", button("Stop", async () => { await post("/api/train/stop", { number: job.number }); poll(); }, { class: "small" })] : null),
      job.error ? h("p", { class: "error" }, job.error) : null,
      running(job) && job.lines.length ? h("pre", { class: "log", tabindex: "0", role: "region", "aria-label": "Progress" }, job.lines.slice(-6).join("\n")) : null,
      result ? [h("p", { class: "lead" }, job.result.headline), table(`${job.result.measure} over ${plural(job.result.queries, "query", "queries")} (cross-validated)`, ["ranker", "mean", "95 % interval", "training"], result.map((row) => [row.ranker, h("td", { class: "right" }, row.best ? h("b", null, number(row.mean_over_queries, 4)) : number(row.mean_over_queries, 4)), `${number(row.low)} – ${number(row.high)}`, `${number(row.train_seconds, 2)} s`])),
        job.result.failures.length ? h("p", { class: "error" }, job.result.failures.join("; ")) : null,
        h("div", { class: "controls" }, job.report ? h("a", { class: "button", href: `/reports/${job.number}`, target: "_blank", rel: "noopener" }, "Open the report") : null, job.column ? h("a", { class: "button", href: app.link({ view: "queries", set: job.settings.set }) }, `${job.column} is a column: compare it`) : button(`Add ${job.result.best} as a column`, () => add(job), { class: "main" }))] : null);
    if (kept) kept.replaceWith(made); else progress.prepend(made);
  }

  async function add(job) {
    try {
      const { column } = await post("/api/train/add", { number: job.number });
      say(`${column} is a column now`);
      await app.refresh();
      card({ ...job, column });
    } catch (error) { say(error.message, true); }
  }
}
