// The state of the page in its address: a lesson by its name, or a whole scenario, packed.

export type State = { lesson: string } | { scenario: string };

/** The maximum of characters in a packed scenario, still accepted by address bars and chats. */
const MAX_PACKED = 32_768;
/** The maximum of characters in an unpacked scenario, because a small text may expand greatly. */
const MAX_TEXT = 262_144;

const through = async (bytes: Uint8Array<ArrayBuffer>, stream: CompressionStream | DecompressionStream) =>
  new Response(new Response(bytes).body?.pipeThrough(stream as ReadableWritablePair<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>));

/** The address fragment for this state. */
export async function pack(state: State): Promise<string> {
  if ("lesson" in state) return `#lesson=${encodeURIComponent(state.lesson)}`;
  const packed = new Uint8Array(
    await (await through(new TextEncoder().encode(state.scenario), new CompressionStream("deflate-raw"))).arrayBuffer(),
  );
  const text = btoa(String.fromCharCode(...packed));
  return `#scenario=${text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** The state in a fragment; null if it has none. An error if it is invalid. */
export async function unpack(fragment: string): Promise<State | null> {
  const text = fragment.replace(/^#/, "");
  if (text === "") return null;
  const [name, value = ""] = text.split("=", 2);
  if (name === "lesson") return { lesson: decodeURIComponent(value) };
  if (name !== "scenario") throw new Error("it begins with neither `lesson=` nor `scenario=`");
  if (value.length > MAX_PACKED) throw new Error("it is too long");
  try {
    const plain = atob(value.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
    const stream = (await through(bytes, new DecompressionStream("deflate-raw"))).body;
    return { scenario: await limited(stream) };
  } catch (error) {
    throw error instanceof TooMuch ? error : new Error("it is damaged or cut short");
  }
}

class TooMuch extends Error {}

async function limited(stream: ReadableStream<Uint8Array> | null): Promise<string> {
  const reader = stream?.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  for (;;) {
    const part = await reader?.read();
    if (!part || part.done) return text + decoder.decode();
    text += decoder.decode(part.value, { stream: true });
    if (text.length > MAX_TEXT) {
      await reader?.cancel();
      throw new TooMuch("it unpacks to too much");
    }
  }
}
