// Elements without HTML: every text becomes a text node, so nothing from a document can become markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, entry] of Object.entries(value)) element.style.setProperty(key, entry);
    else if (name === "dataset") Object.assign(element.dataset, value);
    else if (name === "value") element.value = value;
    else if (name === "checked" || name === "selected" || name === "disabled" || name === "hidden" || name === "open") element[name] = true;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

/** An HTML element with attributes, listeners (onclick, …) and children. */
export function h(tag, properties, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** The same for SVG. */
export function s(tag, properties, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

export function replace(parent, ...children) {
  parent.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
}

/** A name that may be broken after dots, slashes and underscores. */
export function soft(text) {
  return String(text).split(/(?<=[._/:-])(?=\w)/).flatMap((piece, i) => (i ? [h("wbr"), piece] : [piece]));
}

/** Pieces [text, marked] with matched words in <mark>. */
export function marked(pieces) {
  return (pieces ?? []).map(([text, hit]) => (hit ? h("mark", null, text) : text));
}

export function select(name, label, options, value, onchange) {
  const list = options.map((option) => {
    const [key, text] = Array.isArray(option) ? option : [option, option];
    return h("option", { value: key, selected: String(key) === String(value) }, text);
  });
  return h("label", null, label, " ", h("select", { name, onchange }, list));
}

export function button(text, onclick, properties) {
  return h("button", { type: "button", onclick, ...properties }, text);
}

let timer = 0;
/** Say something to everybody, including screen readers. */
export function say(text, bad = false) {
  const status = document.getElementById("status");
  status.textContent = text;
  status.className = bad ? "shown bad" : "shown";
  clearTimeout(timer);
  timer = setTimeout(() => { status.className = ""; status.textContent = ""; }, bad ? 8000 : 3000);
}

/** Take back what was said: it was about something that is not shown any more. */
export function hush() {
  clearTimeout(timer);
  const status = document.getElementById("status");
  status.className = "";
  status.textContent = "";
}

/** A modal dialog; closing it returns the focus. */
export function dialog(title, ...content) {
  const before = document.activeElement;
  const close = button("Close", () => box.close(), { class: "close" });
  const heading = h("h2", { id: "dialog-title" }, title);
  const box = h("dialog", { "aria-labelledby": "dialog-title" }, h("div", { class: "head" }, heading, close), h("div", { class: "body", tabindex: "0", role: "region", "aria-label": title }, content));
  box.addEventListener("close", () => { box.remove(); before?.isConnected && before.focus(); });
  box.addEventListener("click", (event) => { if (event.target === box) box.close(); });
  document.body.append(box);
  box.showModal();
  return box;
}

export const number = (value, digits = 3) => (value === null || value === undefined ? "–" : Number(value).toFixed(digits));
export const score = (value) => (Math.abs(value) >= 1000 || (value !== 0 && Math.abs(value) < 0.001) ? Number(value).toExponential(2) : Number(value).toPrecision(4));
export const signed = (value, digits = 3) => (value === null || value === undefined ? "–" : (value > 0 ? "+" : value < 0 ? "−" : "±") + Math.abs(value).toFixed(digits));
export const plural = (count, one, many) => `${count.toLocaleString("en")} ${count === 1 ? one : many ?? one + "s"}`;

/** A table that scrolls sideways on narrow screens. */
export function table(caption, header, rows, properties) {
  const head = h("tr", null, header.map((cell) => (cell instanceof Node && cell.tagName === "TH" ? cell : h("th", { scope: "col" }, cell))));
  const body = rows.map((row) => (row instanceof Node ? row : h("tr", null, row.map((cell, i) => (cell instanceof Node && /^T[DH]$/.test(cell.tagName) ? cell : i === 0 ? h("th", { scope: "row" }, cell) : h("td", null, cell))))));
  return h("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": caption }, h("table", properties, h("caption", null, caption), h("thead", null, head), h("tbody", null, body)));
}
