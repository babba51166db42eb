// fairwire in a page or in Node: whole runs of scenarios, and disciplines and links packet by packet.

import { Player } from "./player.js";

let loading;

async function bytes() {
  const place = new URL("./player.wasm.gz", import.meta.url);
  if (place.protocol === "file:") {
    const { readFile } = await import("node:fs/promises");
    return new Uint8Array(await readFile(place));
  }
  const found = await fetch(place);
  if (!found.ok) throw new Error(`the simulator could not be loaded: ${found.status}`);
  return new Uint8Array(await found.arrayBuffer());
}

/** Loads the module, once. Everything here does it by itself. */
export function load() {
  loading ??= bytes().then(Player.of);
  return loading;
}

/** Runs a scenario, and returns a record for each discipline and seed. */
export async function run(scenario, { set = [], disciplines = [], seed } = {}) {
  return (await load()).ask("run", { scenario, set, disciplines, ...(seed === undefined ? {} : { seed }) });
}

class Driven {
  #player;
  #object;

  constructor(player, object) {
    this.#player = player;
    this.#object = object;
  }

  ask(name, more = {}) {
    return this.#player.ask(name, { object: this.#object, ...more });
  }

  free() {
    this.ask("free");
  }
}

/** A queue discipline: the caller brings packets and time. */
export class Discipline extends Driven {
  static async make(options) {
    const { discipline, rate, buffer, packetBytes = 1514, seed = 0 } = options;
    const player = await load();
    const made = player.ask("discipline", { discipline, rate, buffer, packet_bytes: packetBytes, seed });
    return new Discipline(player, made.object);
  }

  enqueue(packets, nowNs) {
    const { dropped, marked, next_ns } = this.ask("send", { packets: [packets].flat(), now_ns: nowNs });
    return { dropped, marked, nextNs: next_ns };
  }

  dequeue(nowNs, most = 1) {
    const { packets, dropped, marked, next_ns } = this.ask("take", { now_ns: nowNs, most });
    return { packets, dropped, marked, nextNs: next_ns };
  }

  backlog() {
    const { backlog_packets, backlog_bytes } = this.ask("look");
    return { packets: backlog_packets, bytes: backlog_bytes };
  }
}

/** A bottleneck link in one direction: a discipline, a rate, a delay, and faults of a wire. */
export class Link extends Driven {
  static async make(options) {
    const player = await load();
    return new Link(player, player.ask("link", options).object);
  }

  send(packets, nowNs) {
    const { refused, next_ns } = this.ask("send", { packets: [packets].flat(), now_ns: nowNs });
    return { refused, nextNs: next_ns };
  }

  receive(nowNs, most = 64) {
    const { packets, next_ns } = this.ask("take", { now_ns: nowNs, most });
    return { packets: packets.map(({ id, ecn, arrived_ns }) => ({ id, ecn, arrivedNs: arrived_ns })), nextNs: next_ns };
  }

  report() {
    return this.ask("look");
  }
}
