// A table that is sorted by clicking its headings.

/** The number of a cell, if any; a cell without a value comes last. */
function number(cell: HTMLTableCellElement | undefined): number | undefined {
  const value = cell?.dataset["value"];
  return value === undefined ? undefined : Number(value);
}

function compared(a: HTMLTableRowElement, b: HTMLTableRowElement, column: number, sign: number): number {
  const [one, other] = [a.cells[column], b.cells[column]];
  const [x, y] = [number(one), number(other)];
  if (x !== undefined && y !== undefined) return sign * (x - y);
  if (x !== undefined || y !== undefined) return x !== undefined ? -1 : 1;
  return sign * (one?.textContent ?? "").localeCompare(other?.textContent ?? "");
}

/** Adds a button to each heading: ascending, descending, original order. */
export function sortable(table: HTMLTableElement): void {
  const body = table.tBodies[0];
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
  if (!body) return;
  const written = [...body.rows];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const was = head.getAttribute("aria-sort");
      const next = was === "ascending" ? "descending" : was === "descending" ? "none" : "ascending";
      for (const each of heads) each.removeAttribute("aria-sort");
      if (next !== "none") head.setAttribute("aria-sort", next);
      const sign = next === "descending" ? -1 : 1;
      const rows = next === "none" ? written : [...written].sort((a, b) => compared(a, b, column, sign));
      body.append(...rows);
    });
  });
}
