// The same contest between sockets of this machine's kernel, compared with the simulator.

import { format } from "../kit";
import type { About } from "./game";
import type { Shown } from "./pictures";

/** The rates of one discipline by stage and group, at the times of the samples. */
interface Curves {
  times: Set<number>;
  /** By stage and group: the rate at each time. A busy machine may skip one. */
  rates: Map<string, Map<number, number>>;
}

const STAGES = [
  { name: "lab", text: "kernel", dash: [] },
  { name: "sim", text: "simulated", dash: [4, 3] },
];

/** Runs it in real time. The error is the command's own text. */
export async function contest(scenario: string): Promise<string> {
  const answer = await fetch("./kernel", { method: "POST", body: scenario });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text;
}

/** Both curves of each group in one picture, for each discipline. */
export function kernelPictures(series: string, about: About): Shown[] {
  const found = read(series);
  const groups = [...new Set(about.flows.map((flow) => flow.group))];
  return [...found].map(([discipline, curves]) => {
    const lines = groups.flatMap((group, colour) => STAGES.map((stage) => ({ group, colour, stage })));
    return {
      title: `On this machine's kernel, under ${discipline}`,
      axis: "rate of each group: kernel, and simulated (dashed)",
      series: lines.map(({ group, colour, stage }) => ({ name: `${group}, ${stage.text}`, colour, dash: stage.dash })),
      data: () => {
        const times = Float64Array.from(curves.times).sort();
        const rates = lines.map(({ group, stage }) => {
          const known = curves.rates.get(`${stage.name} ${group}`);
          return times.map((time) => known?.get(time) ?? Number.NaN);
        });
        return [times, ...rates];
      },
      format: format.rate,
    };
  });
}

/** Parses the time series of `fairwire run`: the rate of each group leaving the last link. */
function read(series: string): Map<string, Curves> {
  const found = new Map<string, Curves>();
  for (const line of series.split("\n").slice(1)) {
    const [discipline = "", stage = "", , time = "", kind, name = "", measure, , value = ""] = line.split(",");
    if (kind !== "group" || measure !== "egress") continue;
    const curves = found.get(discipline) ?? { times: new Set<number>(), rates: new Map<string, Map<number, number>>() };
    found.set(discipline, curves);
    curves.times.add(Number(time));
    const key = `${stage} ${name}`;
    const rates = curves.rates.get(key) ?? new Map<number, number>();
    curves.rates.set(key, rates);
    rates.set(Number(time), Number(value));
  }
  return found;
}
