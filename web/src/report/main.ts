// Search and filter over the exhibits of a report. The page is whole without it: no script, no search.

import "./report.css";

/** What an exhibit is found by: its section, or where sections are on other pages the link to it. */
interface Exhibit {
  text: string;
  holds: number;
  fails: number;
  open: number;
  shows: HTMLElement[];
}

const count = (element: HTMLElement, name: string): number => Number(element.dataset[name] ?? 0);

/** Of each verdict that may be chosen, which exhibits have it. */
const VERDICTS: Record<string, (exhibit: Exhibit) => boolean> = {
  all: () => true,
  fails: ({ fails }) => fails > 0,
  holds: ({ holds, fails }) => holds > 0 && fails === 0,
  open: ({ open }) => open > 0,
};

function exhibits(): Exhibit[] {
  const links = document.querySelectorAll<HTMLAnchorElement>("nav a[data-exhibit]");
  return [...links].map((link) => {
    const section = document.getElementById(link.dataset["exhibit"] ?? "");
    const shows = section ? [link, section] : [link];
    return {
      text: `${link.textContent} ${section?.textContent ?? ""}`.toLowerCase(),
      holds: count(link, "holds"),
      fails: count(link, "fails"),
      open: count(link, "open"),
      shows,
    };
  });
}

/** The heading of a paper goes with its last exhibit. */
function hideEmptyPapers(): void {
  for (const heading of document.querySelectorAll("h2")) {
    const own: Element[] = [heading];
    let hasExhibit = false;
    for (let next = heading.nextElementSibling; next && next.tagName !== "H2"; next = next.nextElementSibling) {
      if (next.matches("section.exhibit")) hasExhibit ||= !(next as HTMLElement).hidden;
      else own.push(next);
    }
    for (const element of own) (element as HTMLElement).hidden = !hasExhibit;
  }
}

function start(form: HTMLFormElement): void {
  const search = form.querySelector<HTMLInputElement>("input");
  const verdict = form.querySelector<HTMLSelectElement>("select");
  const said = form.querySelector("output");
  if (!search || !said) return;
  const all = exhibits();
  const show = (): void => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const has = VERDICTS[verdict?.value ?? "all"] ?? (() => true);
    let shown = 0;
    for (const exhibit of all) {
      const fits = has(exhibit) && words.every((word) => exhibit.text.includes(word));
      for (const element of exhibit.shows) element.hidden = !fits;
      if (fits) shown += 1;
    }
    hideEmptyPapers();
    said.textContent = `${shown} of ${all.length} exhibits`;
  };
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  show();
}

const form = document.querySelector<HTMLFormElement>("form.filter");
if (form) start(form);
