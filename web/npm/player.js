// The simulator as a module of WebAssembly: messages of bytes, answered at once.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A module that was loaded. One player and any number of disciplines and links live in it. */
export class Player {
  #exports;

  constructor(exports) {
    this.#exports = exports;
  }

  /** Loads the module from its bytes, packed by gzip or not. */
  static async of(bytes) {
    // Servers differ in what they do with `.gz`: what was unpacked already begins otherwise.
    const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
    const plain = isPacked ? new Response(bytes).body.pipeThrough(new DecompressionStream("gzip")) : bytes;
    const module = await new Response(plain).arrayBuffer();
    const { instance } = await WebAssembly.instantiate(module, {});
    return new Player(instance.exports);
  }

  /** Answers a message. The bytes are the answer, or the text of an error. */
  answer(name, input) {
    const message = encoder.encode(`${name}\0${input}`);
    const place = this.#exports.input(message.length); // before the buffer is looked at: the memory may grow
    new Uint8Array(this.#exports.memory.buffer, place, message.length).set(message);
    const isError = this.#exports.answer() !== 0;
    const { memory, output, output_length } = this.#exports;
    return { isError, bytes: new Uint8Array(memory.buffer, output(), output_length()).slice() };
  }

  /** Answers a message of JSON with JSON, or throws what is wrong. */
  ask(name, input) {
    const { isError, bytes } = this.answer(name, JSON.stringify(input));
    const text = decoder.decode(bytes);
    if (isError) throw new Error(text);
    return JSON.parse(text);
  }
}
