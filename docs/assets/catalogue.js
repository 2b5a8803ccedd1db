// Filters the rows of the catalogue by all words typed.
document.addEventListener("DOMContentLoaded", () => {
  const input = document.getElementById("catalogue-filter");
  if (!input) return;
  const count = document.getElementById("catalogue-count");
  const rows = [...document.querySelectorAll("article tbody tr")];
  const text = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      row.hidden = !words.every((word) => text.get(row).includes(word));
      shown += !row.hidden;
    }
    for (const heading of document.querySelectorAll("article h2")) {
      const table = heading.nextElementSibling;
      const empty = table && !table.querySelector("tbody tr:not([hidden])");
      heading.hidden = empty;
      if (table) table.hidden = empty;
    }
    count.textContent = words.length ? `${shown} of ${rows.length}` : "";
    const address = new URL(location);
    if (words.length) address.searchParams.set("filter", input.value);
    else address.searchParams.delete("filter");
    try { history.replaceState(null, "", address); } catch { /* pages opened from the disk may not */ }
  };
  input.value = new URLSearchParams(location.search).get("filter") || "";
  input.addEventListener("input", show);
  show();
});
