// The current state of the gateway, received over one connection and read by all parts of the page.

import { useEffect, useState } from "preact/hooks";
import { wantsStill } from "../kit";
import { json, NeedsToken, type Pulse, type Snapshot, stream, type Wanted } from "./api";
import { keyOf, Readings } from "./live";

export type Link = "connecting" | "live" | "lost" | "token";

/** The milliseconds between two drawings of moving pictures. */
const FRAME = 100;
const STILL_FRAME = 1000;
const MAX_PICKS = 8;

class State {
  snapshot: Snapshot | null = null;
  link: Link = "connecting";
  fault = "";
  isPaused = false;
  picks: Wanted[] = [];
  readings = new Readings();
  /** Counts drawings: pictures are redrawn when it changes. */
  version = 0;
  private listeners = new Set<() => void>();
  private abort: AbortController | null = null;
  private isDue = false;

  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  changed(): void {
    for (const listener of this.listeners) listener();
  }

  /** Draws soon, but no more often than visible. */
  private draw(): void {
    if (this.isDue || this.isPaused) return;
    this.isDue = true;
    setTimeout(
      () => {
        this.isDue = false;
        this.version += 1;
        this.changed();
      },
      wantsStill() ? STILL_FRAME : FRAME,
    );
  }

  togglePause(): void {
    this.isPaused = !this.isPaused;
    this.changed();
  }

  toggle(wanted: Wanted): void {
    const key = keyOf(wanted);
    const has = this.picks.some((pick) => keyOf(pick) === key);
    this.picks = has
      ? this.picks.filter((pick) => keyOf(pick) !== key)
      : [...this.picks, wanted].slice(-MAX_PICKS);
    this.changed();
    this.abort?.abort();
  }

  private hear(name: string, data: string): void {
    if (this.link !== "live") {
      this.link = "live";
      this.changed();
    }
    if (this.isPaused) return;
    if (name === "snapshot") this.snapshot = JSON.parse(data) as Snapshot;
    if (name === "pulse") this.readings.take(JSON.parse(data) as Pulse);
    this.draw();
  }

  /** Keeps the connection open forever. */
  async run(): Promise<void> {
    for (;;) {
      this.abort = new AbortController();
      try {
        this.snapshot ??= await json<Snapshot>("snapshot", this.abort.signal);
        this.changed();
        await stream(this.picks, this.abort.signal, (name, data) => this.hear(name, data));
        this.fault = "the gateway ended the connection";
      } catch (error) {
        if (this.abort.signal.aborted) continue;
        if (error instanceof NeedsToken) {
          this.link = "token";
          this.changed();
          await new Promise<void>((resolve) => (this.resume = resolve));
          continue;
        }
        this.fault = error instanceof Error ? error.message : String(error);
      }
      this.link = "lost";
      this.readings.clear();
      this.changed();
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  }

  /** Continues after a token was given. */
  resume: () => void = () => undefined;
}

export const state = new State();

/** Redraws the caller on every change. */
export function useGateway(): State {
  const [, redraw] = useState(0);
  useEffect(() => {
    const end = state.listen(() => redraw((count) => count + 1));
    redraw((count) => count + 1); // an answer may have arrived since the first drawing
    return end;
  }, []);
  return state;
}

/** The gateway's answer at `path`, repeated every `everyMs`; `null` until it arrives. */
export function useAnswer<T>(path: string | null, everyMs: number): { answer: T | null; fault: string } {
  const [answer, setAnswer] = useState<T | null>(null);
  const [fault, setFault] = useState("");
  useEffect(() => {
    if (path === null) return;
    const abort = new AbortController();
    let timer = 0;
    const load = () => {
      if (state.isPaused || document.hidden) {
        timer = window.setTimeout(load, everyMs);
        return;
      }
      json<T>(path, abort.signal)
        .then((found) => {
          setAnswer(found);
          setFault("");
        })
        .catch((error: unknown) => {
          if (!abort.signal.aborted && !(error instanceof NeedsToken))
            setFault(error instanceof Error ? error.message : String(error));
        })
        .finally(() => {
          if (!abort.signal.aborted) timer = window.setTimeout(load, everyMs);
        });
    };
    load();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [path, everyMs]);
  return { answer, fault };
}
