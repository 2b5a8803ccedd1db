// Why this order: contributions as bars, one document or A against B.

import { get } from "./api.js";
import { dialog, h, plural, replace, say, score, signed, table } from "./dom.js";

/** Show why a document has its score, or why A is above B. */
export async function explain(app, request) {
  let explanation;
  try { explanation = await get("/api/explain", request); } catch (error) { say(error.message, true); return; }
  const { a, b } = explanation;
  const name = (id) => explanation.titles[id] ?? id;
  const [upper, lower] = b && (explanation.scores?.[1] ?? 0) > (explanation.scores?.[0] ?? 0) ? [b, a] : [a, b];
  const sign = b && upper === b ? -1 : 1;
  const heading = b ? `Why ${name(upper)} is above ${name(lower)}` : `Why ${name(a)} is here`;
  const body = h("div", { class: "explanation" });
  const rankOf = (id) => (explanation.ranks[id] ? `rank ${explanation.ranks[id]}` : "not in the list");
  const intro = b
    ? `${explanation.column}: ${name(a)} ${rankOf(a)}${explanation.scores ? `, score ${score(explanation.scores[0])}` : ""}; ${name(b)} ${rankOf(b)}${explanation.scores ? `, score ${score(explanation.scores[1])}` : ""}.`
    : `${explanation.column}: ${rankOf(a)}${explanation.scores ? `, score ${score(explanation.scores[0])}` : ""}.`;
  const parts = explanation.parts.filter((part) => part.contribution !== null);
  const shown = parts.slice(0, 25);
  const most = Math.max(...shown.map((part) => Math.abs(part.contribution)), 1e-12);
  const rows = shown.map((part) => {
    const value = sign * part.contribution;
    const bar = h("div", { class: "track", "aria-hidden": "true" }, h("div", { class: value < 0 ? "bar minus" : "bar plus", style: { width: `${(50 * Math.abs(value)) / most}%` } }));
    const values = b ? [h("td", null, of(upper === a ? part.value : part.other)), h("td", null, of(upper === a ? part.other : part.value))] : [h("td", null, of(part.value))];
    return h("tr", null, h("th", { scope: "row" }, part.name), values, h("td", { class: "bars" }, bar), h("td", { class: "right" }, signed(value, 4)));
  });
  const right = (text) => h("th", { scope: "col", class: "right" }, text);
  const what = h("th", { scope: "col" }, explanation.method === "terms of BM25" || explanation.method === "without each word" ? "term" : "feature");
  const header = b ? [what, name(upper), name(lower), "against ⟵ ⟶ for the first", right("difference")] : [what, "value", "down ⟵ ⟶ up", right("contribution")];
  const said = {
    "terms of BM25": "The terms of the query; their weights add up to the score.",
    "without each word": "What the score loses without each word of the query.",
    "one feature": "The column is ordered by one feature.",
    linear: "Exact: each feature's term, relative to the mean over the list.",
    additive: "Exact: each feature's function, relative to the mean over the list.",
    trees: "Exact (TreeSHAP): contributions add up to the score.",
    sampling: "Estimated by sampling orders of the features.",
    none: "A run has only ranks and scores: there is nothing to explain.",
  };
  replace(body, h("p", null, intro), h("p", { class: "note" }, said[explanation.method] ?? explanation.method),
    rows.length ? table("Contributions", header, rows, { class: "contributions" }) : null,
    parts.length > shown.length ? h("p", { class: "note" }, `and ${plural(parts.length - shown.length, "feature")} that matter less`) : null,
    b && explanation.changes.length ? changes() : null,
    b && explanation.method !== "none" && !explanation.changes.length && ["linear", "additive", "trees", "sampling"].includes(explanation.method) ? h("p", { class: "note" }, `No change of up to eight features lets ${name(lower)} pass.`) : null,
    matches());
  dialog(heading, body);

  function of(value) { return value === null || value === undefined ? "–" : typeof value === "number" ? score(value) : String(value); }
  function changes() {
    const together = explanation.changes[0].together;
    const rows = explanation.changes.map((row) => [row.feature, of(row.from), of(row.to), of(row.deviations)]);
    return h("div", null, h("h3", null, `What would let ${name(explanation.lower)} pass`), h("p", { class: "note" }, together ? "These changes together:" : "Any one of these changes alone, the smallest first:"), table("Changes", ["feature", "now", "needed", "distance (standard deviations)"], rows));
  }
  function matches() {
    const ids = Object.keys(explanation.matches).filter((id) => explanation.matches[id].length);
    if (!ids.length) return null;
    const keys = [...new Set(ids.flatMap((id) => explanation.matches[id].map((row) => `${row.field}\u0000${row.term}`)))];
    const chosen = b ? [upper, lower] : [a];
    const rows = keys.map((key) => {
      const [field, term] = key.split("\u0000");
      const own = chosen.map((id) => explanation.matches[id]?.find((row) => row.field === field && row.term === term));
      return [term, field, ...own.map((row) => (row ? `${row.count} of ${row.length}` : "–")), own.find(Boolean)?.documents ?? ""];
    });
    return h("div", null, table("Matched terms", ["term", "field", ...chosen.map((id) => `in ${name(id)}`), "documents with it"], rows));
  }
}
