// Query sets: import, measures per query, differences, significance.

import { get, post } from "./api.js";
import { button, h, number, plural, replace, s, say, select, signed, table } from "./dom.js";

export const title = "Queries";

export async function render(main, app, current) {
  const params = app.params;
  const { sets, columns, source } = app.state;
  const set = sets.some((one) => one.name === params.get("set")) ? params.get("set") : sets[0]?.name;
  const known = columns.map((c) => c.name);
  const chosen = params.getAll("c").filter((name) => known.includes(name));
  const names = chosen.length ? chosen : columns.filter((c) => c.kind !== "snapshot").map((c) => c.name).slice(0, 5);
  const measures = params.getAll("m").length ? params.getAll("m") : ["nDCG@10", "AP", "RR", "P@5"];
  const results = h("div", { class: "results", "aria-live": "polite" }, set ? h("p", { class: "note" }, "Measuring …") : null);
  replace(main, h("h1", null, "Query sets"), importer(), set ? settings() : h("p", null, "There is no query set yet."), results);
  if (!set) return undefined;
  let evaluation;
  try { evaluation = await get("/api/evaluate", { set, columns: names, measures }); } catch (error) { replace(results, h("p", { class: "error", role: "alert" }, error.message)); return undefined; }
  if (!current()) return undefined;
  show(evaluation);
  return undefined;

  function importer() {
    const name = h("input", { name: "name", required: true, maxlength: 100, autocomplete: "off" });
    const area = h("textarea", { name: "text", rows: 5, placeholder: "one query per line, or: id, tab, text", "aria-label": "Queries" });
    const file = h("input", { type: "file", "aria-label": "File of queries", onchange: async () => { const one = file.files[0]; if (one) { area.value = await one.text(); if (!name.value) name.value = one.name.replace(/\.[^.]*$/, ""); } } });
    const send = async (event) => {
      event.preventDefault();
      try {
        const done = await post("/api/sets/import", { name: name.value, text: area.value, file: file.files[0]?.name ?? "", rater: "imported", author: app.rater });
        say(`${plural(done.queries, "query", "queries")} read${done.judgements ? `, ${plural(done.judgements, "judgement")}` : ""}${done.note ? `. ${done.note}` : ""}`, Boolean(done.note));
        app.go({ set: done.name });
      } catch (error) { say(error.message, true); }
    };
    return h("details", { class: "options", open: !set }, h("summary", null, "Import a query set"), h("p", { class: "note" }, "Text (a query per line, or id, tab, text), JSON lines, TREC topics, CSV with a column query (and docid, grade), or qrels."), h("form", { class: "stack", onsubmit: send }, h("label", null, "Name ", name), h("label", null, "File ", file), area, h("div", null, h("button", { class: "main" }, "Import"))));
  }

  function settings() {
    const checks = columns.map((c) => h("label", { class: "check", title: c.about }, h("input", { type: "checkbox", value: c.name, checked: names.includes(c.name), onchange: changed }), c.name));
    const field = h("input", { name: "m", value: measures.join(", "), autocomplete: "off", spellcheck: "false", onchange: (event) => app.go({ m: event.target.value.split(/[,;\s]+(?![^(]*\))/).filter(Boolean) }) });
    const remove = set === "given" ? null : button("Remove the set", async () => { if (confirm(`Remove the query set ${set}? Judgements stay.`)) { await post("/api/sets/remove", { name: set }); app.go({ set: null }); } });
    return h("div", { class: "controls" }, select("set", "Set", sets.map((one) => [one.name, `${one.name} (${one.queries})`]), set, (event) => app.go({ set: event.target.value })), h("label", { class: "grow" }, "Measures ", field), h("fieldset", { class: "inline" }, h("legend", { class: "hide" }, "Rankers"), checks), remove);
    function changed() { app.go({ c: checks.map((label) => label.firstChild).filter((input) => input.checked).map((input) => input.value) }); }
  }

  function show(evaluation) {
    if (!evaluation.rows.length) { replace(results, h("p", null, evaluation.note)); return; }
    const measure = evaluation.measures.includes(params.get("by")) ? params.get("by") : evaluation.measures[0];
    const a = evaluation.columns.includes(params.get("a")) ? params.get("a") : evaluation.columns.at(-1);
    const b = evaluation.columns.includes(params.get("b")) ? params.get("b") : evaluation.columns[0];
    const right = (text) => h("th", { scope: "col", class: "right" }, text);
    const best = Object.fromEntries(evaluation.measures.map((m) => [m, Math.max(...evaluation.columns.map((c) => evaluation.means[c][m] ?? -Infinity))]));
    const better = (c, m) => evaluation.pairs.filter((pair) => pair.measure === m && pair.better === c).map((pair) => (pair.a === c ? pair.b : pair.a));
    const means = table(`Means over ${plural(evaluation.judged, "judged query", "judged queries")} of ${set}`, ["ranker", ...evaluation.measures.map(right)], evaluation.columns.map((c) => [c, ...evaluation.measures.map((m) => h("td", { class: "right" }, evaluation.means[c][m] === best[m] ? h("b", null, number(evaluation.means[c][m], 4)) : number(evaluation.means[c][m], 4), better(c, m).length ? h("small", null, ` > ${better(c, m).join(", ")}`) : null))]));
    const pair = evaluation.pairs.find((one) => one.measure === measure && ((one.a === a && one.b === b) || (one.a === b && one.b === a)));
    const difference = (row) => {
      const gap = a === b ? 0 : (row.values[a][measure] ?? 0) - (row.values[b][measure] ?? 0);
      return Math.abs(gap) > 1e-9 ? gap : 0; // rounding is no win, as in the counts of the server
    };
    const rows = [...evaluation.rows].sort((x, y) => difference(y) - difference(x));
    const link = (row) => app.link({ qid: row.qid, q: source.searchable ? row.text : null, c: evaluation.columns.slice(0, 5), set });
    replace(results, means, evaluation.warnings.map((text) => h("p", { class: "warning" }, text)), h("p", { class: "note" }, evaluation.note, evaluation.unjudged ? ` ${plural(evaluation.unjudged, "query has", "queries have")} no judgements and are left out.` : "", evaluation.depth ? ` Lists are measured up to rank ${evaluation.depth}.` : ""),
      evaluation.columns.length > 1 ? [h("h2", null, "Query by query"), h("div", { class: "controls" }, select("by", "Measure", evaluation.measures, measure, (event) => app.go({ by: event.target.value })), select("a", "A", evaluation.columns, a, (event) => app.go({ a: event.target.value })), select("b", "B", evaluation.columns, b, (event) => app.go({ b: event.target.value }))), verdict(), chart(rows)] : h("h2", null, "Query by query"),
      table(`${measure} of each query`, ["query", ...evaluation.columns.map(right), ...(evaluation.columns.length > 1 ? [right("A − B")] : [])], rows.map((row) => [h("a", { href: link(row) }, row.text || row.qid), ...evaluation.columns.map((c) => h("td", { class: "right" }, number(row.values[c][measure]), row.unjudged[c] ? h("small", { title: `${row.unjudged[c]} of the first ten are not judged` }, ` ?${row.unjudged[c]}`) : null)), ...(evaluation.columns.length > 1 ? [h("td", { class: `right ${difference(row) > 0 ? "gain" : difference(row) < 0 ? "loss" : ""}` }, signed(difference(row)))] : [])])));

    function verdict() {
      if (!pair) return null;
      const turned = pair.a !== a;
      const gap = turned ? -pair.difference : pair.difference;
      const [wins, losses] = turned ? [pair.losses, pair.wins] : [pair.wins, pair.losses];
      return h("p", { class: "lead" }, `A (${a}) wins ${plural(wins, "query", "queries")} and loses ${losses}, ${pair.ties} tied. Mean difference ${signed(gap, 4)}: `, pair.significant ? h("b", null, `significantly ${gap > 0 ? "better" : "worse"}`) : "not significant", ` (p ${pair.p_corrected < 5e-5 ? "< 0.0001" : `= ${number(pair.p_corrected, 4)}`}).`);
    }
    function chart(rows) {
      if (a === b) return null;
      const width = 960, height = 220, middle = height / 2;
      const most = Math.max(...rows.map((row) => Math.abs(difference(row))), 1e-9);
      const step = width / rows.length;
      const bars = rows.map((row, i) => {
        const value = difference(row), size = (Math.abs(value) / most) * (middle - 16);
        return s("rect", { x: i * step + step * 0.1, width: Math.max(step * 0.8, 0.5), y: value > 0 ? middle - size : middle, height: Math.max(size, 0.6), class: value > 0 ? "gain" : value < 0 ? "loss" : "tie" }, s("title", null, `${row.text || row.qid}: ${signed(value)}`));
      });
      const wins = rows.filter((row) => difference(row) > 0).length, losses = rows.filter((row) => difference(row) < 0).length;
      return h("figure", null, s("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": `Difference of ${measure}, A minus B, of each query: ${wins} gains, ${losses} losses` }, s("line", { x1: 0, x2: width, y1: middle, y2: middle, class: "axis" }), bars, s("text", { x: 4, y: 14 }, signed(most)), s("text", { x: 4, y: height - 5 }, signed(-most))), h("figcaption", null, `${measure}, ${a} − ${b}, one bar per query, sorted`));
    }
  }
}
