// Quantities as scenarios have them: a number and a unit. A slider moves the number.

const SCALE: Record<string, number> = {
  "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9,
  s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9,
  packets: 1, packet: 1, B: 1, kB: 1e3, KiB: 1024, MB: 1e6, MiB: 1048576,
};

/** The number of a quantity in its base unit, or null where it is not one number with a unit. */
export function parsed(text: unknown): number | null {
  if (typeof text === "number") return text;
  if (typeof text !== "string") return null;
  const found = /^\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z/]+)\s*$/.exec(text);
  const scale = found ? SCALE[found[2] ?? ""] : undefined;
  return found && scale !== undefined ? Number(found[1]) * scale : null;
}

const short = (value: number) => String(Number(value.toPrecision(3)));

export const written = {
  rate: (bps: number) => (bps >= 1e6 ? `${short(bps / 1e6)} Mbit/s` : `${short(bps / 1e3)} kbit/s`),
  time: (s: number) => (s >= 1 ? `${short(s)} s` : `${short(s * 1e3)} ms`),
  packets: (count: number) => `${Math.max(1, Math.round(Number(count.toPrecision(3))))} packets`,
  count: (count: number) => String(Math.round(count)),
};
