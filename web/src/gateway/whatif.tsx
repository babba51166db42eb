// What if: the last minute's arrivals through another discipline, compared with the actual outcome.

import { useEffect, useState } from "preact/hooks";
import { format } from "../kit";
import { json, type Way } from "./api";

interface Outcome {
  discipline: string;
  packets_in: number;
  packets_out: number;
  throughput_bps: number;
  dropped: Record<string, number>;
  marked: number;
  p50_s: number;
  p95_s: number;
  p99_s: number;
  jain: number;
  shares: { name: string; offered_bps: number; throughput_bps: number; dropped: number }[];
}

interface Replay {
  way: Way;
  seconds: number;
  happened: { seconds: number; throughput_bps: number; dropped: number; p50_s: number; p99_s: number };
  present: Outcome;
  other: Outcome;
}

export function WhatIf(props: { way: Way }) {
  const [names, setNames] = useState<string[]>([]);
  const [chosen, setChosen] = useState("fq-codel");
  const [replay, setReplay] = useState<Replay | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState("");
  useEffect(() => {
    json<string[]>("disciplines")
      .then(setNames)
      .catch(() => undefined);
  }, []);
  useEffect(() => setReplay(null), [props.way]);
  const run = async () => {
    setBusy(true);
    try {
      setReplay(await json<Replay>(`replay?${new URLSearchParams({ way: props.way, discipline: chosen })}`));
      setFault("");
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  return (
    <section class="card" aria-labelledby="whatif">
      <header>
        <h2 id="whatif">What if another discipline had been here?</h2>
      </header>
      <p>
        The packets that arrived in the last minute, at their times, go through another discipline. Senders do not
        react: with other drops and delays they would have sent something else. The discipline in use is replayed
        too; trust the replay as far as that agrees with what happened.
      </p>
      <form
        class="controls"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <label>
          <span class="faint">discipline: </span>
          <select value={chosen} onChange={(event) => setChosen(event.currentTarget.value)}>
            {(names.length > 0 ? names : [chosen]).map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" disabled={isBusy}>
          {isBusy ? "replaying…" : "replay the last minute"}
        </button>
      </form>
      {fault && (
        <p class="notice bad" role="alert">
          {fault}
        </p>
      )}
      {replay && <Outcomes replay={replay} />}
    </section>
  );
}

function Outcomes(props: { replay: Replay }) {
  const { happened, present, other, seconds } = props.replay;
  const drops = (outcome: Outcome) => Object.values(outcome.dropped).reduce((all, count) => all + count, 0);
  const why = (outcome: Outcome) =>
    Object.entries(outcome.dropped)
      .map(([cause, count]) => `${format.count(count)} ${cause}`)
      .join(", ") || "none";
  const of = (name: string) => present.shares.find((share) => share.name === name);
  return (
    <>
      <div class="scroller" role="region" tabIndex={0} aria-label="outcomes of the replay">
        <table class="list outcome">
          <caption class="faint">
            {format.significant(seconds)} s, {format.count(other.packets_in)} packets
          </caption>
          <thead>
            <tr>
              <td />
              <th scope="col" class="number">
                happened
              </th>
              <th scope="col" class="number">
                {present.discipline}, replayed
              </th>
              <th scope="col" class="number">
                {other.discipline}, replayed
              </th>
            </tr>
          </thead>
          <tbody>
            <tr>
              <th scope="row">rate</th>
              <td class="number">{format.rate(happened.throughput_bps)}</td>
              <td class="number">{format.rate(present.throughput_bps)}</td>
              <td class="number">{format.rate(other.throughput_bps)}</td>
            </tr>
            <tr>
              <th scope="row">packets dropped</th>
              <td class="number">{format.count(happened.dropped)}</td>
              <td class="number">{format.count(drops(present))}</td>
              <td class="number">{format.count(drops(other))}</td>
            </tr>
            <tr>
              <th scope="row">half wait less than</th>
              <td class="number">{format.seconds(happened.p50_s)}</td>
              <td class="number">{format.seconds(present.p50_s)}</td>
              <td class="number">{format.seconds(other.p50_s)}</td>
            </tr>
            <tr>
              <th scope="row">99 of 100 wait less than</th>
              <td class="number">{format.seconds(happened.p99_s)} (worst second)</td>
              <td class="number">{format.seconds(present.p99_s)}</td>
              <td class="number">{format.seconds(other.p99_s)}</td>
            </tr>
            <tr>
              <th scope="row">Jain's index</th>
              <td class="number">–</td>
              <td class="number">{present.jain.toFixed(3)}</td>
              <td class="number">{other.jain.toFixed(3)}</td>
            </tr>
            <tr>
              <th scope="row">why dropped</th>
              <td class="number">–</td>
              <td class="number">{why(present)}</td>
              <td class="number">{why(other)}</td>
            </tr>
          </tbody>
        </table>
      </div>
      <div class="scroller" role="region" tabIndex={0} aria-label="shares in the replay">
        <table class="list">
          <thead>
            <tr>
              <th scope="col">who</th>
              <th scope="col" class="number">
                sent
              </th>
              <th scope="col" class="number">
                got from {present.discipline}
              </th>
              <th scope="col" class="number">
                got from {other.discipline}
              </th>
            </tr>
          </thead>
          <tbody>
            {other.shares.map((share, place) => (
              <tr key={`${share.name}-${place}`}>
                <th scope="row">
                  <bdi>{share.name}</bdi>
                </th>
                <td class="number">{format.rate(share.offered_bps)}</td>
                <td class="number">{format.rate(of(share.name)?.throughput_bps ?? Number.NaN)}</td>
                <td class="number">{format.rate(share.throughput_bps)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
