// The requests to the gateway, and its answers. Rates are in bit/s, times in seconds, sizes in bytes as counted on the link.

export type Way = "download" | "upload";
export const WAYS: Way[] = ["download", "upload"];

export interface ClassNow {
  class: string;
  parent: string;
  weight: number;
  offered_bps: number;
  throughput_bps: number;
  fair_bps: number;
  drops_per_s: number;
  marks_per_s: number;
  bytes_out: number;
  dropped: number;
  round_trip_s: number;
  round_trips: number;
  retransmits_per_s: number;
}

export interface FlowNow {
  flow: string;
  offered_bps: number;
  throughput_bps: number;
  drops_per_s: number;
  marks_per_s: number;
}

export interface WayNow {
  way: Way;
  discipline: string;
  rate_bps: number;
  totals: {
    packets_in: number;
    packets_out: number;
    dropped: Record<string, number>;
    marked: Record<string, number>;
    lost: Record<string, number>;
  };
  backlog_packets: number;
  backlog_bytes: number;
  sojourn: { p50_s: number; p95_s: number; p99_s: number; max_s: number };
  round_trip: { p50_s: number; p95_s: number; p99_s: number; max_s: number };
  tcp_segments: number;
  retransmitted: number;
  throughput_bps: number;
  utilization: number;
  jain: number;
  flows: FlowNow[];
  active_flows: number;
  wanting_flows: number;
  classes: ClassNow[];
  class_count: number;
  worst_share_error_points: number;
}

export interface Snapshot {
  name: string;
  uptime_s: number;
  fairness: string;
  reloads: number;
  ways: WayNow[];
  ports: { interface: string; is_up: boolean; outages: number; overflows: number }[];
  captured: number;
}

export interface Pulse {
  at_s: number[];
  ways: Record<
    "bytes_in" | "bytes_out" | "dropped" | "marked" | "backlog_packets" | "backlog_bytes" | "p50_s" | "p95_s" | "p99_s",
    number[]
  >[];
  picked: (Wanted & { bytes_in: number[]; bytes_out: number[]; dropped: number[]; waiting: number[] })[];
}

export interface Wanted {
  way: Way;
  kind: "class" | "flow";
  name: string;
}

/** A part of a list of search results. */
export interface List<Entry> {
  all: number;
  found: number;
  list: Entry[];
}

export interface Drop {
  at_s: number;
  way: Way;
  fate: "dropped" | "marked" | "lost";
  reason: string;
  class: string;
  flow: string;
  packet: string;
  waited_s: number;
  share: number | null;
  fair: number | null;
}

export interface Drops {
  last: Drop[];
  minute: { way: Way; name: string; fate: Drop["fate"]; reason: string; count: number }[];
  named: number;
}

export type Span = "now" | "hour" | "day" | "all";

export interface ClassPast {
  class: string;
  offered_bps: (number | null)[];
  throughput_bps: (number | null)[];
  fair_bps: (number | null)[];
}

export interface WayPast {
  way: Way;
  at_s: number[];
  rate_bps: number[];
  offered_bps: number[];
  throughput_bps: number[];
  backlog_bytes: number[];
  p50_s: number[];
  p95_s: number[];
  p99_s: number[];
  jain: number[];
  worst_share_error_points: number[];
  causes: { fate: Drop["fate"]; reason: string; counts: number[] }[];
  classes: ClassPast[];
}

export interface Change {
  at_s: number;
  kind: string;
  text: string;
}

export interface Past {
  step_s: number;
  place: string | null;
  is_in_memory: boolean;
  fault: string | null;
  ways: WayPast[];
  changes: Change[];
}

/** The storage key of the token, kept until the browser's tab is closed. */
const TOKEN = "fairwire-token";

export function token(): string | null {
  return sessionStorage.getItem(TOKEN);
}

export function setToken(given: string): void {
  sessionStorage.setItem(TOKEN, given);
}

/** The gateway requires a token, or another one. */
export class NeedsToken extends Error {}

/** The gateway's answer at this path, below `api/`. */
export async function request(path: string, signal?: AbortSignal): Promise<Response> {
  const shown = token();
  const answer = await fetch(`api/${path}`, {
    headers: shown ? { authorization: `Bearer ${shown}` } : {},
    cache: "no-store",
    ...(signal ? { signal } : {}),
  });
  if (answer.status === 401) throw new NeedsToken();
  if (!answer.ok) throw new Error((await answer.text()).trim() || `status ${answer.status}`);
  return answer;
}

export async function json<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await request(path, signal)).json() as Promise<T>;
}

/** Calls `heard` with each event of the stream, until it ends. */
export async function stream(
  picks: Wanted[],
  signal: AbortSignal,
  heard: (name: string, data: string) => void,
): Promise<void> {
  const query = picks.length > 0 ? `?picks=${encodeURIComponent(JSON.stringify(picks))}` : "";
  const reader = (await request(`stream${query}`, signal)).body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const part = await reader?.read();
    if (!part || part.done) return;
    rest += part.value;
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      const lines = rest.slice(0, end).split("\n");
      rest = rest.slice(end + 2);
      const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? "";
      heard(field("event"), field("data"));
    }
  }
}
