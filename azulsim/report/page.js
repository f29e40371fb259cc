"use strict";
// Sorts a table by the column whose heading is pressed: numbers by value, text by the reader's language.
document.querySelectorAll("table.sortable").forEach((table) => {
  const body = table.tBodies[0];
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((head, column) => {
    const button = head.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") === "ascending";
      const isNumber = head.dataset.kind === "number";
      const value = (row) => row.cells[column].dataset.sort;
      const compare = (a, b) => {
        const [x, y] = [value(a), value(b)];
        if (x === "" || y === "") return (x === "") - (y === "");
        const order = isNumber ? Number(x) - Number(y) : x.localeCompare(y, undefined, { numeric: true });
        return descending ? -order : order;
      };
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      body.append(...Array.from(body.rows).sort(compare));
    });
  });
});
