// The native simulator: what pages are held against.

import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..");

/** The command; `.ci/web-test` builds it. */
export const FAIRWIRE = process.env["FAIRWIRE"] ?? join(ROOT, "target", "quick", "fairwire");

export interface LessonFile {
  name: string;
  path: string;
}

const filesOf = (folder: string): LessonFile[] =>
  readdirSync(join(ROOT, "scenarios", folder))
    .filter((file) => file.endsWith(".toml"))
    .sort()
    .map((file) => ({ name: file.replace(/^\d+-/, "").replace(/\.toml$/, ""), path: join(ROOT, "scenarios", folder, file) }));

export const LESSONS = filesOf("lessons");
export const EXERCISES = filesOf("exercises");

interface Report {
  summary: { discipline: string; measures: Record<string, { mean: number }> }[];
}

/** The measures of each discipline, by the native simulator, and whether all that is expected came. */
export function run(path: string): { summary: Report["summary"]; holds: boolean } {
  const { status, stdout, stderr } = spawnSync(FAIRWIRE, ["run", path, "--format", "json"], { maxBuffer: 1 << 28 });
  if (status !== 0 && status !== 3) throw new Error(stderr.toString());
  return { summary: (JSON.parse(stdout.toString()) as Report).summary, holds: status === 0 };
}

export const measured = (path: string): Report["summary"] => run(path).summary;
