// Why packets are dropped: the causes by class, and the latest drops individually.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { format, HeatMap } from "../kit";
import { type Drop, type Drops as DropsAnswer, request, type Way } from "./api";
import { useAnswer } from "./state";

/** The maximum of rows in the heat map, those with the most drops. */
const MAX_ROWS = 16;
const SHOWN = 100;

/** The causes, next to the content `beside`, then the latest drops. */
export function Drops(props: { way: Way; hasClasses: boolean; beside: ComponentChildren; between: ComponentChildren }) {
  const { answer, fault } = useAnswer<DropsAnswer>(`drops?limit=500`, 1000);
  const minute = answer?.minute.filter((cell) => cell.way === props.way) ?? [];
  const reason = (cell: { fate: string; reason: string }) =>
    cell.fate === "dropped" ? cell.reason : `${cell.fate}: ${cell.reason}`;
  const columns = [...new Set(minute.map(reason))].sort();
  const rows = new Map<string, number[]>();
  for (const cell of minute) {
    const values = rows.get(cell.name) ?? columns.map(() => 0);
    rows.set(cell.name, values);
    const column = columns.indexOf(reason(cell));
    values[column] = (values[column] ?? 0) + cell.count;
  }
  const total = (values: number[]) => values.reduce((sum, value) => sum + value, 0);
  const sorted = [...rows].sort(([, a], [, b]) => total(b) - total(a)).slice(0, MAX_ROWS);
  const last = (answer?.last.filter((drop) => drop.way === props.way) ?? []).slice(0, SHOWN);
  return (
    <>
      <div class="pictures">
      {props.beside}
      <section class="card" aria-labelledby="causes">
        <header>
          <h2 id="causes">What is dropped, and why</h2>
          <span class="faint">packets in the last minute</span>
        </header>
        {fault && <p class="notice bad">{fault}</p>}
        {sorted.length > 0 ? (
          <HeatMap
            title={`drops by ${props.hasClasses ? "class" : "flow"} and cause in the last minute`}
            columns={columns}
            rows={sorted.map(([name, values]) => ({ name, values }))}
            format={(value) => format.count(value)}
          />
        ) : (
          <p class="faint">Nothing was dropped in the last minute.</p>
        )}
      </section>
      </div>
      {props.between}
      <section class="card" aria-labelledby="last">
        <header>
          <h2 id="last">The last drops</h2>
          <Capture />
        </header>
        {last.length > 0 ? <Last drops={last} hasClasses={props.hasClasses} /> : <p class="faint">There are none yet.</p>}
      </section>
    </>
  );
}

/** Without classes, flows have a share, but the fair share of a single flow is unknown. */
function Last(props: { drops: Drop[]; hasClasses: boolean }) {
  return (
    <div class="scroller" role="region" tabIndex={0} aria-label="list of the last drops">
      <table class="list">
        <thead>
          <tr>
            <th scope="col">why</th>
            {props.hasClasses && <th scope="col">class</th>}
            <th scope="col">packet</th>
            <th scope="col" class="number">waited</th>
            <th scope="col" class="number">its share then</th>
            {props.hasClasses && <th scope="col" class="number">fair</th>}
            <th scope="col">time</th>
          </tr>
        </thead>
        <tbody>
          {props.drops.map((drop, place) => (
            <tr key={`${drop.at_s}-${place}`}>
              <td>
                {drop.fate}: {drop.reason}
              </td>
              {props.hasClasses && (
                <td>
                  <bdi>{drop.class}</bdi>
                </td>
              )}
              <td>
                <bdi>{drop.packet}</bdi>
              </td>
              <td class="number">{format.seconds(drop.waited_s)}</td>
              <td class="number">{drop.share === null ? "–" : format.percent(drop.share)}</td>
              {props.hasClasses && <td class="number">{drop.fair === null ? "–" : format.percent(drop.fair)}</td>}
              <td>{timeOfDay(drop.at_s)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function timeOfDay(seconds: number): string {
  const time = new Date(seconds * 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  const thousandths = String(time.getMilliseconds()).padStart(3, "0");
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${thousandths}`;
}

/** The capture as a file, with the reason of each drop. */
function Capture() {
  const [fault, setFault] = useState("");
  const save = async () => {
    try {
      const bytes = await (await request("capture")).blob();
      const link = document.createElement("a");
      link.href = URL.createObjectURL(bytes);
      link.download = "fairwire.pcapng";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
      setFault("");
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <span class="controls">
      {fault && <span class="notice bad">{fault}</span>}
      <button type="button" onClick={() => void save()}>
        open in Wireshark
      </button>
    </span>
  );
}
