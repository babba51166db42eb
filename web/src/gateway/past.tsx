// The history: the last five minutes, hour, day, or everything kept, and the changes.

import { useState } from "preact/hooks";
import { format, LineChart } from "../kit";
import type { Change, ClassPast, Past as PastAnswer, Span, Way, WayPast } from "./api";
import { useAnswer, useGateway } from "./state";

const SPANS: [Span, string, number][] = [
  ["now", "5 minutes", 1000],
  ["hour", "hour", 10_000],
  ["day", "day", 60_000],
  ["all", "all", 60_000],
];

export function Past(props: { way: Way }) {
  const [span, setSpan] = useState<Span>("now");
  const every = SPANS.find(([name]) => name === span)?.[2] ?? 1000;
  const { answer, fault } = useAnswer<PastAnswer>(`history?span=${span}`, every);
  const past = answer?.ways.find((way) => way.way === props.way);
  return (
    <section aria-labelledby="past">
      <div class="heading">
        <h2 id="past">Before</h2>
        <div class="controls" role="group" aria-label="how far back">
          {SPANS.map(([name, text]) => (
            <button key={name} type="button" aria-pressed={span === name} onClick={() => setSpan(name)}>
              {text}
            </button>
          ))}
        </div>
      </div>
      {fault && <p class="notice bad">{fault}</p>}
      {answer?.fault && <p class="notice bad">{answer.fault}</p>}
      {past && past.at_s.length > 0 ? (
        <Pictures past={past} step={answer?.step_s ?? 1} span={span} />
      ) : (
        <p class="faint card">Nothing is kept of that time yet.</p>
      )}
      <PickedPast span={span} every={every} />
      <Changes changes={answer?.changes ?? []} />
      {answer && (
        <p class="faint">
          {answer.is_in_memory
            ? "This history is in memory and ends with the gateway."
            : `This history is in ${answer.place ?? ""}.`}{" "}
          One value is {format.count(answer.step_s)} s.
        </p>
      )}
    </section>
  );
}

/** Times and values, with gaps while the gateway was not running. */
export function gapped(at: number[], step: number, columns: (number | null)[][]): (number | null)[][] {
  const out: (number | null)[][] = [[], ...columns.map(() => [])];
  at.forEach((time, place) => {
    const before = at[place - 1];
    if (before !== undefined && time - before > 1.5 * step) {
      out[0]?.push(before + step);
      columns.forEach((_, number) => out[number + 1]?.push(null));
    }
    out[0]?.push(time);
    columns.forEach((column, number) => out[number + 1]?.push(column[place] ?? null));
  });
  return out;
}

function clock(span: Span): (seconds: number) => string {
  const two = (value: number) => String(value).padStart(2, "0");
  return (seconds) => {
    const time = new Date(seconds * 1000);
    const minutes = `${two(time.getHours())}:${two(time.getMinutes())}`;
    if (span === "all") return `${two(time.getDate())}. ${minutes}`;
    return span === "now" ? `${minutes}:${two(time.getSeconds())}` : minutes;
  };
}

function Pictures(props: { past: WayPast; step: number; span: Span }) {
  const { past, step } = props;
  const version = past.at_s[past.at_s.length - 1] ?? 0;
  const common = { version, timeText: clock(props.span), cursor: "past", height: 150 };
  const drops = past.causes.filter((cause) => cause.fate !== "marked");
  const rates = drops.map((cause) => cause.counts.map((count) => count / step));
  const named = past.classes.filter((entry) => entry.class !== "");
  return (
    <div class="pictures">
      <div class="card">
        <header>
          <h3>Rate</h3>
        </header>
        <LineChart
          {...common}
          title="rate"
          axis="bit/s"
          series={[{ name: "wanted", colour: 1 }, { name: "got", colour: 0 }, { name: "link", isMark: true }]}
          format={(value) => format.rate(value, 2)}
          data={() =>
            gapped(past.at_s, step, [past.offered_bps, past.throughput_bps, past.rate_bps.map((bps) => bps || null)])
          }
        />
      </div>
      <div class="card">
        <header>
          <h3>Delay under load</h3>
        </header>
        <LineChart
          {...common}
          title="waits"
          axis="wait"
          series={[
            { name: "99 of 100 below", colour: 1 },
            { name: "95 of 100", colour: 3 },
            { name: "half", colour: 0 },
          ]}
          format={(value) => format.seconds(value, 2)}
          data={() => gapped(past.at_s, step, [past.p99_s, past.p95_s, past.p50_s])}
        />
      </div>
      <div class="card">
        <header>
          <h3>Drops by cause</h3>
        </header>
        {drops.length > 0 ? (
          <LineChart
            {...common}
            title="drops by cause"
            axis="packets a second"
            series={drops.map((cause) => ({ name: cause.fate === "lost" ? `lost: ${cause.reason}` : cause.reason }))}
            format={(value) => format.significant(value, 2)}
            data={() => gapped(past.at_s, step, rates)}
          />
        ) : (
          <p class="faint">Nothing was dropped.</p>
        )}
      </div>
      <div class="card">
        <header>
          <h3>{named.length > 1 ? "Classes that got most" : "Jain's index, the lowest"}</h3>
        </header>
        {named.length > 1 ? (
          <LineChart
            {...common}
            title="what the classes got"
            axis="bit/s"
            series={named.map((entry) => ({ name: entry.class }))}
            format={(value) => format.rate(value, 2)}
            data={() =>
              gapped(
                past.at_s,
                step,
                named.map((entry) => entry.throughput_bps),
              )
            }
          />
        ) : (
          <LineChart
            {...common}
            title="Jain's index"
            axis="1 is fair"
            series={[{ name: "Jain's index", colour: 2 }]}
            range={[0, 1.05]}
            format={(value) => format.significant(value, 3)}
            data={() => gapped(past.at_s, step, [past.jain])}
          />
        )}
      </div>
    </div>
  );
}

/** The history of the last selected class. */
function PickedPast(props: { span: Span; every: number }) {
  const { picks } = useGateway();
  const pick = [...picks].reverse().find((wanted) => wanted.kind === "class");
  const path = pick ? `history?${new URLSearchParams({ span: props.span, class: pick.name })}` : null;
  const { answer } = useAnswer<PastAnswer>(path, props.every);
  const past = answer?.ways.find((way) => way.way === pick?.way);
  const own: ClassPast | undefined = past?.classes.find((entry) => entry.class === pick?.name);
  if (!pick || !past || !own || !answer) return null;
  return (
    <div class="card">
      <header>
        <h3>
          <bdi>{pick.name}</bdi>, {pick.way}
        </h3>
        <span class="faint">a gap where it was not among the 32 that got most</span>
      </header>
      <LineChart
        title={`the past of ${pick.name}`}
        axis="bit/s"
        series={[{ name: "wanted", colour: 1 }, { name: "got", colour: 0 }, { name: "fair", isMark: true }]}
        format={(value) => format.rate(value, 2)}
        timeText={clock(props.span)}
        cursor="past"
        height={150}
        version={past.at_s[past.at_s.length - 1] ?? 0}
        data={() => gapped(past.at_s, answer.step_s, [own.offered_bps, own.throughput_bps, own.fair_bps])}
      />
    </div>
  );
}

function Changes(props: { changes: Change[] }) {
  return (
    <div class="card">
      <header>
        <h3>What changed</h3>
      </header>
      {props.changes.length > 0 ? (
        <ol class="changes">
          {props.changes.map((change, place) => (
            <li key={`${change.at_s}-${place}`}>
              <time dateTime={new Date(change.at_s * 1000).toISOString()}>
                {new Date(change.at_s * 1000).toLocaleString()}
              </time>{" "}
              <strong>{change.kind.replaceAll("-", " ")}</strong>
              <span class="text">{change.text}</span>
            </li>
          ))}
        </ol>
      ) : (
        <p class="faint">Nothing changed in that time.</p>
      )}
    </div>
  );
}
