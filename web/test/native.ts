// The native simulator: what pages are held against.

import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..");

/** The command; `.ci/web-test` builds it. */
export const FAIRWIRE = process.env["FAIRWIRE"] ?? join(ROOT, "target", "quick", "fairwire");

export interface LessonFile {
  name: string;
  path: string;
}

export const LESSONS: LessonFile[] = readdirSync(join(ROOT, "scenarios", "lessons"))
  .filter((file) => file.endsWith(".toml"))
  .sort()
  .map((file) => ({ name: file.replace(/^\d+-/, "").replace(/\.toml$/, ""), path: join(ROOT, "scenarios", "lessons", file) }));

interface Report {
  summary: { discipline: string; measures: Record<string, { mean: number }> }[];
}

/** The measures of each discipline, by the native simulator. */
export function measured(path: string): Report["summary"] {
  const output = execFileSync(FAIRWIRE, ["run", path, "--format", "json"], { stdio: ["ignore", "pipe", "pipe"] });
  return (JSON.parse(output.toString()) as Report).summary;
}
