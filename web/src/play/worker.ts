// The player in WebAssembly, in a separate thread, so the page stays responsive.

import { Player } from "../../npm/player.js";

async function load(): Promise<Player> {
  const packed = await fetch("player.wasm.gz"); // next to this script
  if (!packed.ok) throw new Error(`the simulator could not be loaded: ${packed.status}`);
  return Player.of(new Uint8Array(await packed.arrayBuffer()));
}

let loading: Promise<Player> | undefined;
const encoder = new TextEncoder();

async function answer(name: string, input: string): Promise<{ isError: boolean; bytes: Uint8Array<ArrayBuffer> }> {
  loading ??= load();
  const player = await loading;
  try {
    return player.answer(name, input);
  } catch (error) {
    loading = undefined; // a stopped module is not reused
    throw error;
  }
}

let before: Promise<void> = Promise.resolve();

onmessage = ({ data }: MessageEvent<{ id: number; name: string; input: string }>) => {
  before = before.then(async () => {
    let reply: { isError: boolean; bytes: Uint8Array<ArrayBuffer> };
    try {
      reply = await answer(data.name, data.input);
    } catch (error) {
      reply = { isError: true, bytes: encoder.encode(`the simulator stopped: ${String(error)}`) };
    }
    postMessage({ id: data.id, ...reply }, { transfer: [reply.bytes.buffer] });
  });
};
