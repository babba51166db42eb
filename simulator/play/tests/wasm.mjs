// Sends each line of its input, `CALL INPUT`, to the module given as its argument, and prints each answer on a line.

import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

const { instance } = await WebAssembly.instantiate(gunzipSync(readFileSync(process.argv[2])), {});
const player = instance.exports;

function answer(message) {
  const bytes = Buffer.from(message);
  const place = player.input(bytes.length);
  new Uint8Array(player.memory.buffer, place, bytes.length).set(bytes);
  const isError = player.answer() !== 0;
  const found = Buffer.from(player.memory.buffer, player.output(), player.output_length()).toString();
  return isError ? `error: ${found}` : found;
}

for (const line of readFileSync(0, "utf8").split("\n").filter((line) => line !== "")) {
  const space = line.indexOf(" ");
  const begin = performance.now();
  const found = answer(`${line.slice(0, space)}\0${line.slice(space + 1)}`);
  console.error(`${(performance.now() - begin).toFixed(1)} ms`);
  console.log(found.replaceAll("\n", "\\n"));
}
