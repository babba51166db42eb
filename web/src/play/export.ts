// Downloads: pictures as SVG and PNG, numbers as CSV, the scenario as a file.

import type { About, Game } from "./game";
import { FIELD, OF_FLOW } from "./history";

/** Offers a file for download. */
export function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A picture as pixels, at twice the resolution. */
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

/** Every sample of every side, with the discipline of that time. */
export function csv(about: About, { sides, eras }: Game): string {
  const flows = about.flows.flatMap((flow) => [`${flow.name}.rate_bps`, `${flow.name}.window_segments`]);
  const causes = about.causes.map((cause) => `drops.${cause}`);
  const lines = [["time_s", "discipline", "queue_packets", "queue_bytes", "wait_mean_s", "wait_p50_s", "wait_p99_s", ...causes, ...flows].join(",")];
  const number = (value: number) => (Number.isNaN(value) ? "" : String(Number(value.toPrecision(12))));
  sides.forEach((side, index) => {
    const names = eras.map((era) => ({ since: era.since, name: quoted(era.sides[index] ?? "") }));
    let era = 0;
    for (let row = 0; row < side.rows; row += 1) {
      // A sample covers the time before it.
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
