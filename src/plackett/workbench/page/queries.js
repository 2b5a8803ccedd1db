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
  let found;
  try { found = await get("/api/evaluate", { set, columns: names, measures }); } catch (error) { replace(results, h("p", { class: "error", role: "alert" }, error.message)); return undefined; }
  if (!current()) return undefined;
  show(found);
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

  function show(found) {
    if (!found.rows.length) { replace(results, h("p", null, found.note)); return; }
    const measure = found.measures.includes(params.get("by")) ? params.get("by") : found.measures[0];
    const a = found.columns.includes(params.get("a")) ? params.get("a") : found.columns.at(-1);
    const b = found.columns.includes(params.get("b")) ? params.get("b") : found.columns[0];
    const right = (text) => h("th", { scope: "col", class: "right" }, text);
    const best = Object.fromEntries(found.measures.map((m) => [m, Math.max(...found.columns.map((c) => found.means[c][m] ?? -Infinity))]));
    const better = (c, m) => found.pairs.filter((pair) => pair.measure === m && pair.better === c).map((pair) => (pair.a === c ? pair.b : pair.a));
    const means = table(`Means over ${plural(found.judged, "judged query", "judged queries")} of ${set}`, ["ranker", ...found.measures.map(right)], found.columns.map((c) => [c, ...found.measures.map((m) => h("td", { class: "right" }, found.means[c][m] === best[m] ? h("b", null, number(found.means[c][m], 4)) : number(found.means[c][m], 4), better(c, m).length ? h("small", null, ` > ${better(c, m).join(", ")}`) : null))]));
    const pair = found.pairs.find((one) => one.measure === measure && ((one.a === a && one.b === b) || (one.a === b && one.b === a)));
    const difference = (row) => (a === b ? 0 : (row.values[a][measure] ?? 0) - (row.values[b][measure] ?? 0));
    const rows = [...found.rows].sort((x, y) => difference(y) - difference(x));
    const link = (row) => app.link({ qid: row.qid, q: source.searchable ? row.text : null, c: found.columns.slice(0, 5), set });
    replace(results, means, found.warnings.map((text) => h("p", { class: "warning" }, text)), h("p", { class: "note" }, found.note, found.unjudged ? ` ${plural(found.unjudged, "query has", "queries have")} no judgements and are left out.` : "", found.depth ? ` Lists are measured up to rank ${found.depth}.` : ""),
      found.columns.length > 1 ? [h("h2", null, "Query by query"), h("div", { class: "controls" }, select("by", "Measure", found.measures, measure, (event) => app.go({ by: event.target.value })), select("a", "A", found.columns, a, (event) => app.go({ a: event.target.value })), select("b", "B", found.columns, b, (event) => app.go({ b: event.target.value }))), verdict(), chart(rows)] : h("h2", null, "Query by query"),
      table(`${measure} of each query`, ["query", ...found.columns.map(right), ...(found.columns.length > 1 ? [right("A − B")] : [])], rows.map((row) => [h("a", { href: link(row) }, row.text || row.qid), ...found.columns.map((c) => h("td", { class: "right" }, number(row.values[c][measure]), row.unjudged[c] ? h("small", { title: `${row.unjudged[c]} of the first ten are not judged` }, ` ?${row.unjudged[c]}`) : null)), ...(found.columns.length > 1 ? [h("td", { class: `right ${difference(row) > 0 ? "gain" : difference(row) < 0 ? "loss" : ""}` }, signed(difference(row)))] : [])])));

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
