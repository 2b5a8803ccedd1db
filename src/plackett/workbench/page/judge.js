// Judge: graded relevance from the keyboard. Every key press is on disk before the page says so.

import { get, post } from "./api.js";
import { button, dialog, h, hush, marked, number, plural, replace, say, select, soft, table } from "./dom.js";
import { GRADES, badge, gradeOf, inTurn, shade, typing } from "./grades.js";

export const title = "Judge";

/** The query that was shown last. */
let shown;

export async function render(main, app, current) {
  const params = app.params;
  const { sets } = app.state;
  if (!sets.length) {
    replace(main, h("h1", null, "Judge"), h("p", null, "There are no queries to judge for. ", h("a", { href: app.link({ view: "queries" }) }, "Import a query set"), ", or type a query under ", h("a", { href: "/" }, "Search"), " and judge its results there."), tools(app));
    return undefined;
  }
  const set = sets.some((one) => one.name === params.get("set")) ? params.get("set") : sets[0].name;
  const strategy = params.get("by") === "disagreement" ? "disagreement" : "depth";
  const depth = Math.min(Math.max(Number(params.get("depth")) || 10, 1), 100);
  const others = params.get("others") === "1";
  const asked = { set, rater: app.rater, strategy, depth };
  const plan = await get("/api/next", asked);
  const qid = params.get("qid") ?? plan.next ?? plan.queries[0]?.qid;
  const pool = qid === undefined ? null : await get("/api/pool", { ...asked, qid });
  if (!current()) return undefined;
  // Documents that only others have judged would give their grades away: they are shown on request, with the grades.
  const documents = (pool?.documents ?? []).filter((one) => others || one.grade !== null || !one.missing);
  let at = Math.max(0, documents.findIndex((one) => one.grade === null && !one.missing));
  const done = documents.filter((one) => one.grade !== null).length;
  let left = plan.left;
  // Keys pressed while a grade is being saved wait until the list has moved on: none is lost or reaches the wrong
  // document. Keys after one that leaves this query are ignored.
  let gone = false;
  const queue = inTurn();
  const turn = (act) => queue(() => (gone ? undefined : act()));

  const progress = h("progress", { max: Math.max(documents.length, 1), value: done, "aria-label": "Judged documents of this query" });
  const count = h("span", { class: "note" });
  const list = h("ol", { class: "judging", role: "listbox", tabindex: "0", "aria-label": "Documents to judge", "aria-activedescendant": documents.length ? `document-${at}` : undefined });
  const items = documents.map((one, i) => h("li", { id: `document-${i}`, role: "option", "aria-selected": "false", class: one.missing ? "missing" : "", onclick: () => move(i) },
    h("div", { class: "row" }, h("span", { class: "slot" }, badge(one.grade)), h("b", { class: "title" }, soft(one.title)), others && one.label !== null ? h("span", { class: "note" }, `all raters: ${one.label}`) : null),
    one.missing ? h("p", { class: "note" }, `Judged relevant, but not among the first ${depth} of any ranker.`) : null,
    one.lead ? h("p", { class: "lead-in" }, one.lead) : null,
    h("p", { class: "snippet" }, marked(one.snippet)),
    Object.keys(one.fields ?? {}).length ? h("p", { class: "fields" }, Object.entries(one.fields).slice(0, 4).map(([name, value]) => h("span", null, `${name}: ${value}`))) : null,
    others ? h("p", { class: "fields" }, Object.entries(one.ranks).map(([name, rank]) => h("span", null, `${name}: ${rank ?? "–"}`))) : null,
    h("p", { class: "written note" }, one.note)));
  replace(list, items);
  const legend = h("div", { class: "legend", role: "group", "aria-label": "Grades" }, GRADES.map(([grade, meaning]) => button([h("kbd", null, grade), " ", meaning], () => judge(grade), { class: `scale ${shade(grade)}` })), button([h("kbd", null, "U"), " undo"], undo), button([h("kbd", null, "N"), " note"], note), button([h("kbd", null, "Enter"), " read"], read), button([h("kbd", null, "?"), " keys"], help));
  const where = plan.queries.map((one) => one.qid).indexOf(qid);
  const links = plan.queries.map((one) => h("li", null, h("a", { href: app.link({ view: "judge", set: params.get("set"), by: params.get("by"), depth: params.get("depth"), others: params.get("others"), qid: one.qid }), "aria-current": one.qid === qid ? "true" : undefined }, h("span", null, one.text || one.qid), h("small", { dataset: { left: one.qid }, title: "left to judge" }, one.left ? String(one.left) : "✓"))));
  replace(main, h("h1", { class: "hide" }, "Judge"),
    h("div", { class: "with-side" },
      h("aside", { class: "side", "aria-label": "Queries" }, h("details", { open: matchMedia("(min-width: 60rem)").matches }, h("summary", null, "Queries"),
        select("set", "Query set", sets.map((one) => one.name), set, (event) => app.go({ set: event.target.value, qid: null })),
        select("by", "Next by", [["depth", "pool depth"], ["disagreement", "disagreement of rankers"]], strategy, (event) => app.go({ by: event.target.value, qid: null })),
        select("depth", "Depth", [...new Set([depth, 5, 10, 15, 20, 50, 100])].sort((a, b) => a - b), depth, (event) => app.go({ depth: event.target.value })),
        h("label", { class: "check" }, h("input", { type: "checkbox", checked: others, onchange: (event) => app.go({ others: event.target.checked ? "1" : null }) }), "Show ranks and others' grades"),
        h("ol", { class: "queries" }, links))),
      h("div", { class: "content" },
        pool ? h("div", { class: "asking" }, h("div", { class: "head" }, h("h2", { id: "asked" }, pool.query.text), h("div", null, progress, " ", count)), legend) : h("p", null, "This set has no queries."),
        documents.length ? list : h("p", { class: "note" }, "No ranker finds anything for this query."),
        tools(app))));
  counted();
  if (qid !== shown) scrollTo(0, 0); // another query begins at its first document
  shown = qid;
  if (documents.length) { choose(at); list.focus({ preventScroll: true }); }
  main.querySelector('.queries [aria-current="true"]')?.scrollIntoView({ block: "nearest" });
  document.addEventListener("keydown", keys);
  return () => document.removeEventListener("keydown", keys);

  function counted() {
    const graded = documents.filter((one) => one.grade !== null).length;
    progress.value = graded;
    count.textContent = `${graded} of ${documents.length} judged, ${plural(left, "document")} left in the set`;
    const open = documents.filter((one) => one.grade === null && !one.missing).length;
    const small = main.querySelector(`[data-left="${CSS.escape(qid ?? "")}"]`);
    if (small) small.textContent = open ? String(open) : "✓";
  }
  function choose(i) {
    items[at]?.setAttribute("aria-selected", "false");
    at = i;
    items[at].setAttribute("aria-selected", "true");
    list.setAttribute("aria-activedescendant", `document-${at}`);
    items[at].scrollIntoView({ block: "nearest" });
  }
  function move(i) { if (items.length) { choose(Math.min(Math.max(i, 0), items.length - 1)); list.focus({ preventScroll: true }); } }
  function put(i, grade, note) {
    const before = documents[i].grade;
    documents[i].grade = grade;
    if (note !== undefined) { documents[i].note = note; items[i].querySelector(".written").textContent = note; }
    replace(items[i].querySelector(".slot"), badge(grade));
    if (!documents[i].missing) left += (grade === null) - (before === null);
    counted();
  }
  function judge(grade) { return turn(() => record(grade)); }
  function undo() { return turn(takeBack); }
  async function record(grade) {
    if (!documents.length) return;
    const i = at, before = documents[i].grade;
    try {
      await post("/api/judge", { rater: asked.rater, qid, docid: documents[i].id, grade });
    } catch (error) { say(`Not saved: ${error.message}`, true); return; }
    put(i, grade);
    say(grade === null ? "Grade removed" : `${documents[i].title}: ${grade}, ${GRADES[grade]?.[1] ?? ""}${before === null || before === grade ? "" : ` (it was ${before})`}`);
    if (grade !== null && at === i) {
      const next = documents.findIndex((one, j) => j > i && one.grade === null);
      if (next >= 0) choose(next);
      else if (before === null && documents.every((one) => one.grade !== null || one.missing)) say("All documents of this query are judged. → goes to the next query");
    }
  }
  async function takeBack() {
    try {
      const undone = await post("/api/undo", { rater: asked.rater });
      if (!undone.undone) { say("Nothing to undo"); return; }
      if (undone.count > 1 || undone.undone.rater !== asked.rater) { gone = true; say(`Undone: ${plural(undone.count, "judgement that was imported", "judgements that were imported together")}`); app.go({}); return; }
      if (undone.undone.qid !== qid) { gone = true; app.go({ qid: undone.undone.qid }); return; }
      const i = documents.findIndex((one) => one.id === undone.undone.docid);
      if (i >= 0) { put(i, undone.current?.grade ?? null, undone.current?.note ?? ""); choose(i); }
      say("Undone");
    } catch (error) { say(error.message, true); }
  }
  function note() {
    if (!documents.length) return;
    const i = at;
    const area = h("textarea", { rows: 4, maxlength: 5000, "aria-label": "Note" });
    area.value = documents[i].note;
    const save = async () => {
      try {
        const { judgement } = await queue(() => post("/api/note", { rater: asked.rater, qid, docid: documents[i].id, note: area.value.trim() }));
        put(i, judgement.grade, judgement.note);
        box.close();
        say("Note saved");
      } catch (error) { say(error.message, true); }
    };
    const box = dialog(`Note on ${documents[i].title}`, area, h("div", { class: "controls" }, button("Save", save, { class: "main" }), h("span", { class: "note" }, "Ctrl+Enter saves")));
    area.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save(); });
    area.focus();
  }
  async function read() {
    if (!documents.length) return;
    try {
      const whole = await get("/api/document", { id: documents[at].id, qid });
      const box = dialog(whole.title, h("p", { class: "note" }, `For “${pool.query.text}”. `, h("kbd", null, "0"), "–", h("kbd", null, GRADES.length - 1), " grades it and closes."), h("dl", { class: "document" }, whole.fields.map((field) => [h("dt", null, field.name), h("dd", { class: field.kind }, marked(field.value))])));
      box.addEventListener("keydown", (event) => {
        const grade = gradeOf(event);
        if (grade === undefined || grade === null || event.repeat) return;
        event.preventDefault();
        event.stopPropagation(); // the page would grade the next document by the same key
        box.close();
        judge(grade);
      });
    } catch (error) { say(error.message, true); }
  }
  function help() {
    const lines = [["↑ ↓ or K J", "previous, next document"], [`0 – ${GRADES.length - 1}`, "grade, and on to the next one without a grade; also while reading it"], ["Backspace", "take the grade back"], ["U", "undo the last change, wherever it was"], ["N", "write a note"], ["Enter", "read the whole document"], ["← →", "previous, next query"]];
    dialog("Keys", h("dl", { class: "keys" }, lines.map(([key, effect]) => [h("dt", null, h("kbd", null, key)), h("dd", null, effect)])));
  }
  function other(step) {
    const next = plan.queries[where + step];
    if (next) { gone = true; hush(); app.go({ qid: next.qid }); }
    else say(step > 0 ? "This is the last query" : "This is the first query");
  }
  function keys(event) {
    if (typing(event)) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const inside = event.target.closest?.("button, a, summary");
    if (inside && (event.key === "Enter" || event.key === " ")) return;
    const grade = gradeOf(event);
    const acts = { ArrowDown: () => move(at + 1), j: () => move(at + 1), ArrowUp: () => move(at - 1), k: () => move(at - 1), Home: () => move(0), End: () => move(items.length - 1), u: takeBack, n: note, Enter: read, ArrowRight: () => other(1), ArrowLeft: () => other(-1), "?": help };
    const act = grade !== undefined ? () => record(grade) : acts[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    if (event.repeat && !/^(Arrow|[jk]$)/i.test(event.key)) return; // a key that is held down grades one document
    turn(() => (document.querySelector("dialog[open]") ? undefined : act()));
  }
}

/** Agreement, missing documents, import and export. */
function tools(app) {
  const raters = Object.entries(app.state.raters);
  const panel = h("div", { class: "panel", "aria-live": "polite" });
  const upload = h("input", { type: "file", "aria-label": "Judgements: qrels or CSV", onchange: load });
  const rater = select("rater", "of", [["", "all raters (median)"], ...raters.map(([name, count]) => [name, `${name} (${count})`])], "");
  const links = ["qrels", "csv", "letor"].map((form) => h("a", { href: `/export/${form}`, download: "", class: "button" }, { qrels: "qrels", csv: "CSV", letor: "LETOR with features" }[form]));
  rater.querySelector("select").addEventListener("change", (event) => { for (const [i, form] of ["qrels", "csv", "letor"].entries()) links[i].href = `/export/${form}${event.target.value ? `?rater=${encodeURIComponent(event.target.value)}` : ""}`; });
  return h("section", { class: "tools-panel", "aria-label": "Judgements" },
    h("div", { class: "controls" }, button("Agreement and conflicts", agreement), button("Relevant, but not found", missing), h("label", null, "Import ", upload)),
    h("div", { class: "controls" }, "Export ", links, rater), panel);

  async function load() {
    const file = upload.files[0];
    if (!file) return;
    try {
      const done = await post("/api/judgements/import", { rater: app.rater, text: await file.text(), name: file.name });
      say(`${plural(done.judgements, "judgement")} read`);
      app.go({});
    } catch (error) { say(error.message, true); }
    upload.value = "";
  }
  async function agreement() {
    try {
      const agreed = await get("/api/agreement");
      const shown = Object.entries(agreed.raters).map(([name, count]) => `${name} ${count}`).join(", ");
      replace(panel, h("h3", null, "Agreement"), h("p", null, shown ? `Graded documents: ${shown}. ` : "Nobody has graded anything yet. ", agreed.alpha === null ? "No document was graded by two raters with different grades in use." : `Krippendorff's alpha ${number(agreed.alpha)} (1 is full agreement, 0 chance).`),
        agreed.pairs.length ? table("Pairs of raters", ["raters", "both graded", "same grade", "weighted kappa"], agreed.pairs.map((pair) => [`${pair.a}, ${pair.b}`, pair.n, `${Math.round(100 * pair.same)} %`, number(pair.kappa)])) : null,
        agreed.conflicts.length ? table(`Conflicts (${agreed.conflicts.length})`, ["query", "document", "grades", "notes"], agreed.conflicts.map((one) => [h("a", { href: app.link({ view: "judge", set: app.params.get("set"), qid: one.qid, others: "1" }) }, one.text), one.docid, Object.entries(one.grades).map(([name, grade]) => [name, " ", badge(grade), " "]), Object.entries(one.notes).map(([name, text]) => `${name}: ${text} `)])) : agreed.pairs.length ? h("p", { class: "note" }, "No conflicts.") : null);
    } catch (error) { say(error.message, true); }
  }
  async function missing() {
    const set = app.params.get("set") ?? app.state.sets[0]?.name;
    if (!set) { say("There is no query set"); return; }
    try {
      const report = await get("/api/missing", { set });
      replace(panel, h("h3", null, "Relevant, but not found"), report.total ? table(`Relevant documents that are not among the first 20 (${report.total})`, ["query", "document", "grade", "missed by"], report.missing.slice(0, 200).map((one) => [h("a", { href: app.link({ qid: one.qid, q: app.state.source.searchable ? one.text : null }) }, one.text), one.docid, badge(one.label), one.absent.join(", ")])) : h("p", null, "Every relevant document is among the first 20 of every ranker."));
    } catch (error) { say(error.message, true); }
  }
}
