// The location of the player: in a worker of the page by WebAssembly, or in the process that serves the page.

/** The capabilities of the page's server; a static site has none. */
export interface Server {
  /** Does a process answer messages, for browsers without WebAssembly? */
  hasPlayer: boolean;
  /** Can a contest run on this machine's kernel? */
  hasKernel: boolean;
  /** The initial scenario of the page, if given. */
  scenario: string | null;
}

export interface Door {
  /** The location of the simulation, for people. */
  place: string;
  /** Sends one message; returns its answer, or an error with a text for people. */
  call: (name: string, input?: unknown) => Promise<Uint8Array>;
}

/** Reads `server.json`, a file on a static site. */
export async function server(): Promise<Server> {
  const answer = await fetch("./server.json");
  const read = (await answer.json()) as Partial<Server>;
  return {
    hasPlayer: read.hasPlayer === true,
    hasKernel: read.hasKernel === true,
    scenario: typeof read.scenario === "string" ? read.scenario : null,
  };
}

/** A player in the page, or else in the process. */
export async function open(known: Server, isWanted: (kind: "page" | "process") => boolean): Promise<Door> {
  if (isWanted("page") && typeof WebAssembly === "object" && typeof DecompressionStream === "function") {
    try {
      return await inPage();
    } catch (error) {
      if (!known.hasPlayer) throw error;
    }
  }
  if (!known.hasPlayer) throw new Error("this browser has no WebAssembly, and no process serves this page: run `fairwire play`");
  return inProcess();
}

interface Reply {
  id: number;
  isError: boolean;
  bytes: Uint8Array;
}

const decoder = new TextDecoder();

async function inPage(): Promise<Door> {
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  const waiting = new Map<number, { resolve: (bytes: Uint8Array) => void; reject: (error: Error) => void }>();
  let last = 0;
  const failAll = (why: string) => {
    for (const { reject } of waiting.values()) reject(new Error(why));
    waiting.clear();
  };
  worker.onmessage = ({ data }: MessageEvent<Reply>) => {
    const found = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.isError) found?.reject(new Error(decoder.decode(data.bytes)));
    else found?.resolve(data.bytes);
  };
  worker.onerror = (event) => failAll(`the simulator stopped: ${event.message}`);
  const call = (name: string, input?: unknown) =>
    new Promise<Uint8Array>((resolve, reject) => {
      last += 1;
      waiting.set(last, { resolve, reject });
      worker.postMessage({ id: last, name, input: input === undefined ? "" : JSON.stringify(input) });
    });
  await call("catalogue"); // is it available?
  return { place: "in this page (WebAssembly)", call };
}

function inProcess(): Door {
  const id = crypto.getRandomValues(new Uint32Array(2)).join("-");
  const call = async (name: string, input?: unknown) => {
    const body = input === undefined ? "" : JSON.stringify(input);
    const answer = await fetch(`./player/${id}/${name}`, { method: "POST", body });
    const bytes = new Uint8Array(await answer.arrayBuffer());
    if (!answer.ok) throw new Error(decoder.decode(bytes));
    return bytes;
  };
  return { place: "in the process that serves this page", call };
}

/** The JSON answer to a message. */
export async function json<T>(door: Door, name: string, input?: unknown): Promise<T> {
  return JSON.parse(decoder.decode(await door.call(name, input))) as T;
}
