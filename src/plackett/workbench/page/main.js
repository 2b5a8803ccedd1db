// The frame: views, the address that holds the state of the page, rater and theme.

import { get } from "./api.js";
import { h, hush, replace, say } from "./dom.js";
import { setGrades } from "./grades.js";
import * as search from "./search.js";
import * as judge from "./judge.js";
import * as queries from "./queries.js";
import * as snapshots from "./snapshots.js";
import * as train from "./train.js";

const VIEWS = { search, judge, queries, snapshots, train };
const main = document.getElementById("main");
let leave = null;
let turn = 0;

const remembered = (key) => { try { return localStorage.getItem(key) ?? ""; } catch { return ""; } };
const remember = (key, value) => { try { localStorage.setItem(key, value); } catch { /* private mode */ } };

export const app = {
  state: null,
  get rater() { return document.getElementById("rater").value.trim() || "me"; },
  /** The state of the page, from its address. */
  get params() { return new URLSearchParams(location.search); },
  async refresh() { app.state = await get("/api/state"); setGrades(app.state.grades); return app.state; },
  /** Change the state: names with null are removed. */
  go(changes, { replaced = false, fresh = false } = {}) {
    const params = fresh ? new URLSearchParams() : app.params;
    params.delete("token");
    for (const [name, value] of Object.entries(changes)) {
      params.delete(name);
      for (const one of Array.isArray(value) ? value : [value]) if (one !== null && one !== undefined && one !== "") params.append(name, one);
    }
    const address = "?" + params.toString();
    if (address !== location.search) history[replaced ? "replaceState" : "pushState"](null, "", address);
    return show();
  },
  /** The address of a state, for links. */
  link(changes) {
    const params = new URLSearchParams();
    for (const [name, value] of Object.entries(changes)) for (const one of Array.isArray(value) ? value : [value]) if (one !== null && one !== undefined && one !== "") params.append(name, one);
    return "?" + params.toString();
  },
};

export async function show() {
  const mine = ++turn;
  const name = Object.hasOwn(VIEWS, app.params.get("view")) ? app.params.get("view") : "search";
  for (const link of document.querySelectorAll("#views a")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  leave?.();
  leave = null;
  try {
    await app.refresh();
    if (mine !== turn) return;
    document.title = `${VIEWS[name].title} · ${app.state.source.title} · plackett workbench`;
    const done = await VIEWS[name].render(main, app, () => mine === turn);
    if (mine === turn) leave = typeof done === "function" ? done : null;
    else if (typeof done === "function") done();
  } catch (error) {
    if (mine === turn && error.name !== "AbortError") {
      replace(main, h("h1", null, "This did not work"), h("p", { class: "error", role: "alert" }, error.message), h("p", null, h("a", { href: "/" }, "Start again")));
    }
  }
}

function setUpTheme() {
  const toggle = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const chosen = remembered("theme");
    const dark = chosen ? chosen === "dark" : system.matches;
    document.documentElement.classList.toggle("dark", dark);
    toggle.setAttribute("aria-pressed", String(dark));
  };
  toggle.addEventListener("click", () => { remember("theme", document.documentElement.classList.contains("dark") ? "light" : "dark"); apply(); });
  system.addEventListener("change", apply);
  apply();
}

function setUpRater() {
  const input = document.getElementById("rater");
  input.value = remembered("rater");
  input.addEventListener("change", () => { remember("rater", input.value.trim()); say(`Judgements are now those of ${app.rater}`); show(); });
}

setUpTheme();
setUpRater();
replace(document.getElementById("views"), Object.entries(VIEWS).map(([name, view]) => h("li", null, h("a", { href: app.link({ view: name === "search" ? null : name }) || "/", dataset: { view: name } }, view.title))));
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || link.target || link.hasAttribute("download")) return;
  const address = new URL(link.href);
  if (address.origin !== location.origin || address.pathname !== "/" || link.getAttribute("href").startsWith("#")) return;
  event.preventDefault();
  document.querySelector("dialog[open]")?.close();
  history.pushState(null, "", address.search || "/");
  show();
  scrollTo(0, 0);
});
addEventListener("popstate", show);
if (app.params.has("token")) {
  const params = app.params;
  params.delete("token");
  history.replaceState(null, "", params.size ? "?" + params : "/");
}
show();
