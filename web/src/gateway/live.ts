// The last seconds of values that change a hundred times per second.

import type { Pulse, Wanted, Way } from "./api";
import { WAYS } from "./api";

/** The number of readings kept: twelve seconds. */
const KEPT = 1200;
/** The readings over which rates are taken: 100 ms, to smooth out single packets. */
const OVER = 10;

type Column = (number | null)[];

/** Columns for pictures: times relative to the last reading, seconds, then values. */
export interface LiveColumns {
  at: number[];
  offered: Column;
  delivered: Column;
  dropped: Column;
  waiting: Column;
  backlog: Column;
  p50: Column;
  p95: Column;
  p99: Column;
}

interface Counters {
  in: number[];
  out: number[];
  dropped: number[];
  waiting: number[];
  backlog: number[];
  p50: number[];
  p95: number[];
  p99: number[];
}

const NAMES = ["in", "out", "dropped", "waiting", "backlog", "p50", "p95", "p99"] as const;

function empty(): Counters {
  return { in: [], out: [], dropped: [], waiting: [], backlog: [], p50: [], p95: [], p99: [] };
}

export const keyOf = (wanted: Wanted) => `${wanted.way}/${wanted.kind}/${wanted.name}`;

export class Readings {
  private at: number[] = [];
  private ways: Counters[] = [empty(), empty()];
  private picked = new Map<string, { at: number[]; counters: Counters }>();

  take(pulse: Pulse): void {
    push(this.at, pulse.at_s);
    pulse.ways.forEach((way, number) => {
      const kept = this.ways[number];
      if (!kept) return;
      push(kept.in, way.bytes_in);
      push(kept.out, way.bytes_out);
      push(kept.dropped, way.dropped);
      push(kept.waiting, way.backlog_packets);
      push(kept.backlog, way.backlog_bytes);
      push(kept.p50, way.p50_s);
      push(kept.p95, way.p95_s);
      push(kept.p99, way.p99_s);
    });
    for (const pick of pulse.picked) {
      const key = keyOf(pick);
      const kept = this.picked.get(key) ?? { at: [], counters: empty() };
      this.picked.set(key, kept);
      push(kept.at, pulse.at_s);
      push(kept.counters.in, pick.bytes_in);
      push(kept.counters.out, pick.bytes_out);
      push(kept.counters.dropped, pick.dropped);
      push(kept.counters.waiting, pick.waiting);
    }
  }

  /** Clears everything, because further readings are of another connection. */
  clear(): void {
    this.at = [];
    this.ways = [empty(), empty()];
    this.picked.clear();
  }

  of(way: Way): LiveColumns {
    return columns(this.at, this.ways[WAYS.indexOf(way)] ?? empty());
  }

  ofPicked(wanted: Wanted): LiveColumns {
    const kept = this.picked.get(keyOf(wanted));
    return kept ? columns(kept.at, kept.counters) : columns([], empty());
  }
}

function push(kept: number[], more: number[]): void {
  kept.push(...more);
  if (kept.length > KEPT) kept.splice(0, kept.length - KEPT);
}

function columns(at: number[], kept: Counters): LiveColumns {
  const last = at[at.length - 1] ?? 0;
  const rate = (counts: number[], factor: number): Column =>
    counts.map((count, place) => {
      const before = Math.max(0, place - OVER);
      const over = (at[place] ?? 0) - (at[before] ?? 0);
      return over > 0 ? ((count - (counts[before] ?? count)) * factor) / over : null;
    });
  for (const name of NAMES) if (kept[name].length > at.length) kept[name].splice(0, kept[name].length - at.length);
  return {
    at: at.map((time) => time - last),
    offered: rate(kept.in, 8),
    delivered: rate(kept.out, 8),
    dropped: rate(kept.dropped, 1),
    waiting: kept.waiting,
    backlog: kept.backlog,
    p50: kept.p50,
    p95: kept.p95,
    p99: kept.p99,
  };
}
