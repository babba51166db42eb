// The pictures of the page as one SVG file for download. The pictures on the page are drawn elsewhere from the same data.

import { bare } from "../kit/format";
import { colours, dashes, SERIES_COLOURS } from "../kit/theme";
import type { Level, Series } from "../kit";
import type { Shown } from "./pictures";

/** A picture as data. */
export type Drawing =
  | { kind: "lines"; shown: Shown }
  | { kind: "bars"; title: string; about: string; levels: Level[]; share: number | undefined; top: number; format: (value: number) => string }
  | { kind: "table"; title: string; about: string; columns: string[]; rows: { name: string; values: number[] }[]; format: (value: number) => string };

const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[letter] ?? letter);

const WIDTH = 880;
const LEFT = 92;
const RIGHT = 16;
/** The title and the line below it. */
const HEAD = 50;
const PLOT = 156;
/** The labels of the horizontal axis. */
const FOOT = 24;
const LEGEND_LINE = 18;
const GAP = 18;
const ROW = 20;
/** The approximate width of a letter of 12 px. */
const LETTER = 6.6;
const MAX_LEGEND = 40;

type Theme = ReturnType<typeof colours>;
interface Piece {
  height: number;
  draw: (top: number) => string;
}

/** Stacked pictures, as one file. */
export function svg(title: string, drawings: Drawing[]): string {
  const theme = colours();
  let height = 44;
  const parts = drawings.map((drawing) => {
    const piece = drawing.kind === "lines" ? lines(drawing.shown, theme) : drawing.kind === "bars" ? bars(drawing, theme) : table(drawing, theme);
    const drawn = piece.draw(height);
    height += piece.height + GAP;
    return drawn;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, 'DejaVu Sans', sans-serif" font-size="12">
<rect width="100%" height="100%" fill="${theme.card}"/>
${text(16, 28, title, theme.text, 'font-size="17" font-weight="600"')}
${parts.join("\n")}
</svg>
`;
}

function text(x: number, y: number, content: string, fill: string, more = ""): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" fill="${fill}" ${more}>${escaped(content)}</text>`;
}

function heading(title: string, below: string, top: number, theme: Theme): string {
  return `${text(16, top + 18, title, theme.text, 'font-weight="600"')}
${text(16, top + 35, below, theme.faint)}`;
}

/** At most `most` round steps of an axis: 1, 2 or 5 times a power of ten. */
export function ticks(from: number, to: number, most: number): number[] {
  const reach = to - from;
  if (!(reach > 0)) return [from];
  const rough = reach / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((part) => part * power).find((each) => each >= rough * (1 - 1e-9)) ?? 10 * power;
  const first = Math.ceil(from / step - 1e-9);
  const count = Math.floor(to / step + 1e-9) - first + 1;
  return Array.from({ length: count }, (_, index) => (first + index) * step);
}

function lines(shown: Shown, theme: Theme): Piece {
  const legend = legendOf(shown.series, theme);
  return {
    height: HEAD + PLOT + FOOT + legend.height,
    draw: (top) => {
      const [times = new Float64Array(0), ...values] = shown.data();
      const from = times[0] ?? 0;
      const to = times[times.length - 1] ?? 1;
      let greatest = 0;
      for (const line of values) for (const value of line) if (value > greatest) greatest = value;
      const high = greatest * 1.06 || 1;
      const base = top + HEAD + PLOT;
      const x = (time: number) => LEFT + ((WIDTH - LEFT - RIGHT) * (time - from)) / (to - from || 1);
      const y = (value: number) => base - PLOT * (value / high);
      const across = ticks(0, high, 4).map(
        (tick) => `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(tick).toFixed(1)}" y2="${y(tick).toFixed(1)}" stroke="${theme.grid}"/>
${text(LEFT - 8, y(tick) + 4, bare(shown.format(tick)), theme.faint, 'text-anchor="end"')}`,
      );
      const along = ticks(from, to, 8).map(
        (tick) => `<line x1="${x(tick).toFixed(1)}" x2="${x(tick).toFixed(1)}" y1="${base - PLOT}" y2="${base + 4}" stroke="${theme.grid}"/>
${text(x(tick), base + 17, `${Number(tick.toFixed(6))} s`, theme.faint, 'class="time" text-anchor="middle"')}`,
      );
      const paths = values.map((line, index) => {
        const series = shown.series[index];
        const [colour, dash] = stroke(series, index, theme);
        return `<path d="${path(times, line, x, y)}" fill="none" stroke="${colour}" stroke-width="1.5" stroke-dasharray="${dash}"/>`;
      });
      return `${heading(shown.title, `${shown.axis}; ${from.toFixed(1)} s to ${to.toFixed(1)} s`, top, theme)}
${across.join("\n")}
${along.join("\n")}
${paths.join("\n")}
${legend.draw(base + FOOT)}`;
    },
  };
}

function stroke(series: Series | undefined, index: number, theme: Theme): [string, string] {
  const colour = series?.colour ?? index;
  return [theme.series[colour % SERIES_COLOURS] ?? theme.text, (series?.dash ?? dashes(colour)).join(" ")];
}

/** The legend: colour and dashes of each line, before its name. */
function legendOf(series: Series[], theme: Theme): Piece {
  const names = [...new Set(series.map((each) => each.group ?? each.name))];
  let [x, row] = [LEFT, 0];
  const entries = names.slice(0, MAX_LEGEND).map((name) => {
    const index = series.findIndex((each) => (each.group ?? each.name) === name);
    const width = 44 + name.length * LETTER;
    if (x + width > WIDTH - RIGHT && x > LEFT) [x, row] = [LEFT, row + 1];
    const place = { x, row, name, line: stroke(series[index], index, theme) };
    x += width;
    return place;
  });
  const left = names.length - entries.length;
  return {
    height: (row + 1) * LEGEND_LINE + (left > 0 ? LEGEND_LINE : 0),
    draw: (top) => {
      const drawn = entries.map(({ x, row, name, line: [colour, dash] }) => {
        const y = top + row * LEGEND_LINE + 12;
        return `<line class="key" x1="${x.toFixed(1)}" x2="${(x + 26).toFixed(1)}" y1="${y - 4}" y2="${y - 4}" stroke="${colour}" stroke-width="2.5" stroke-dasharray="${dash}"/>${text(x + 31, y, name, theme.text)}`;
      });
      if (left > 0) drawn.push(text(LEFT, top + (row + 1) * LEGEND_LINE + 12, `and ${left} more`, theme.faint));
      return drawn.join("\n");
    },
  };
}

function path(times: Float64Array, line: Float64Array, x: (time: number) => number, y: (value: number) => number): string {
  let drawn = "";
  let isDown = false;
  for (let index = 0; index < line.length; index += 1) {
    const value = line[index] ?? Number.NaN;
    if (Number.isNaN(value)) {
      isDown = false;
      continue;
    }
    drawn += `${isDown ? "L" : "M"}${x(times[index] ?? 0).toFixed(1)} ${y(value).toFixed(1)}`;
    isDown = true;
  }
  return drawn;
}

function bars(drawing: Drawing & { kind: "bars" }, theme: Theme): Piece {
  const { levels, share, top: high, format } = drawing;
  return {
    height: HEAD + PLOT + FOOT,
    draw: (top) => {
      const base = top + HEAD + PLOT;
      const y = (value: number) => base - PLOT * (Math.min(value, high) / high);
      const end = WIDTH - 130;
      const room = (end - LEFT) / Math.max(1, levels.length);
      const wide = Math.max(1, Math.min(60, room * 0.8));
      const across = ticks(0, high, 4).map(
        (tick) => `<line x1="${LEFT}" x2="${end}" y1="${y(tick).toFixed(1)}" y2="${y(tick).toFixed(1)}" stroke="${theme.grid}"/>
${text(LEFT - 8, y(tick) + 4, bare(format(tick)), theme.faint, 'text-anchor="end"')}`,
      );
      const drawn = levels.map((level, index) => {
        const x = LEFT + room * (index + 0.5) - wide / 2;
        const rectangle = (kind: string, value: number, paint: string) =>
          `<rect class="${kind}" x="${x.toFixed(1)}" y="${y(value).toFixed(1)}" width="${wide.toFixed(1)}" height="${(base - y(value)).toFixed(1)}" ${paint}/>`;
        const colour = theme.series[(level.colour ?? index) % SERIES_COLOURS] ?? theme.text;
        const letters = Math.floor(room / LETTER);
        const name = level.name.length > letters ? `${level.name.slice(0, Math.max(0, letters - 1))}…` : level.name;
        return `${rectangle("demand", Number.isFinite(level.demand) ? level.demand : high, `fill="none" stroke="${theme.edge}"`)}
${rectangle("delivered", level.delivered, `fill="${colour}"`)}
${room >= 34 ? text(x + wide / 2, base + 17, name, theme.faint, 'text-anchor="middle"') : ""}`;
      });
      const fair =
        share === undefined
          ? ""
          : `<line class="share" x1="${LEFT}" x2="${end + 6}" y1="${y(share).toFixed(1)}" y2="${y(share).toFixed(1)}" stroke="${theme.share}" stroke-width="2"/>
${text(end + 10, y(share) - 3, "fair share", theme.share)}
${text(end + 10, y(share) + 12, format(share), theme.share)}`;
      return `${heading(drawing.title, drawing.about, top, theme)}
${across.join("\n")}
${drawn.join("\n")}
${fair}`;
    },
  };
}

function table(drawing: Drawing & { kind: "table" }, theme: Theme): Piece {
  const { columns, rows, format } = drawing;
  return {
    height: HEAD + (rows.length + 1) * ROW,
    draw: (top) => {
      const first = 200;
      const wide = Math.min(160, (WIDTH - first - RIGHT) / Math.max(1, columns.length));
      const largest = Math.max(0, ...rows.flatMap((row) => row.values));
      const right = (column: number) => first + wide * (column + 1);
      const heads = columns.map((column, index) => text(right(index) - 8, top + HEAD + 14, column, theme.text, 'text-anchor="end" font-weight="600"'));
      const cells = rows.flatMap((row, index) => {
        const y = top + HEAD + (index + 1) * ROW;
        return [
          text(16, y + 14, row.name, theme.text),
          ...columns.map((_, column) => {
            const value = row.values[column] ?? 0;
            // As on the page: small counts are visible next to large ones.
            const shade = largest > 0 ? Math.sqrt(value / largest) * 0.45 : 0;
            return `<rect x="${(right(column) - wide + 2).toFixed(1)}" y="${y}" width="${(wide - 4).toFixed(1)}" height="${ROW - 2}" fill="${theme.series[0]}" fill-opacity="${shade.toFixed(3)}"/>
${text(right(column) - 8, y + 14, value === 0 ? "·" : format(value), theme.text, 'class="cell" text-anchor="end"')}`;
          }),
        ];
      });
      return `${heading(drawing.title, drawing.about, top, theme)}
${heads.join("\n")}
${cells.join("\n")}`;
    },
  };
}
