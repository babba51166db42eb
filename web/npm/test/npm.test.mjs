// The package as a program uses it. Bits beside the native simulator: simulator/play/tests/wasm.rs.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Discipline, Link, run } from "../index.js";

const scenario = readFileSync(new URL("../../../scenarios/selfish-flow.toml", import.meta.url), "utf8");
const short = { set: ['duration="6 s"', 'warm_up="2 s"'], seed: 3 };

test("a scenario runs under the given disciplines and repeats bit for bit", async () => {
  const first = await run(scenario, { ...short, disciplines: ["faba", "drr"] });
  assert.deepEqual(first.map(({ discipline, seed }) => [discipline, seed]), [["faba", 3], ["drr", 3]]);
  assert.deepEqual(await run(scenario, { ...short, disciplines: ["faba", "drr"] }), first);
  await assert.rejects(run(scenario, { set: ["link.rate=fast"] }), /link\.rate.*fast/s);
});

test("faba shares a link between a flood and a steady flow", async () => {
  const queue = await Discipline.make({ discipline: "{ faba = {} }", rate: "8 Mbit/s", buffer: "40 packets" });
  const sent = { 1: 0, 2: 0 };
  for (let ms = 0, id = 0; ms < 2000; ms += 1) {
    const packets = [1, 1, 1, 1, 1, ...(ms % 2 ? [2] : [])].map((flow) => ({ id: (id += 1) * 4 + flow, flow, bytes: 1000 }));
    queue.enqueue(packets, ms * 1e6);
    for (const packet of queue.dequeue(ms * 1e6).packets) sent[packet.id % 4] += ms < 500 ? 0 : 1;
  }
  // A packet a millisecond: the steady flow wants half of it, and the flood the tenfold.
  assert.ok(sent[2] > 0.9 * 750, JSON.stringify(sent));
  assert.ok(queue.backlog().packets <= 40);
  queue.free();
  assert.throws(() => queue.backlog(), /there is no object/);
});

test("a link takes its time, marks and reports", async () => {
  const link = await Link.make({ rate: "8 Mbit/s", delay: "5 ms", queue: "fq-codel" });
  assert.deepEqual(link.send({ id: 9, flow: 1, bytes: 1000, ecn: 2 }, 0), { refused: [], nextNs: 6e6 });
  assert.deepEqual(link.receive(6e6).packets, [{ id: 9, ecn: 2, arrivedNs: 6e6 }]);
  assert.deepEqual(link.send({ id: 10, flow: 1, bytes: 4000 }, 7e6).refused, [10]);
  const { flows, utilization } = link.report();
  assert.deepEqual([flows[0].flow, flows[0].delivered], [1, 1]);
  assert.ok(utilization > 0 && utilization <= 1);
  await assert.rejects(Link.make({ rate: "8 Mbit/s", delay: "soon" }), /soon/);
});
