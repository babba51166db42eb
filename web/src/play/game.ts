// The runs on the page: starts, advances, pauses and changes them. Independent of elements.

import { type Door, json } from "./door";
import { History, take } from "./history";
import type { Judge } from "./judge";
import { exerciseOf } from "./lessons";
import type { Table } from "./toml";

export interface Flow {
  name: string;
  group: string;
  is_tcp: boolean;
}

export interface LessonAbout {
  question: string;
  look: string;
  measure: string;
  reads: string;
  answer: string;
  figure: string;
}

/** The running contest, as reported by the player. */
export interface About {
  name: string;
  title: string;
  duration_s: number;
  warm_up_s: number;
  seed: number;
  sample_s: number;
  disciplines: string[];
  sides: string[];
  links: string[];
  flows: Flow[];
  causes: string[];
  document: Table;
  toml: string;
  notes: string[];
  lesson: LessonAbout | null;
}

/** The measures of a complete run. */
export interface Result {
  discipline: string;
  measures: Record<string, number>;
}

/** The expectation on a measure, and its mean over the seeds. Null before it is judged. */
export interface Judgement {
  discipline: string;
  measure: string;
  mean: number | null;
  min: number | null;
  max: number | null;
  against: { discipline: string; measure: string; is_more: boolean; margin: number } | null;
  because: string;
  verdict: string | null;
}

/** The number of complete runs made for judging expectations. */
export interface Judging {
  done: number;
  of: number;
  judgements: Judgement[] | null;
  /** For an exercise: does this browser store the outcome? */
  isKept?: boolean;
}

/** Simulated seconds per second of real time. */
export const SPEEDS = [0.05, 0.25, 1, 4, 16] as const;
/** The maximum of simulated time between two pictures, to keep a fast page responsive. */
const MAX_STEP = 0.5;

export class Game {
  about: About | null = null;
  sides: History[] = [];
  now = 0;
  isOver = false;
  isPlaying = false;
  isBusy = false;
  /** Advancing to the end at full speed. */
  isRushing = false;
  speed: number = 1;
  result: Result[] | null = null;
  judging: Judging | null = null;
  /** Counts pictures. */
  frames = 0;
  /** The disciplines with their start times, in order of time. */
  eras: { since: number; sides: string[] }[] = [];
  /** Counts runs, because messages on one do not apply to the next. */
  runs = 0;
  private last = 0;

  get judgements(): Judgement[] | null {
    return this.judging?.judgements ?? null;
  }

  constructor(
    readonly door: Door,
    private readonly judges: Judge,
    /** A change other than a new frame: the contest, its state, a result. */
    private readonly changed: () => void,
    private readonly failed: (why: string) => void,
  ) {}

  /** Restarts. An error in the scenario keeps the current run. */
  async start(scenario: string): Promise<void> {
    const run = ++this.runs;
    this.isBusy = true;
    try {
      const about = await json<About>(this.door, "start", { scenario });
      if (run !== this.runs) return;
      this.about = about;
      this.sides = about.sides.map(() => new History(about.flows.length, about.causes.length));
      this.now = 0;
      this.eras = [{ since: 0, sides: about.sides }];
      this.isOver = false;
      this.isRushing = false;
      this.result = null;
      this.judging = null;
      this.last = 0;
    } finally {
      if (run === this.runs) this.isBusy = false;
      this.changed();
    }
    await this.advance(about_step(this.about));
  }

  /** Changes values during the runs; false if that needs a new run. An invalid value is an error. */
  async set(changes: string[]): Promise<boolean> {
    while (this.isBusy) await new Promise((resolve) => setTimeout(resolve, 1));
    this.isBusy = true;
    try {
      this.about = await json<About>(this.door, "set", { set: changes });
      this.eras.push({ since: this.now, sides: this.about.sides });
      return true;
    } catch (error) {
      if (String(error).includes("all else needs a new run")) return false;
      throw error;
    } finally {
      this.isBusy = false;
      this.changed();
    }
  }

  setPlaying(isPlaying: boolean): void {
    this.isPlaying = isPlaying && !this.isOver;
    this.isRushing = false;
    this.last = 0;
    this.changed();
  }

  rush(): void {
    this.isPlaying = !this.isOver;
    this.isRushing = true;
    this.changed();
  }

  /** Advances by one sample, paused. */
  async step(): Promise<void> {
    this.setPlaying(false);
    await this.advance(this.now + about_step(this.about));
  }

  /** Call this for each picture with the time in ms. Returns whether there is something new to draw. */
  tick(clock: number): void {
    if (!this.isPlaying || this.isBusy || !this.about) return;
    const passed = this.last === 0 ? 1 / 60 : Math.min(0.1, (clock - this.last) / 1000);
    const step = this.isRushing ? MAX_STEP : Math.min(MAX_STEP, passed * this.speed);
    const to = Math.min(this.target(clock) + step, this.about.duration_s);
    this.last = clock;
    this.wanted = to;
    if (to - this.now >= this.about.sample_s || to >= this.about.duration_s) void this.advance(to);
  }

  private wanted = 0;

  /** Slow motion is slower than one sample per picture, so fractions accumulate. */
  private target(_clock: number): number {
    const sample = this.about?.sample_s ?? 0.01;
    return this.wanted > this.now && this.wanted < this.now + 2 * sample ? this.wanted : this.now;
  }

  private async advance(to: number): Promise<void> {
    if (this.isBusy || !this.about) return;
    const run = this.runs;
    this.isBusy = true;
    try {
      const bytes = await this.door.call("advance", { to_s: to + 1e-6 });
      if (run !== this.runs) return;
      const frame = take(bytes, this.sides);
      this.now = frame.now;
      this.frames += 1;
      if (frame.isOver && !this.isOver) await this.end();
    } catch (error) {
      this.isPlaying = false;
      this.failed(String(error instanceof Error ? error.message : error));
    } finally {
      if (run === this.runs) this.isBusy = false;
    }
  }

  private async end(): Promise<void> {
    this.result = await json<Result[] | null>(this.door, "result");
    this.isOver = true;
    this.isPlaying = false;
    this.isRushing = false;
    this.changed();
    if (this.about?.lesson && expects(this.about)) void this.judge(this.about);
  }

  /** Expectations are checked against complete runs of every discipline and seed. */
  private async judge({ name, toml }: About): Promise<void> {
    const run = this.runs;
    const said = (judging: Judging) => {
      if (run !== this.runs) return false;
      this.judging = judging;
      this.changed();
      return true;
    };
    try {
      await this.judges.judge(toml, exerciseOf(name), said);
    } catch (error) {
      if (run === this.runs) this.failed(String(error instanceof Error ? error.message : error));
    }
  }
}

/** Does the scenario have expectations? */
export function expects({ document }: About): boolean {
  const { expect } = document;
  return Array.isArray(expect) && expect.length > 0;
}

function about_step(about: About | null): number {
  return about?.sample_s ?? 0.01;
}
