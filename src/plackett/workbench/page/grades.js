// Grades and the keys that give them.

import { h } from "./dom.js";

export const GRADES = [[0, "not relevant"], [1, "marginal"], [2, "relevant"], [3, "very relevant"], [4, "perfect"]];

/** The grade of a key press; null clears, undefined is no grade. */
export function gradeOf(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
  if (/^[0-4]$/.test(event.key)) return Number(event.key);
  if (event.key === "Backspace" || event.key === "Delete") return null;
  return undefined;
}

/** A badge with a grade. */
export function badge(grade, about = "") {
  if (grade === null || grade === undefined) return h("span", { class: "grade none" }, h("span", { class: "hide" }, about, " not judged"), h("span", { "aria-hidden": "true" }, "–"));
  return h("span", { class: `grade g${Math.max(0, Math.min(4, Math.round(grade)))}`, title: GRADES[Math.round(grade)]?.[1] ?? "" }, h("span", { class: "hide" }, about, " grade "), String(grade));
}

export const typing = (event) => /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || event.target.isContentEditable || document.querySelector("dialog[open]");

/** A function that runs what it is given one after the other, each when the one before is done. */
export function inTurn() {
  let last = Promise.resolve();
  return (act) => {
    const mine = last.then(act);
    last = mine.catch(() => undefined);
    return mine;
  };
}
