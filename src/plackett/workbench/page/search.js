// Search: one to five rankers side by side.

import { get, post } from "./api.js";
import { button, dialog, h, marked, plural, replace, s, say, score, select, soft } from "./dom.js";
import { explain } from "./explain.js";
import { GRADES, badge, gradeOf, inTurn, typing } from "./grades.js";

export const title = "Search";

/** Whether the options below the box are shown; remembered while the page is open. */
let opened = false;

/** Ranks up to which lines between columns are drawn. */
const LINES = 30;

/** Results of a column that are made at once after the first ones, when the page is scrolled near to them. */
const SLICE = 20;

/** What a result takes in height, about, with its margin: room is kept for those that are not made yet. */
const HEIGHT = 126;

export async function render(main, app, current) {
  const params = app.params;
  const { source, columns: known, sets } = app.state;
  const chosen = params.getAll("c").filter((name) => known.some((c) => c.name === name)).slice(0, 5);
  const usual = known.filter((c) => c.kind !== "snapshot").slice(0, 2).map((c) => c.name);
  const names = chosen.length ? chosen : usual;
  const k = Math.min(Math.max(Number(params.get("k")) || 20, 1), 1000);
  const q = params.get("q") ?? "", qid = params.get("qid") ?? "", filters = params.get("f") ?? "";
  const setName = params.get("set") ?? sets[0]?.name ?? "";
  const results = h("div", { id: "results", "aria-live": "off" });
  const side = h("aside", { class: "side", "aria-label": "Queries" });
  const mine = h("div", { class: "with-side" }, side, h("div", { class: "content" }, form(), results));
  const asked = q || qid;
  if (!main.querySelector("#results")) replace(main, h("h1", { class: "hide" }, "Search"), mine);
  const answering = asked ? get("/api/search", { q, qid, columns: names, k, filters }) : Promise.resolve(null);
  const queriesOf = setName ? get("/api/queries", { name: setName }).catch(() => null) : Promise.resolve(null);
  const [answer, list] = await Promise.all([answering, queriesOf]);
  if (!current()) return undefined;
  const focused = document.activeElement?.id;
  replace(main, h("h1", { class: "hide" }, "Search"), mine);
  sidebar(list);
  if (!answer) { replace(results, welcome(list)); main.querySelector("#q")?.focus(); return undefined; }
  const stop = show(answer);
  if (focused && focused !== "main") document.getElementById(focused)?.focus();
  return stop;

  function form() {
    const box = source.searchable
      ? h("input", { id: "q", name: "q", type: "search", value: q || "", placeholder: `Search ${source.documents.toLocaleString("en")} documents`, "aria-label": "Query", autocomplete: "off", spellcheck: "false" })
      : h("input", { id: "q", name: "q", type: "search", value: qid || q, placeholder: "Query id", "aria-label": "Query id", autocomplete: "off" });
    const checks = known.map((c) => h("label", { class: "check", title: c.about }, h("input", { type: "checkbox", name: "c", value: c.name, checked: names.includes(c.name) }), c.name));
    const filter = source.fields.length ? h("label", { class: "grow" }, "Filters ", h("input", { name: "f", id: "f", value: filters, placeholder: example(source.fields), autocomplete: "off", spellcheck: "false" })) : null;
    const more = h("details", { class: "options", open: opened, ontoggle: (event) => { opened = event.target.open; } },
      h("summary", null, `Rankers: ${names.join(", ")} · ${k} results${filters ? ` · ${filters}` : ""}`),
      h("fieldset", null, h("legend", null, "Rankers side by side (up to five)"), h("div", { class: "checks" }, checks)),
      h("div", { class: "controls" }, select("k", "Results", [10, 20, 50, 100, 200, 500, 1000].includes(k) ? [10, 20, 50, 100, 200, 500, 1000] : [k, 10, 20, 50, 100, 1000], k), filter,
        source.kind === "runs" ? null : h("label", null, source.kind === "index" ? "Add a retrieval model " : "Add a feature ", h("input", { name: "add", placeholder: source.kind === "index" ? "BM25F, RM3(n_terms=20), …" : "name or number", autocomplete: "off" }))));
    const element = h("form", { role: "search", class: "search", onsubmit: submit }, h("div", { class: "line" }, box, h("button", { class: "main" }, "Search")), more);
    for (const input of element.querySelectorAll('[name="c"], select')) input.addEventListener("change", () => element.requestSubmit());
    return element;

    async function submit(event) {
      event.preventDefault();
      const data = new FormData(element);
      const picked = data.getAll("c");
      if (picked.length > 5) { say("At most five rankers fit side by side", true); return; }
      const added = (data.get("add") ?? "").trim();
      if (added) {
        try { picked.push((await post("/api/columns", { ranker: added })).name); } catch (error) { say(error.message, true); return; }
      }
      const text = (data.get("q") ?? "").trim();
      const same = qid && text === (element.dataset.text ?? q);
      app.go({ view: null, q: source.searchable ? text : null, qid: source.searchable ? (same ? qid : null) : text, c: picked.length && picked.join("\n") !== usual.join("\n") ? picked.slice(-5) : null, k: Number(data.get("k")) === 20 ? null : data.get("k"), f: data.get("f") || null });
    }
  }

  function sidebar(list) {
    if (!list) { side.remove(); mine.className = ""; return; }
    const links = list.queries.map((query) => h("li", null, h("a", { href: app.link({ qid: query.qid, q: source.searchable ? query.text : null, c: params.getAll("c"), set: params.get("set"), f: filters }), "aria-current": query.qid === (answerQid() ?? qid) ? "true" : undefined }, h("span", null, query.text || query.qid), query.judged ? h("small", { title: `${query.judged} judged documents` }, query.judged) : null)));
    const pick = select("set", "Query set", sets.map((one) => [one.name, `${one.name} (${one.queries})`]), setName, (event) => app.go({ set: event.target.value }));
    replace(side, h("details", { open: matchMedia("(min-width: 60rem)").matches }, h("summary", null, "Queries"), pick, h("ol", { class: "queries" }, links)));
    side.querySelector('[aria-current="true"]')?.scrollIntoView({ block: "nearest" });
  }
  function answerQid() { return answer?.query.qid; }

  function welcome(list) {
    return h("div", { class: "welcome" }, h("h2", null, source.title), h("p", null, `${plural(source.documents, "document")}, ${plural(known.length, "ranker")}. `, source.searchable ? "Type a query, or choose one on the left." : "Choose a query on the left."),
      source.searchable ? h("p", { class: "note" }, "Words, \"phrases\", +required, -excluded, AND, OR, NOT", source.fields.length ? `, field:word, and filters such as ${example(source.fields)}` : "", ".") : null,
      list ? null : h("p", { class: "note" }, "Import a query set under Queries to measure and to judge."));
  }

  function show(answer) {
    const ranks = answer.columns.map((column) => new Map(column.ids.map((id, i) => [id, i + 1])));
    const cards = new Map(Object.entries(answer.cards));
    const labels = new Map(Object.entries(answer.labels));
    let query = answer.query;
    let first = null;
    main.querySelector("form.search").dataset.text = query.text;
    if (qid && !q && source.searchable) main.querySelector("#q").value = query.text;
    const grid = h("div", { class: "columns", style: { "--n": String(answer.columns.length) } });
    const lines = s("svg", { class: "lines", "aria-hidden": "true" });
    const waiting = new Set();
    const made = new Map(); // the elements of each document
    const turn = inTurn();
    let asking = 0;
    const observer = new IntersectionObserver((entries) => {
      for (const entry of entries) if (entry.isIntersecting && !cards.has(entry.target.dataset.id)) waiting.add(entry.target.dataset.id);
      if (waiting.size && !asking) asking = setTimeout(load, 60);
    }, { rootMargin: "600px" });
    const nearing = new IntersectionObserver((entries) => {
      const [first, ...others] = entries.filter((entry) => entry.isIntersecting).map((entry) => entry.target);
      if (first) lists[first.dataset.column].grow();
      for (const rest of others) { nearing.unobserve(rest); nearing.observe(rest); } // their turn is the next frame
    }, { rootMargin: "1500px" });
    /** One per column: grow() makes the next slice of its results, upTo(rank) all up to a rank. */
    const lists = [];

    /** The list of a column, which grows. */
    function listOf(column, number) {
      const rest = h("li", { class: "rest", "aria-hidden": "true", dataset: { column: number } });
      const element = h("ol", null, rest);
      let count = 0;
      const grow = () => {
        const ids = column.ids.slice(count, count + (count ? SLICE : LINES));
        rest.before(...ids.map((id, i) => result(column, number, id, count + i)));
        count += ids.length;
        nearing.unobserve(rest);
        if (count === column.ids.length) { rest.remove(); return; }
        rest.style.setProperty("height", `${(column.ids.length - count) * HEIGHT}px`);
        nearing.observe(rest); // reports again whether it is near
      };
      lists[number] = { grow, upTo: (rank) => { while (count < Math.min(rank, column.ids.length)) grow(); } };
      grow();
      return element;
    }

    async function load() {
      const ids = [...waiting].slice(0, 40);
      for (const id of ids) waiting.delete(id);
      try {
        const more = await get("/api/cards", { ids, q: query.text, qid: query.qid ?? "" });
        for (const [id, card] of Object.entries(more.cards)) cards.set(id, card);
        for (const id of Object.keys(more.cards)) for (const item of made.get(id) ?? []) if (item.classList.contains("bare")) { item.classList.remove("bare"); dress(item); }
      } catch (error) { say(error.message, true); }
      asking = waiting.size ? setTimeout(load, 60) : 0;
    }

    function dress(item) {
      const card = cards.get(item.dataset.id);
      const fields = Object.entries(card.fields ?? {}).slice(0, 4).map(([name, value]) => h("span", null, `${name}: ${value}`));
      replace(item.querySelector(".title"), soft(card.title));
      replace(item.querySelector(".snippet"), marked(card.snippet));
      replace(item.querySelector(".fields"), fields);
    }

    /** Whether a result has the score of the one before or after it. */
    const tied = (scores, i) => i >= 0 && (scores[i] === scores[i - 1] || scores[i] === scores[i + 1]);

    function result(column, number, id, i) {
      const before = number ? ranks[number - 1].get(id) : null;
      const step = !number ? null : before === undefined ? h("span", { class: "step new", title: `not among the first ${k} of ${answer.columns[number - 1].name}` }, "new") : before === i + 1 ? h("span", { class: "step same", title: "the same rank" }, "=") : h("span", { class: before > i + 1 ? "step up" : "step down", title: `rank ${before} in ${answer.columns[number - 1].name}` }, `${before > i + 1 ? "▲" : "▼"}${Math.abs(before - i - 1)}`);
      const item = h("li", { class: cards.has(id) ? "result" : "result bare", dataset: { id, column: number, rank: i + 1 }, onmouseenter: () => light(id), onmouseleave: () => light(null), onfocusin: () => light(id) },
        h("div", { class: "row" }, h("span", { class: "rank" }, i + 1), h("button", { type: "button", class: "title", onclick: () => open(id) }, soft(id)), step, h("span", { class: "slot" }, badge(labels.get(id)))),
        h("p", { class: "snippet" }), h("p", { class: "fields" }),
        h("div", { class: "row tools" }, h("span", { class: "score", title: "score" }, score(column.scores[i]), tied(column.scores, i) ? h("span", { class: "tied", title: "Other results have the same score. The list shows one order of them; measures take the mean over all orders." }, " tied") : null),
          button("Why?", () => why(column.name, id), { class: "small", "aria-label": `Why? Explain the rank of ${id}` }),
          button("A/B", () => pick(column.name, id), { class: "small", "aria-label": `A/B: compare ${id} with another document`, title: "Choose two documents of a column: why is one above the other?" })));
      if (cards.has(id)) dress(item); else observer.observe(item);
      if (made.has(id)) made.get(id).push(item); else made.set(id, [item]);
      return item;
    }

    for (const [number, column] of answer.columns.entries()) {
      const head = h("div", { class: "head" }, h("h2", { id: `column-${number}` }, column.name), h("span", { class: "note", title: known.find((c) => c.name === column.name)?.about }, column.error ? "" : `${plural(column.ids.length, "document")}, ${column.milliseconds < 10 ? column.milliseconds.toFixed(1) : Math.round(column.milliseconds)} ms`));
      const list = column.error ? h("p", { class: "error", role: "alert" }, column.error) : column.ids.length ? listOf(column, number) : h("p", { class: "note" }, "Nothing found.");
      grid.append(h("section", { class: "column", "aria-labelledby": `column-${number}` }, head, list));
    }
    const overlap = answer.overlap.map((pair) => h("li", null, h("b", null, pair.a), " and ", h("b", null, pair.b), `: ${pair.common} in common`, pair.rbo === null ? "" : [", ", h("abbr", { title: "rank-biased overlap, p = 0.9: 1 is the same list, 0 nothing in common" }, "RBO"), ` ${pair.rbo.toFixed(3)}`]));
    replace(results, overlap.length ? h("ul", { class: "overlap", "aria-label": "Overlap" }, overlap) : null, h("p", { class: "note keys" }, "Keys on a result: ", h("kbd", null, "↑↓←→"), " move, ", h("kbd", null, "0"), "–", h("kbd", null, GRADES.length - 1), " judge, ", h("kbd", null, "U"), " undo, ", h("kbd", null, "E"), " explain, ", h("kbd", null, "Enter"), " open."), h("div", { class: "lists" }, lines, grid));
    if (overlap.length > 3) results.querySelector(".overlap").classList.add("many");

    let lit = [];
    function light(id) {
      for (const item of lit) item.classList.remove("lit");
      lit = id === null ? [] : [...(made.get(id) ?? []), ...lines.querySelectorAll(`[data-id="${CSS.escape(id)}"]`)];
      for (const item of lit) item.classList.add("lit");
    }

    const sections = [...grid.querySelectorAll(".column")];
    const leading = [...grid.querySelectorAll(`li.result:nth-child(-n+${LINES})`)];
    function draw() {
      drawing = 0;
      const frame = grid.getBoundingClientRect();
      const flat = sections.length > 1 && sections.every((section) => Math.abs(section.getBoundingClientRect().top - sections[0].getBoundingClientRect().top) < 2) && grid.scrollWidth <= grid.clientWidth + 1;
      lines.replaceChildren();
      lines.toggleAttribute("hidden", !flat);
      if (!flat) return;
      lines.setAttribute("width", frame.width);
      lines.setAttribute("height", Math.max(...leading.map((item) => item.getBoundingClientRect().bottom)) - frame.top);
      for (let i = 0; i + 1 < sections.length; i++) {
        const right = new Map(leading.filter((item) => Number(item.dataset.column) === i + 1).map((item) => [item.dataset.id, item]));
        for (const item of leading.filter((one) => Number(one.dataset.column) === i)) {
          const other = right.get(item.dataset.id);
          if (!other) continue;
          const a = item.getBoundingClientRect(), b = other.getBoundingClientRect();
          const x1 = a.right - frame.left, y1 = a.top - frame.top + 18, x2 = b.left - frame.left, y2 = b.top - frame.top + 18;
          const rise = Number(item.dataset.rank) - Number(other.dataset.rank);
          lines.append(s("path", { d: `M${x1} ${y1}C${(x1 + x2) / 2} ${y1} ${(x1 + x2) / 2} ${y2} ${x2} ${y2}`, class: rise > 0 ? "up" : rise < 0 ? "down" : "same", "data-id": item.dataset.id }));
        }
      }
    }
    // Lists grow and results settle while the page is scrolled; lines depend on the first results only.
    let drawing = 0;
    const resized = new ResizeObserver(() => { drawing ||= requestAnimationFrame(draw); });
    for (const item of answer.columns.length > 1 ? leading : []) resized.observe(item);

    function why(column, a, b = null) {
      explain(app, { column, a, b, q: query.text, qid: query.qid ?? "", k: Math.max(k, 100), filters });
    }
    function pick(column, id) {
      if (first && first.column === column && first.id !== id) { const a = first.id; clear(); why(column, a, id); return; }
      clear();
      first = { column, id };
      for (const item of made.get(id)) if (answer.columns[item.dataset.column].name === column) item.classList.add("picked");
      say(`A is ${cards.get(id)?.title ?? id}; now choose B in the same column`);
    }
    function clear() {
      first = null;
      for (const item of grid.querySelectorAll(".picked")) item.classList.remove("picked");
    }
    async function open(id) {
      try {
        const whole = await get("/api/document", { id, q: query.text, qid: query.qid ?? "" });
        dialog(whole.title, h("p", { class: "note" }, `id ${whole.id}`), whole.judgements.length ? h("p", null, "Judged: ", whole.judgements.map((one) => [" ", h("b", null, one.rater), " ", badge(one.grade), one.note ? ` “${one.note}”` : ""])) : null,
          h("dl", { class: "document" }, whole.fields.map((field) => [h("dt", null, field.name), h("dd", { class: field.kind }, marked(field.value))])),
          whole.links?.length ? h("p", { class: "note" }, `Links to: ${whole.links.join(", ")}`) : null);
      } catch (error) { say(error.message, true); }
    }
    async function judge(id, grade) {
      try {
        const done = await post("/api/judge", { rater: app.rater, docid: id, grade, q: query.text, qid: query.qid ?? "" });
        query = done.query;
        relabel(id, done.label);
        const all = done.label === null || done.label === grade ? "" : `; with other judgements ${done.label}`;
        say((grade === null ? `Grade of ${id} removed` : `${id}: ${grade}`) + all);
      } catch (error) { say(error.message, true); }
    }
    function relabel(id, label) {
      if (label === null) labels.delete(id); else labels.set(id, label);
      for (const item of made.get(id) ?? []) replace(item.querySelector(".slot"), badge(labels.get(id)));
    }
    async function undo() {
      const done = await post("/api/undo", { rater: app.rater });
      if (!done.undone) { say("Nothing to undo"); return; }
      if (done.count > 1) { say(`Undone: ${done.count} judgements that were imported together`); app.go({}); return; }
      if (done.undone.qid === query.qid) relabel(done.undone.docid, done.label);
      say(`Undone: ${done.undone.docid}`);
    }

    function keys(event) {
      if (typing(event) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "/") { event.preventDefault(); main.querySelector("#q")?.focus(); return; }
      if (event.key === "u" || event.key === "U") { if (!event.repeat) turn(undo).catch((error) => say(error.message, true)); return; }
      const item = document.activeElement?.closest?.("li.result") ?? null;
      const moves = { ArrowDown: [0, 1], ArrowUp: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
      if (event.key in moves) {
        const [dx, dy] = moves[event.key];
        if (!item && dx) return;
        const at = item ? [Number(item.dataset.column) + dx, Number(item.dataset.rank) + dy] : [0, 1];
        lists[at[0]]?.upTo(at[1]);
        const items = [...grid.querySelectorAll(`li.result[data-column="${at[0]}"]`)];
        const next = items[Math.min(at[1], items.length) - 1];
        if (next) { event.preventDefault(); next.querySelector(".title").focus({ preventScroll: true }); next.scrollIntoView({ block: "nearest", inline: "nearest" }); }
        return;
      }
      if (!item) return;
      const grade = gradeOf(event);
      if (grade !== undefined) { event.preventDefault(); if (!event.repeat) turn(() => judge(item.dataset.id, grade)); }
      else if (event.key === "e" || event.key === "E") why(answer.columns[item.dataset.column].name, item.dataset.id);
    }
    document.addEventListener("keydown", keys);
    return () => { document.removeEventListener("keydown", keys); resized.disconnect(); observer.disconnect(); nearing.disconnect(); clearTimeout(asking); };
  }
}

function example(fields) {
  const of = (kind) => fields.find((field) => field.kind === kind)?.name;
  if (of("number")) return `${of("number")}:>=10`;
  if (of("keyword")) return `${of("keyword")}:value`;
  return `${fields[0].name}:word`;
}
