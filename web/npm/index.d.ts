import type { Player } from "./player.js";

/** Loads the module, once. Everything here does it by itself. */
export declare function load(): Promise<Player>;

/** What differs from the scenario, as `fairwire run` has it. */
export interface RunOptions {
  /** `PATH=VALUE` each, as `--set`: `"link.buffer=390 packets"`. */
  set?: string[];
  /** Disciplines in place of the scenario's. */
  disciplines?: string[];
  /** One seed in place of the scenario's. */
  seed?: number;
}

/** A whole run: the record of `fairwire run --format json`, which docs/results-schema.md describes. */
export interface RunRecord {
  discipline: string;
  seed: number;
  [field: string]: unknown;
}

/** Runs a scenario in TOML, and returns a record for each discipline and seed. */
export declare function run(scenario: string, options?: RunOptions): Promise<RunRecord[]>;

/** A packet that the caller brings. */
export interface Packet {
  /** The caller's own number of it, 0 to 2^32 - 1. */
  id: number;
  /** The caller's number of its flow. */
  flow: number;
  /** Bytes on the wire, at least 1. */
  bytes: number;
  /** The class of a class tree; 0 where there is none. */
  class?: number;
  /** The ECN field: 0 not capable, 1 ECT(1), 2 ECT(0), 3 CE. */
  ecn?: 0 | 1 | 2 | 3;
  /** The codepoint of differentiated services, 0 to 63. */
  dscp?: number;
}

/** A packet that was dropped or marked, and why. */
export interface Signal {
  id: number;
  /** Such as `overflow`, `early` or `no-tokens`. */
  cause: string;
}

export interface DisciplineOptions {
  /** Its name, or in braces a table of TOML with its parameters: `"{ red = { ecn = 'mark' } }"`. */
  discipline: string;
  /** The rate of the link that it serves: `"10 Mbit/s"`. */
  rate: string;
  /** How much may wait: `"100 packets"`, `"50 ms"`. */
  buffer: string;
  /** Bytes of a typical long packet. Default: 1514. */
  packetBytes?: number;
  seed?: number;
}

/** A queue discipline: the caller brings packets and time, in nanoseconds. */
export declare class Discipline {
  private constructor();
  static make(options: DisciplineOptions): Promise<Discipline>;
  /** Packets arrive. Dropped ones are the caller's again. */
  enqueue(packets: Packet | Packet[], nowNs: number): { dropped: Signal[]; marked: Signal[]; nextNs: number | null };
  /** The next packets to be sent, at most `most`, 1 by default. `nextNs` says when to call again. */
  dequeue(
    nowNs: number,
    most?: number,
  ): { packets: { id: number; ecn: number }[]; dropped: Signal[]; marked: Signal[]; nextNs: number | null };
  backlog(): { packets: number; bytes: number };
  /** Gives its memory back. It may not be used after that. */
  free(): void;
}

export interface LinkOptions {
  rate: string;
  /** The propagation delay, one way. */
  delay: string;
  /** As `discipline` of {@link DisciplineOptions}. Default: `tail-drop`. */
  queue?: string;
  /** Default: 100 packets. */
  buffer?: string;
  /** Default: 1500. */
  mtu?: number;
  /** The part of packets lost on the wire, 0 to 1. */
  loss?: number;
  /** The most that a packet takes beside the delay; none overtakes another. */
  jitter?: string;
  /** The part of packets that the wire sends twice. */
  duplicate?: number;
  seed?: number;
}

export interface LinkReport {
  backlog_packets: number;
  backlog_bytes: number;
  utilization: number;
  jain: number;
  flows: {
    flow: number;
    sent: number;
    delivered: number;
    dropped: number;
    lost: number;
    marked: number;
    rate_bps: number;
    delay_p50_ns: number;
    delay_p99_ns: number;
  }[];
}

/** A bottleneck link in one direction. */
export declare class Link {
  private constructor();
  static make(options: LinkOptions): Promise<Link>;
  /** Packets enter the link. Those longer than its MTU are refused, by their numbers. */
  send(packets: Packet | Packet[], nowNs: number): { refused: number[]; nextNs: number | null };
  /** What has arrived at the far end. */
  receive(nowNs: number, most?: number): { packets: { id: number; ecn: number; arrivedNs: number }[]; nextNs: number | null };
  report(): LinkReport;
  /** Gives its memory back. It may not be used after that. */
  free(): void;
}
