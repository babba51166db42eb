// Quantities in the form of scenarios: a number and a unit. A slider changes the number.

const SCALE: Record<string, number> = {
  "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9,
  s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9,
  packets: 1, packet: 1, B: 1, kB: 1e3, KiB: 1024, MB: 1e6, MiB: 1048576,
};

/** The number of a quantity in its base unit, or null if it is not one number with a unit. */
export function parsed(text: unknown): number | null {
  if (typeof text === "number") return text;
  const typed = parts(text);
  const scale = typed ? SCALE[typed.unit] : undefined;
  return typed && scale !== undefined ? typed.number * scale : null;
}

/** The number and the unit of a quantity. */
function parts(text: unknown): { number: number; unit: string } | null {
  const found = typeof text === "string" ? /^\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z/]+)\s*$/.exec(text) : null;
  return found ? { number: Number(found[1]), unit: found[2] ?? "" } : null;
}

/** How a slider changes the size of a buffer, in its typed unit. */
export interface Buffer {
  value: number;
  min: number;
  max: number;
  write: (value: number) => string;
}

/** The minimum and maximum buffer of a slider: in packets, in bytes of full frames, and in time. */
const BUFFERS: Record<string, [number, number]> = {
  packets: [5, 2000], packet: [5, 2000],
  B: [7500, 3e6], kB: [7.5, 3000], KiB: [7.5, 3000], MB: [0.0075, 3], MiB: [0.0075, 3],
  s: [0.001, 2], ms: [1, 2000], us: [1000, 2e6],
  bdp: [0.1, 10],
};

export function bufferOf(text: unknown): Buffer | null {
  const typed = parts(text);
  const reach = typed ? BUFFERS[typed.unit] : undefined;
  if (!typed || !reach) return null;
  const { number, unit } = typed;
  const isWhole = unit.startsWith("packet") || unit === "B";
  const write = (value: number) => (unit.startsWith("packet") ? written.packets(value) : `${isWhole ? Math.round(value) : short(value)} ${unit}`);
  return { value: number, min: reach[0], max: reach[1], write };
}

const short = (value: number) => String(Number(value.toPrecision(3)));

export const written = {
  rate: (bps: number) => (bps >= 1e6 ? `${short(bps / 1e6)} Mbit/s` : `${short(bps / 1e3)} kbit/s`),
  time: (s: number) => (s >= 1 ? `${short(s)} s` : `${short(s * 1e3)} ms`),
  packets: (count: number) => `${Math.max(1, Math.round(Number(count.toPrecision(3))))} packets`,
  count: (count: number) => String(Math.round(count)),
};
