// Numbers for people, with units. The name of a function contains the unit of its argument.

const PREFIXES = ["", "k", "M", "G", "T"];

function scaled(value: number, unit: string, digits: number): string {
  let power = 0;
  let size = Math.abs(value);
  while (size >= 999.5 && power < PREFIXES.length - 1) {
    size /= 1000;
    power += 1;
  }
  const signed = value < 0 ? -size : size;
  return `${significant(signed, digits)} ${PREFIXES[power] ?? ""}${unit}`;
}

/** `digits` significant digits, without an exponent: 0.0123, 1.23, 12.3, 123. */
export function significant(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const whole = Math.floor(Math.log10(Math.abs(value))) + 1;
  return value.toFixed(Math.max(0, Math.min(6, digits - whole)));
}

/** A rate given in bit/s. */
export function rate(bps: number, digits = 3): string {
  return Number.isFinite(bps) ? scaled(bps, "bit/s", digits) : "–";
}

/** An amount given in bytes. */
export function bytes(count: number, digits = 3): string {
  return Number.isFinite(count) ? scaled(count, "B", digits) : "–";
}

/** A time given in seconds. */
export function seconds(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1 || size === 0) return `${significant(value, digits)} s`;
  if (size >= 1e-3) return `${significant(value * 1e3, digits)} ms`;
  return `${significant(value * 1e6, digits)} µs`;
}

/** An integer, with thin spaces between thousands. */
export function count(value: number): string {
  if (!Number.isFinite(value)) return "–";
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** A fraction, in per cent. */
export function percent(part: number, digits = 3): string {
  return Number.isFinite(part) ? `${significant(part * 100, digits)} %` : "–";
}

/** `6.00 Mbit/s` is `6 Mbit/s` at an axis. */
export function bare(text: string): string {
  return text.replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");
}
