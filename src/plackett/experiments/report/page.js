"use strict";
(() => {
  const data = JSON.parse(document.getElementById("report-data").textContent);
  const root = document.documentElement;
  const narrow = matchMedia("(max-width: 640px)");
  const systemDark = matchMedia("(prefers-color-scheme: dark)");
  const quiet = { responsive: true, displaylogo: false, displayModeBar: false };
  const PRINT_WIDTH = 680;
  let printing = false;

  // ------------------------------------------------------------------------------------------------------- themes

  let forced = null; // what the switch says; null follows the system
  const isDark = () => !printing && (forced === null ? systemDark.matches : forced === "dark");

  function applyTheme() {
    root.classList.toggle("dark", isDark());
    const button = document.getElementById("theme");
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-pressed", String(isDark()));
  }

  // ------------------------------------------------------------------------------------------------------ figures

  /** A copy in which names of colours (--s0) have become the colours of the present theme. */
  function resolved(value, key, colour) {
    if (Array.isArray(value)) return value.map((entry) => resolved(entry, key, colour));
    if (value !== null && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, resolved(entry, name, colour)]));
    }
    return typeof value === "string" && value.startsWith("--") && /colou?r$/.test(key) ? colour(value) : value;
  }

  /** Words in lines of so many characters. */
  function wrapped(text, width) {
    const lines = [""];
    for (const word of text.split(" ")) {
      if ((lines.at(-1) + word).length > width) lines.push("");
      lines[lines.length - 1] += (lines.at(-1) ? " " : "") + word;
    }
    return lines.join("<br>");
  }

  function draw(name, figure) {
    const box = document.getElementById(name);
    if (!box || box.closest("details:not([open])")) return;
    const style = getComputedStyle(root);
    const family = getComputedStyle(document.body).fontFamily; // the root element has the browser's own, a serif
    const colour = (token) => style.getPropertyValue(token).trim();
    const traces = resolved(figure.data, "", colour);
    const layout = resolved(figure.layout, "", colour);
    const small = narrow.matches && !printing;
    if (small && (layout.annotations || []).some((a) => a.name === "end")) {
      layout.annotations = layout.annotations.filter((a) => a.name !== "end");
      layout.showlegend = true;
      layout.margin.r = 16;
    }
    if (small) {
      for (const axis of [layout.xaxis, layout.yaxis]) axis.title.text = wrapped(axis.title.text, 36);
    }
    Object.assign(layout, {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family, size: small ? 11 : 13, color: colour("--ink") },
      hoverlabel: { bgcolor: colour("--panel"), bordercolor: colour("--line"), font: { color: colour("--ink") }, align: "left" },
    });
    if (printing) layout.width = PRINT_WIDTH;
    Plotly.react(box, traces, layout, quiet);
  }

  function drawAll() {
    applyTheme();
    for (const [name, figure] of Object.entries(data.figures)) draw(name, figure);
    if (data.browser) drawPair();
  }

  // ------------------------------------------------------------------------------------------------------- tables

  /** The first number of a cell; NaN where there is none. */
  function number(text) {
    const found = text.replace(/\u2212/g, "-").replace(/,(?=\d{3}\b)/g, "").match(/[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?/i);
    return found ? parseFloat(found[0]) : NaN;
  }

  function sortBy(header) {
    const table = header.closest("table");
    const headers = [...table.tHead.rows[0].cells];
    const column = headers.indexOf(header);
    const numeric = header.classList.contains("right");
    const before = header.getAttribute("aria-sort");
    const direction = before === "none" ? (numeric ? "descending" : "ascending") : before === "ascending" ? "descending" : "ascending";
    headers.forEach((other) => other.setAttribute("aria-sort", other === header ? direction : "none"));
    const sign = direction === "ascending" ? 1 : -1;
    const text = (row) => (row.cells[column].childNodes[0] || row.cells[column]).textContent;
    const compare = numeric
      ? (a, b) => {
          const [x, y] = [number(text(a)), number(text(b))];
          if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y); // missing ones last
          return sign * (x - y);
        }
      : (a, b) => sign * text(a).localeCompare(text(b), undefined, { numeric: true });
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort(compare));
  }

  // --------------------------------------------------------------------------------------------- query by query

  const form = document.getElementById("browser");
  const chosen = (name) => Number(form.elements[name].value);

  function fill(name, entries, selected) {
    const list = form.elements[name];
    list.replaceChildren(...entries.map((entry, i) => new Option(entry, i, false, i === selected)));
    list.parentElement.hidden = entries.length < 2;
  }

  function fillControls() {
    const set = data.browser.datasets[chosen("dataset")];
    fill("measure", set.measures.map((m) => m.name), 0);
    fill("a", set.rankers, set.start[0]);
    fill("b", set.rankers, set.start[1]);
  }

  function element(tag, text, attributes = {}) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  const escaped = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const signed = (x, digits = 4) => (x < 0 ? "\u2212" : "+") + Math.abs(x).toFixed(digits);

  function drawPair() {
    const set = data.browser.datasets[chosen("dataset")];
    const [m, a, b] = [chosen("measure"), chosen("a"), chosen("b")];
    const { name, sign } = set.measures[m];
    const [ours, theirs] = [set.values[m][a], set.values[m][b]];
    const rows = set.qids
      .map((qid, q) => ({ qid, q, x: ours[q], y: theirs[q], d: sign * (ours[q] - theirs[q]) }))
      .filter((row) => row.x !== null && row.y !== null)
      .sort((one, other) => other.d - one.d || one.q - other.q);
    const fold = (q) => (set.folds ? `, fold ${escaped(set.folds[q])}` : "");
    const bars = {
      type: "bar",
      x: rows.map((_, i) => i + 1),
      y: rows.map((row) => row.d),
      marker: { color: rows.map((row) => (row.d >= 0 ? "--gain" : "--loss")), line: { width: 0 } },
      hovertext: rows.map(
        (row) => `query ${escaped(row.qid)}${fold(row.q)}<br>A ${row.x.toFixed(4)}, B ${row.y.toFixed(4)}<br>difference ${signed(row.d)}`,
      ),
      hoverinfo: "text",
    };
    const line = { gridcolor: "--grid", linecolor: "--line", zerolinecolor: "--ink", tickcolor: "--line", automargin: true };
    const better = (text, y, colour) => ({
      text, x: y > 0.5 ? 1 : 0, y, xref: "paper", yref: "paper", xanchor: y > 0.5 ? "right" : "left", showarrow: false, font: { color: colour },
    });
    draw("pair-bars", {
      data: [bars],
      layout: {
        height: 340,
        bargap: rows.length > 300 ? 0 : 0.1,
        margin: { l: 60, r: 20, t: 16, b: 50 },
        hovermode: "closest",
        xaxis: { ...line, title: { text: "query, sorted by difference", standoff: 8 } },
        yaxis: { ...line, title: { text: `${escaped(name)}, A \u2212 B${sign < 0 ? " (sign turned: small is good)" : ""}`, standoff: 8 } },
        annotations: [
          better(`above zero: ${escaped(set.short[a])} is better`, 0.98, "--gain"),
          better(`below zero: ${escaped(set.short[b])} is better`, 0.03, "--loss"),
        ],
      },
    });
    summarise(set, name, sign, a, b, rows);
    drawLists(set, name, a, b, rows);
  }

  function summarise(set, name, sign, a, b, rows) {
    const words = [];
    if (a === b) {
      words.push("A and B are the same ranker: choose two.");
    } else {
      const turned = a > b;
      const stored = (set.pairs[turned ? `${b}-${a}` : `${a}-${b}`] || []).find((entry) => entry.measure === name);
      if (stored) {
        const [wins, losses] = turned ? [stored.losses, stored.wins] : [stored.wins, stored.losses];
        const difference = sign * (turned ? -stored.difference : stored.difference);
        const p = (value) => (value < 0.0001 ? "< 0.0001" : `= ${Number(value.toPrecision(2))}`);
        const corrected = stored.family ? `; with Holm's correction over ${stored.family} p ${p(stored.p_corrected)}` : "";
        words.push(`A is better on ${wins} queries, worse on ${losses} and equal on ${stored.ties}.`);
        words.push(`Mean difference ${signed(difference)}: ${stored.significant ? "" : "not "}significant (Fisher's randomisation test: p ${p(stored.p)}${corrected}).`);
      }
      if (set.n_queries > set.qids.length) {
        words.push(`Bars: ${set.qids.length} of ${set.n_queries} queries, those with the largest differences among them.`);
      }
    }
    document.getElementById("pair-summary").textContent = words.join(" ");
  }

  function drawLists(set, name, a, b, rows) {
    const place = document.getElementById("pair-lists");
    place.replaceChildren();
    if (a === b) return;
    const withLists = rows.filter((row) => set.lists[row.q]);
    const groups = [
      ["Queries that A wins by most", withLists.filter((row) => row.d > 0).slice(0, 3)],
      ["Queries that A loses by most", withLists.filter((row) => row.d < 0).slice(-3).reverse()],
    ];
    for (const [title, group] of groups) {
      if (!group.length) continue;
      place.append(element("h3", title));
      for (const row of group) {
        const list = set.lists[row.q];
        const where = set.folds ? ` (fold ${set.folds[row.q]})` : "";
        place.append(element("h4", `Query ${row.qid}${where}: ${name} ${row.x.toFixed(4)} against ${row.y.toFixed(4)}, ${list.n} documents`));
        const both = element("div", undefined, { class: "lists" });
        both.append(listTable(set, list, a, b, "A"), listTable(set, list, b, a, "B"));
        place.append(both);
      }
    }
  }

  /** One list: position, document, label, score, and where the other ranker has the document. */
  function listTable(set, list, ranker, other, letter) {
    const table = element("table");
    table.append(element("caption", `${letter}: ${set.rankers[ranker]}`));
    const head = table.createTHead().insertRow();
    const columns = [["#", ""], ["document", ""], ["label", "grade right"], ["score", "score right"], [`in ${letter === "A" ? "B" : "A"}`, "other right"]];
    for (const [text, kind] of columns) head.append(element("th", text, { scope: "col", class: kind || "left" }));
    const body = table.createTBody();
    const there = new Map(list.orders[other].map(([doc], i) => [doc, i + 1]));
    list.orders[ranker].forEach(([doc, score], i) => {
      const row = body.insertRow();
      const [document_, label] = list.docs[doc];
      const grade = element("td", undefined, { class: "grade right" });
      grade.append(element("span", String(label), label > 0 ? { class: "relevant" } : {}));
      row.append(
        element("th", String(i + 1), { scope: "row", class: "left" }),
        element("td", document_, { title: document_ }),
        grade,
        element("td", score === null ? "\u2013" : score.toPrecision(3).replace("-", "\u2212"), { class: "right" }),
        element("td", there.has(doc) ? String(there.get(doc)) : `> ${list.orders[other].length}`, { class: "right" }),
      );
    });
    const holder = element("div");
    holder.append(table);
    return holder;
  }

  // -------------------------------------------------------------------------------------------------------- begin

  document.querySelectorAll("table.sortable thead th button").forEach((button) => {
    button.addEventListener("click", () => sortBy(button.closest("th")));
  });
  document.getElementById("theme").addEventListener("click", () => {
    forced = isDark() ? "light" : "dark";
    drawAll();
  });
  systemDark.addEventListener("change", drawAll);
  narrow.addEventListener("change", drawAll);
  addEventListener("beforeprint", () => { printing = true; drawAll(); });
  addEventListener("afterprint", () => { printing = false; drawAll(); });
  if (data.browser) {
    fill("dataset", data.browser.datasets.map((set) => set.name), 0);
    fillControls();
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("change", (event) => {
      if (event.target.name === "dataset") fillControls();
      drawPair();
    });
  }
  drawAll();
})();
