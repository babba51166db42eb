// The colours of the style sheet, for what draws on a canvas or writes a picture.

/** How many colours series have; further series begin again with other dashes. */
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

/** The colours now in force. */
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

/** The dashes of a series: none for the first nine, then others, so that two never differ by colour alone. */
export function dashes(index: number): number[] {
  const kinds = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
  return kinds[Math.floor(index / SERIES_COLOURS) % kinds.length] ?? [];
}

/** Calls `changed` when the colours change; returns what ends it. */
export function onThemeChange(changed: () => void): () => void {
  const media = matchMedia("(prefers-color-scheme: dark)");
  media.addEventListener("change", changed);
  return () => media.removeEventListener("change", changed);
}

/** Is reduced motion preferred? */
export function wantsStill(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
