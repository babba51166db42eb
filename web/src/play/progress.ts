// Which expectations of each exercise held, kept in this browser.

/** The best attempt at an exercise, and the latest of those that are as good. */
export interface Attempt {
  /** `came` is null where the measure is not a number. */
  expectations: { expected: string; came: number | null; verdict: string }[];
  when: string;
  /** The scenario that was run, to run it again. */
  scenario: string;
}

export type Progress = Record<string, Attempt>;

const KEY = "fairwire.exercises";
const UNFINISHED = "fairwire.judging";

export const held = (attempt: Attempt) => attempt.expectations.filter(({ verdict }) => verdict === "holds").length;
export const isSolved = (attempt: Attempt) => held(attempt) === attempt.expectations.length;

function isAttempt(value: unknown): value is Attempt {
  const { expectations, when, scenario } = (value ?? {}) as Partial<Attempt>;
  const isRow = (row: unknown) => typeof (row as Attempt["expectations"][0] | null)?.expected === "string";
  return Array.isArray(expectations) && expectations.length > 0 && expectations.every(isRow) && typeof when === "string" && typeof scenario === "string";
}

/** What this browser has under `key`. What is none of it is left out: other pages of this address may write there. */
function read<T>(key: string, isOne: (value: unknown) => value is T): Record<string, T> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? "{}");
    return Object.fromEntries(Object.entries(kept ?? {}).filter((entry): entry is [string, T] => isOne(entry[1])));
  } catch {
    return {};
  }
}

/** False where the browser keeps nothing. */
function write(key: string, value: object): boolean {
  try {
    localStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

/** What is kept. */
export const progress = (): Progress => read(KEY, isAttempt);

/** The scenarios of exercises that are not judged to their end: the latest of each. */
export const unfinished = () => read(UNFINISHED, (value): value is string => typeof value === "string");

/** An exercise is being judged. */
export function remember(exercise: string, scenario: string): void {
  write(UNFINISHED, { ...unfinished(), [exercise]: scenario });
}

/** It no longer is, unless another scenario is by now. */
export function forget(exercise: string, scenario: string): void {
  const { [exercise]: last, ...others } = unfinished();
  if (last === scenario) write(UNFINISHED, others);
}

/** Keeps an attempt, unless an earlier one was better. False where the browser keeps nothing. */
export function keep(exercise: string, attempt: Attempt): boolean {
  const kept = progress();
  const before = kept[exercise];
  if (before && held(before) / before.expectations.length > held(attempt) / attempt.expectations.length) return true;
  return write(KEY, { ...kept, [exercise]: attempt });
}

export function clear(): void {
  try {
    [KEY, UNFINISHED].forEach((key) => localStorage.removeItem(key));
  } catch {
    // Then nothing was kept either.
  }
}

/** The file that is handed in. */
export const exported = (kept: Progress) => `${JSON.stringify({ format: 1, exercises: kept }, null, 2)}\n`;
