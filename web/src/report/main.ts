// Search, filters and sorting for a report. The page is complete without it, except for the search.

import "./report.css";
import { sortable } from "./sort";

/** A search result: a row, or an exhibit by its link, with its section if that is on this page. */
interface Item {
  text: string;
  /** The words of the filters that it matches. */
  is: Set<string>;
  shows: HTMLElement[];
}

function items(): Item[] {
  return [...document.querySelectorAll<HTMLElement>("[data-is]")].map((own) => {
    const section = document.getElementById(own.dataset["shows"] ?? "");
    const shows = section ? [own, section] : [own];
    return {
      text: shows.map((element) => words(element)).join(" ").toLowerCase(),
      is: new Set((own.dataset["is"] ?? "").split(" ")),
      shows,
    };
  });
}

/** The text of an element, with the cells of a row separated. */
function words(element: HTMLElement): string {
  if (element instanceof HTMLTableRowElement) return [...element.cells].map((cell) => cell.textContent).join(" ");
  return element.textContent ?? "";
}

/** The heading of a paper disappears with its last exhibit. */
function hideEmptyPapers(): void {
  for (const heading of document.querySelectorAll("h2")) {
    const own: Element[] = [heading];
    let exhibits = 0;
    let shown = 0;
    for (let next = heading.nextElementSibling; next && next.tagName !== "H2"; next = next.nextElementSibling) {
      if (!next.matches("section.exhibit")) own.push(next);
      else {
        exhibits += 1;
        if (!(next as HTMLElement).hidden) shown += 1;
      }
    }
    if (exhibits > 0) for (const element of own) (element as HTMLElement).hidden = shown === 0;
  }
}

function start(form: HTMLFormElement): void {
  const search = form.querySelector<HTMLInputElement>("input");
  const choices = [...form.querySelectorAll<HTMLSelectElement>("select")];
  const said = form.querySelector("output");
  if (!search || !said) return;
  const all = items();
  const show = (): void => {
    const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = choices.map((choice) => choice.value).filter(Boolean);
    let shown = 0;
    for (const item of all) {
      const fits = chosen.every((word) => item.is.has(word)) && wanted.every((word) => item.text.includes(word));
      for (const element of item.shows) element.hidden = !fits;
      if (fits) shown += 1;
    }
    hideEmptyPapers();
    said.textContent = `${shown} of ${all.length} ${form.dataset["items"]}`;
  };
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  show();
}

const form = document.querySelector<HTMLFormElement>("form.filter");
if (form) start(form);
for (const table of document.querySelectorAll<HTMLTableElement>("table.sortable")) sortable(table);
