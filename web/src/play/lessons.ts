// The lessons and the exercises, in the order of their files: each is a scenario with a table `[lesson]`.

const files = import.meta.glob(["../../../scenarios/lessons/*.toml", "../../../scenarios/exercises/*.toml"], {
  query: "?raw",
  import: "default",
  eager: true,
}) as Record<string, string>;

export interface Lesson {
  /** The name of its file, without the number before it. */
  name: string;
  title: string;
  scenario: string;
  /** Does an expectation fail initially? Then its answer is shown on request. */
  isExercise: boolean;
}

const isExercise = (path: string) => path.includes("/exercises/");

export const LESSONS: Lesson[] = Object.entries(files)
  .sort(([a], [b]) => Number(isExercise(a)) - Number(isExercise(b)) || (a < b ? -1 : 1))
  .map(([path, scenario]) => ({
    name: `${isExercise(path) ? "exercise-" : ""}${path.replace(/^.*\/(?:\d+-)?/, "").replace(/\.toml$/, "")}`,
    title: /^title = "(.*)"$/m.exec(scenario)?.[1] ?? path,
    scenario,
    isExercise: isExercise(path),
  }));

/** The exercise with a contest's name; null if there is none. */
export const exerciseOf = (name: string): string | null => LESSONS.find((each) => each.isExercise && each.name === name)?.name ?? null;

/** The initial contest of the page. */
export const FIRST = `# Four TCP flows of two distances share a link with one flow that does not slow down.
format = 2
name = "play"
title = "Four TCP flows and one that does not slow down"
duration = "120 s"
warm_up = "10 s"
seeds = 1
disciplines = ["tail-drop", "fq-codel"]

[link]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "100 packets"

[[flow]]
group = "near"
count = 2
source = "bulk"
tcp = { control = "cubic", recovery = "sack" }
access = { rate = "100 Mbit/s", delay = "2 ms" }
start = "0 s..1 s"

[[flow]]
group = "far"
count = 2
source = "bulk"
tcp = { control = "cubic", recovery = "sack" }
access = { rate = "100 Mbit/s", delay = "20 ms" }
start = "0 s..1 s"

[[flow]]
group = "flood"
source = { cbr = { rate = "3 Mbit/s", packet = "1000 B" } }
access = { rate = "100 Mbit/s", delay = "5 ms" }
`;
