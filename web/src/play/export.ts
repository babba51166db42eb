// What one takes along: pictures as SVG and PNG, numbers as CSV, the scenario as its file.

import { colours, dashes, SERIES_COLOURS } from "../kit/theme";
import type { About, Game } from "./game";
import { FIELD, OF_FLOW } from "./history";
import type { Shown } from "./pictures";

/** Offers a file for download. */
export function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[letter] ?? letter);

const WIDTH = 880;
const HEIGHT = 250;
const LEFT = 90;
const ROOM = { top: 48, bottom: 44, right: 16 };

/** Pictures one below the other, as one file. */
export function svg(title: string, pictures: Shown[]): string {
  const theme = colours();
  const height = 40 + pictures.length * HEIGHT;
  const parts = pictures.map((shown, index) => panel(shown, 40 + index * HEIGHT, theme));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, 'DejaVu Sans', sans-serif" font-size="12">
<rect width="100%" height="100%" fill="${theme.card}"/>
<text x="16" y="27" font-size="17" font-weight="600" fill="${theme.text}">${escaped(title)}</text>
${parts.join("\n")}
</svg>
`;
}

function panel(shown: Shown, top: number, theme: ReturnType<typeof colours>): string {
  const [times = new Float64Array(0), ...lines] = shown.data();
  const from = times[0] ?? 0;
  const to = times[times.length - 1] ?? 1;
  let greatest = 0;
  for (const line of lines) for (const value of line) if (value > greatest) greatest = value;
  const high = greatest * 1.06 || 1;
  const x = (time: number) => LEFT + ((WIDTH - LEFT - ROOM.right) * (time - from)) / (to - from || 1);
  const y = (value: number) => top + HEIGHT - ROOM.bottom - (HEIGHT - ROOM.top - ROOM.bottom) * (value / high);
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => part * high);
  const grid = ticks.map(
    (tick) => `<line x1="${LEFT}" x2="${WIDTH - ROOM.right}" y1="${y(tick).toFixed(1)}" y2="${y(tick).toFixed(1)}" stroke="${theme.grid}"/>
<text x="${LEFT - 6}" y="${(y(tick) + 4).toFixed(1)}" text-anchor="end" fill="${theme.faint}">${escaped(shown.format(tick))}</text>`,
  );
  const paths = lines.map((line, index) => {
    const series = shown.series[index];
    const colour = theme.series[(series?.colour ?? index) % SERIES_COLOURS] ?? theme.text;
    const dash = (series?.dash ?? dashes(series?.colour ?? index)).join(" ");
    return `<path d="${path(times, line, x, y)}" fill="none" stroke="${colour}" stroke-width="1.5" stroke-dasharray="${dash}"/>`;
  });
  const names = [...new Set(shown.series.map((series) => series.group ?? series.name))];
  let at = LEFT;
  const legend = names.slice(0, 12).map((name) => {
    const index = shown.series.findIndex((series) => (series.group ?? series.name) === name);
    const colour = theme.series[(shown.series[index]?.colour ?? index) % SERIES_COLOURS] ?? theme.text;
    const entry = `<rect x="${at}" y="${top + HEIGHT - 22}" width="14" height="4" fill="${colour}"/><text x="${at + 18}" y="${top + HEIGHT - 16}" fill="${theme.text}">${escaped(name)}</text>`;
    at += 34 + name.length * 7;
    return entry;
  });
  return `<text x="16" y="${top + 20}" font-weight="600" fill="${theme.text}">${escaped(shown.title)}</text>
<text x="16" y="${top + 36}" fill="${theme.faint}">${escaped(shown.axis)}; ${from.toFixed(1)} s to ${to.toFixed(1)} s</text>
${grid.join("\n")}
${paths.join("\n")}
${legend.join("\n")}`;
}

function path(times: Float64Array, line: Float64Array, x: (time: number) => number, y: (value: number) => number): string {
  let text = "";
  let isDown = false;
  for (let index = 0; index < line.length; index += 1) {
    const value = line[index] ?? Number.NaN;
    if (Number.isNaN(value)) {
      isDown = false;
      continue;
    }
    text += `${isDown ? "L" : "M"}${x(times[index] ?? 0).toFixed(1)} ${y(value).toFixed(1)}`;
    isDown = true;
  }
  return text;
}

/** The same as a picture of points, twice as fine. */
export async function png(picture: string): Promise<Blob> {
  const address = URL.createObjectURL(new Blob([picture], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = 2 * image.width;
    canvas.height = 2 * image.height;
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) =>
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the browser makes no PNG of it")))),
    );
  } finally {
    URL.revokeObjectURL(address);
  }
}

const quoted = (label: string) => (/[",]/.test(label) ? `"${label.replaceAll('"', '""')}"` : label);

/** Every sample of every side, under the discipline that worked then. */
export function csv(about: About, { sides, eras }: Game): string {
  const flows = about.flows.flatMap((flow) => [`${flow.name}.rate_bps`, `${flow.name}.window_segments`]);
  const causes = about.causes.map((cause) => `drops.${cause}`);
  const lines = [["time_s", "discipline", "queue_packets", "queue_bytes", "wait_mean_s", "wait_p50_s", "wait_p99_s", ...causes, ...flows].join(",")];
  const number = (value: number) => (Number.isNaN(value) ? "" : String(value));
  sides.forEach((side, index) => {
    const names = eras.map((era) => ({ since: era.since, name: quoted(era.sides[index] ?? "") }));
    let era = 0;
    for (let row = 0; row < side.rows; row += 1) {
      // A sample belongs to the time before it.
      while (era + 1 < names.length && side.at(row, FIELD.at) > (names[era + 1]?.since ?? 0) + 1e-9) era += 1;
      const name = names[era]?.name ?? "";
      const fixed = [FIELD.packets, FIELD.bytes, FIELD.mean, FIELD.p50, FIELD.p99].map((field) => number(side.at(row, field)));
      const dropped = about.causes.map((_, cause) => number(side.at(row, FIELD.p99 + 1 + cause)));
      const of = about.flows.flatMap((_, flow) => [
        number(side.at(row, side.column(flow, OF_FLOW.rate))),
        number(side.at(row, side.column(flow, OF_FLOW.window))),
      ]);
      lines.push([number(side.at(row, FIELD.at)), name, ...fixed, ...dropped, ...of].join(","));
    }
  });
  return `${lines.join("\n")}\n`;
}
