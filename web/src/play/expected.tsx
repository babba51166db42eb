// The expectations of a scenario, next to the outcome: a tick if one holds, a cross if not.

import { format } from "../kit";
import type { About, Game, Judgement } from "./game";
import type { Attempt } from "./progress";
import { isTable, type Table, type Value } from "./toml";

export const HOLDS = "holds";
const DIGITS = 4;

/** A value in the unit of its measure. */
function valued(measure: string, value: number | null): string {
  const number = value ?? Number.NaN;
  const shown = /_bps(\.|$)/.test(measure) ? format.rate(number, DIGITS) : /_s(\.|$)/.test(measure) ? format.seconds(number, DIGITS) : format.significant(number, DIGITS);
  return format.bare(shown);
}

/** An expectation in words, such as "jain at least 0.98". */
function words({ discipline, measure, min, max, against }: Judgement, isAlone: boolean): string {
  const bound = (value: number) => valued(measure, value);
  const subject = isAlone || discipline === "" ? measure : `${discipline}: ${measure}`;
  if (against) {
    const other = against.measure === measure ? against.discipline : `${against.measure} of ${against.discipline}`;
    return `${subject} ${against.is_more ? "more" : "less"} than ${other}${against.margin > 0 ? `, by over ${bound(against.margin)}` : ""}`;
  }
  if (min !== null && max !== null) return `${subject} from ${bound(min)} to ${bound(max)}`;
  return min !== null ? `${subject} at least ${bound(min)}` : `${subject} at most ${bound(max ?? Number.NaN)}`;
}

const number = (value: Value | undefined) => (typeof value === "number" ? value : null);

/** The scenario's expectations as typed, without an outcome yet. */
export function expectedOf(document: Table): Judgement[] {
  const typed = (document["expect"] as Table[] | undefined) ?? [];
  return typed.flatMap((expect) => {
    const [min, max, measure] = [number(expect["min"]), number(expect["max"]), String(expect["measure"])];
    const bare = { discipline: String(expect["discipline"] ?? ""), measure, mean: null, min: null, max: null, against: null, because: String(expect["because"] ?? ""), verdict: null };
    const against = (other: Value | undefined, is_more: boolean): Judgement[] =>
      isTable(other)
        ? [{ ...bare, against: { discipline: String(other["discipline"]), measure: String(other["measure"] ?? measure), is_more, margin: number(other["margin"]) ?? 0 } }]
        : [];
    const bounds = min === null && max === null ? [] : [{ ...bare, min, max }];
    return [...bounds, ...against(expect["less_than"], false), ...against(expect["more_than"], true)];
  });
}

interface Props {
  game: Game;
  about: About;
}

export function Expectations({ game, about }: Props) {
  const { judgements, judging } = game;
  const all = judgements ?? expectedOf(about.document);
  const isAlone = about.disciplines.length === 1;
  const held = all.filter(({ verdict }) => verdict === HOLDS).length;
  const runs = judging ? judging.of / about.disciplines.length : 0;
  return (
    <div class="expected">
      <table>
        <caption class="unseen">what is expected, and what came</caption>
        <thead>
          <tr>
            <th scope="col">expected</th>
            <th scope="col">came</th>
            <th scope="col">
              <span class="unseen">verdict</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {all.map((one, index) => (
            <tr key={index}>
              <td>
                {words(one, isAlone)}
                {one.because && <span class="faint small">: {one.because}</span>}
              </td>
              <td class="number" data-measure={one.measure} data-value={one.mean ?? undefined}>
                {one.verdict === null ? "" : valued(one.measure, one.mean)}
              </td>
              <td>{one.verdict !== null && <Verdict verdict={one.verdict} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="faint small" role="status">
        {judgements
          ? `${held} of ${all.length} ${all.length === 1 ? "holds" : "hold"}, ${runs === 1 ? "in a whole run" : `on average over whole runs of ${runs} seeds`}, as by fairwire run.`
          : judging && `Judging: ${judging.done} of ${judging.of} whole runs.`}
        {judging?.isKept === false && " This browser does not keep progress."}
      </p>
    </div>
  );
}

/** A sign in addition to the colour, and the word for screen readers. */
export function Verdict({ verdict }: { verdict: string }) {
  const holds = verdict === HOLDS;
  return (
    <span class={holds ? "mark good" : "mark bad"} title={verdict}>
      <span aria-hidden="true">{holds ? "✓" : verdict === "unclear" ? "?" : "✗"}</span>
      <span class="unseen">{verdict}</span>
    </span>
  );
}

/** The outcome of an exercise. */
export function attempt(about: About, judgements: Judgement[]): Attempt {
  const isAlone = about.disciplines.length === 1;
  return {
    expectations: judgements.map((one) => ({ expected: words(one, isAlone), came: one.mean, verdict: one.verdict ?? "" })),
    when: new Date().toISOString(),
    scenario: about.toml,
  };
}
