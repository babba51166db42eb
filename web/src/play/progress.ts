// The fulfilled expectations of each exercise, stored in this browser.

/** The best attempt at an exercise; of equal ones, the latest. */
export interface Attempt {
  /** `came` is null if the measure is not a number. */
  expectations: { expected: string; came: number | null; verdict: string }[];
  when: string;
  /** The scenario, for repeating the run. */
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

/** The browser's data under `key`, without foreign entries: other pages of this address may write there. */
function read<T>(key: string, isOne: (value: unknown) => value is T): Record<string, T> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? "{}");
    return Object.fromEntries(Object.entries(kept ?? {}).filter((entry): entry is [string, T] => isOne(entry[1])));
  } catch {
    return {};
  }
}

/** False if the browser stores nothing. */
function write(key: string, value: object): boolean {
  try {
    localStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

/** The stored data. */
export const progress = (): Progress => read(KEY, isAttempt);

/** The latest scenario of each exercise with an unfinished judgement. */
export const unfinished = () => read(UNFINISHED, (value): value is string => typeof value === "string");

/** Records that an exercise is being judged. */
export function remember(exercise: string, scenario: string): void {
  write(UNFINISHED, { ...unfinished(), [exercise]: scenario });
}

/** Ends that, unless another scenario is being judged by now. */
export function forget(exercise: string, scenario: string): void {
  const { [exercise]: last, ...others } = unfinished();
  if (last === scenario) write(UNFINISHED, others);
}

/** Stores an attempt, unless an earlier one was better. False if the browser stores nothing. */
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
    // Then nothing was stored either.
  }
}

/** The file to hand in. */
export const exported = (kept: Progress) => `${JSON.stringify({ format: 1, exercises: kept }, null, 2)}\n`;
