// Snapshots: results frozen, to compare any number of them later.

import { get, post } from "./api.js";
import { button, h, replace, say, select, table } from "./dom.js";

export const title = "Snapshots";

export async function render(main, app, current) {
  const { sets, columns } = app.state;
  const { snapshots } = await get("/api/snapshots");
  if (!current()) return;
  const live = columns.filter((c) => c.kind !== "snapshot").map((c) => c.name);
  replace(main, h("h1", null, "Snapshots"), h("p", { class: "note" }, "A snapshot keeps the results of a ranker on a query set. Later results, and other snapshots, can be compared with it."), sets.length ? form() : h("p", null, "Import a query set first: ", h("a", { href: app.link({ view: "queries" }) }, "Queries"), "."), snapshots.length ? list() : null);

  function form() {
    const name = h("input", { name: "name", required: true, maxlength: 100, autocomplete: "off" });
    const column = select("column", "Ranker", live, live[0]), set = select("set", "Query set", sets.map((one) => one.name), sets[0].name);
    const send = async (event) => {
      event.preventDefault();
      try {
        await post("/api/snapshots", { name: name.value, column: column.querySelector("select").value, set: set.querySelector("select").value });
        await app.go({});
        say("Snapshot taken");
      } catch (error) { say(error.message, true); }
    };
    return h("form", { class: "controls", onsubmit: send }, column, set, h("label", null, "Name ", name), h("button", { class: "main" }, "Take a snapshot"));
  }

  function list() {
    const checks = snapshots.map((one) => h("input", { type: "checkbox", value: one.name, checked: true, "aria-label": `Compare ${one.name}` }));
    const now = live.map((name) => h("label", { class: "check" }, h("input", { type: "checkbox", value: name, checked: name === snapshots.at(-1).ranker }), name));
    const compare = () => {
      const picked = checks.filter((box) => box.checked).map((box) => box.value);
      const kept = snapshots.filter((one) => picked.includes(one.name));
      const c = [...kept.map((one) => `snapshot: ${one.name}`), ...now.map((label) => label.firstChild).filter((box) => box.checked).map((box) => box.value)];
      if (c.length < 2) { say("Choose at least two", true); return; }
      app.go({ view: "queries", set: kept[0]?.set_name ?? sets[0].name, c }, { fresh: true });
      scrollTo(0, 0);
    };
    const rows = snapshots.map((one, i) => [checks[i], h("td", null, one.name), h("td", null, one.ranker), h("td", null, one.set_name), h("td", null, new Date(1000 * one.time).toLocaleString()), h("td", null, button("Remove", async () => { if (confirm(`Remove the snapshot ${one.name}?`)) { await post("/api/snapshots/remove", { name: one.name }); app.go({}); } }, { class: "small", "aria-label": `Remove ${one.name}` }))]);
    for (const row of rows) row[0] = h("td", null, row[0]);
    return h("div", null, table("Snapshots", ["compare", "name", "ranker", "query set", "taken", h("th", null, h("span", { class: "hide" }, "remove"))], rows), h("fieldset", { class: "inline" }, h("legend", null, "Together with what rankers find now"), now), h("div", { class: "controls" }, button("Compare", compare, { class: "main" })));
  }
}
