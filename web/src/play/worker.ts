// The player in WebAssembly, in a thread of its own: the page stays smooth whatever it computes.

interface Player {
  memory: WebAssembly.Memory;
  /** Where to write a message of this many bytes. */
  input: (length: number) => number;
  /** Answers it: 0, or 1 for an error. */
  answer: () => number;
  output: () => number;
  output_length: () => number;
}

async function load(): Promise<Player> {
  const packed = await fetch("player.wasm.gz"); // beside this script
  if (!packed.ok || !packed.body) throw new Error(`the simulator could not be loaded: ${packed.status}`);
  // It lies there packed, and servers differ in what they do with `.gz`: what was unpacked already begins otherwise.
  const bytes = new Uint8Array(await packed.arrayBuffer());
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const plain = isPacked ? new Response(bytes).body?.pipeThrough(new DecompressionStream("gzip")) : bytes;
  const module = await new Response(plain).arrayBuffer();
  const { instance } = await WebAssembly.instantiate(module, {});
  return instance.exports as unknown as Player;
}

let loading: Promise<Player> | undefined;
const encoder = new TextEncoder();

async function answer(name: string, input: string): Promise<{ isError: boolean; bytes: Uint8Array<ArrayBuffer> }> {
  loading ??= load();
  const player = await loading;
  const message = encoder.encode(`${name}\0${input}`);
  const place = player.input(message.length); // before the buffer is looked at: the memory may grow
  new Uint8Array(player.memory.buffer, place, message.length).set(message);
  let isError: boolean;
  try {
    isError = player.answer() !== 0;
  } catch (error) {
    loading = undefined; // a module that stopped is not used again
    throw error;
  }
  const bytes = new Uint8Array(player.memory.buffer, player.output(), player.output_length()).slice();
  return { isError, bytes };
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
