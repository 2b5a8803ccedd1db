// Grades and the keys that give them.

import { h } from "./dom.js";

/** What each grade means, from 0 on; the server says it. */
export let GRADES = [];
export function setGrades(given) { GRADES = given.map((meaning, grade) => [grade, meaning]); }

/** The grade of a key press; null clears, undefined is no grade. */
export function gradeOf(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
  if (/^[0-9]$/.test(event.key) && Number(event.key) < GRADES.length) return Number(event.key);
  if (event.key === "Backspace" || event.key === "Delete") return null;
  return undefined;
}

/** The class of a grade's colour: five shades for any scale. */
export const shade = (grade) => `g${Math.max(0, Math.min(4, Math.round((4 * grade) / Math.max(GRADES.length - 1, 1))))}`;

/** A badge with a grade. */
export function badge(grade, about = "") {
  if (grade === null || grade === undefined) return h("span", { class: "grade none" }, h("span", { class: "hide" }, about, " not judged"), h("span", { "aria-hidden": "true" }, "–"));
  return h("span", { class: `grade ${shade(grade)}`, title: GRADES[Math.round(grade)]?.[1] ?? "" }, h("span", { class: "hide" }, about, " grade "), String(grade));
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
