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

export const held = (attempt: Attempt) => attempt.expectations.filter(({ verdict }) => verdict === "holds").length;
export const isSolved = (attempt: Attempt) => held(attempt) === attempt.expectations.length;

function isAttempt(value: unknown): value is Attempt {
  const { expectations, when, scenario } = (value ?? {}) as Partial<Attempt>;
  const isRow = (row: unknown) => typeof (row as Attempt["expectations"][0] | null)?.expected === "string";
  return Array.isArray(expectations) && expectations.length > 0 && expectations.every(isRow) && typeof when === "string" && typeof scenario === "string";
}

/** What is kept. What is no attempt is left out: other pages of this address may write there. */
export function progress(): Progress {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return Object.fromEntries(Object.entries(kept ?? {}).filter(([, attempt]) => isAttempt(attempt)));
  } catch {
    return {};
  }
}

/** Keeps an attempt, unless an earlier one was better. False where the browser keeps nothing. */
export function keep(exercise: string, attempt: Attempt): boolean {
  const kept = progress();
  const before = kept[exercise];
  if (before && held(before) / before.expectations.length > held(attempt) / attempt.expectations.length) return true;
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...kept, [exercise]: attempt }));
    return true;
  } catch {
    return false;
  }
}

export function clear(): void {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // Then nothing was kept either.
  }
}

/** The file that is handed in. */
export const exported = (kept: Progress) => `${JSON.stringify({ format: 1, exercises: kept }, null, 2)}\n`;
