// The colours of the style sheet, for drawing on a canvas and writing pictures.

/** The number of colours for series; further series repeat them with other dashes. */
export const SERIES_COLOURS = 9;

export interface Colours {
  text: string;
  faint: string;
  grid: string;
  edge: string;
  card: string;
  share: string;
  series: string[];
}

/** The current colours. */
export function colours(): Colours {
  const style = getComputedStyle(document.documentElement);
  const value = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    text: value("text"),
    faint: value("faint"),
    grid: value("grid"),
    edge: value("edge"),
    card: value("card"),
    share: value("share"),
    series: Array.from({ length: SERIES_COLOURS }, (_, index) => value(`series-${index}`)),
  };
}

/** The dashes of a series: none for the first nine, then others, so no two look the same. */
export function dashes(index: number): number[] {
  const kinds = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
  return kinds[Math.floor(index / SERIES_COLOURS) % kinds.length] ?? [];
}

/** Calls `changed` when the colours change; returns a function that stops this. */
export function onThemeChange(changed: () => void): () => void {
  const media = matchMedia("(prefers-color-scheme: dark)");
  media.addEventListener("change", changed);
  return () => media.removeEventListener("change", changed);
}

/** Is reduced motion preferred? */
export function wantsStill(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
