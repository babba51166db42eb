// How fast the simulator is in WebAssembly, beside the native one: the ratio of their times, in turns, in one run.
//
//   make build && node proof/bench/wasm.mjs [ROUNDS] [COMMAND]
//
// Node runs the module that is checked in. Both make the same runs; what starting each takes is measured with a run of nearly nothing and taken off.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
const ROUNDS = Number(process.argv[2] ?? 7);
const COMMAND = process.argv[3] ?? join(ROOT, "target", "release", "fairwire");
const SCENARIO = join(ROOT, "scenarios", "selfish-flow.toml");
const LONG = ["duration=400 s", "warm_up=20 s"];
const SHORT = ["duration=20 ms", "warm_up=1 ms", "flow.tcp.start=0 s", "flow.udp.start=0 s"];

const packed = readFileSync(join(ROOT, "web", "public", "player.wasm.gz"));
const { instance } = await WebAssembly.instantiate(gunzipSync(packed), {});
const player = instance.exports;
const text = readFileSync(SCENARIO, "utf8");

function inWasm(set) {
  const quoted = set.map((change) => change.replace(/=(.*)$/, '="$1"'));
  const message = Buffer.from(`run\0${JSON.stringify({ scenario: text, set: quoted, seed: 1 })}`);
  const place = player.input(message.length);
  new Uint8Array(player.memory.buffer, place, message.length).set(message);
  const begin = performance.now();
  if (player.answer() !== 0) {
    throw new Error(Buffer.from(player.memory.buffer, player.output(), player.output_length()).toString());
  }
  return performance.now() - begin;
}

function natively(set) {
  const changes = set.flatMap((change) => ["--set", change]);
  const begin = performance.now();
  const { status, stderr } = spawnSync(COMMAND, ["--quiet", "run", SCENARIO, "--seeds", "1", "--jobs", "1", ...changes]);
  if (status !== 0 && status !== 3) throw new Error(`${COMMAND}: ${stderr}`);
  return performance.now() - begin;
}

const ratios = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const sides = [() => natively(LONG) - natively(SHORT), () => inWasm(LONG) - inWasm(SHORT)];
  if (round % 2) sides.reverse();
  const times = sides.map((side) => side());
  if (round % 2) times.reverse();
  ratios.push(times[0] / times[1]);
  console.error(`native ${times[0].toFixed(0)} ms, WebAssembly ${times[1].toFixed(0)} ms`);
}
ratios.sort((a, b) => a - b);
console.log(`WebAssembly has ${ratios[Math.floor(ROUNDS / 2)].toFixed(2)} of the native speed (${ratios[0].toFixed(2)} to ${ratios.at(-1).toFixed(2)}, ${ROUNDS} rounds)`);
