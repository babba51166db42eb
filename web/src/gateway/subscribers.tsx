// All classes and subscribers, searched by the gateway: the page never has thousands of them.

import { useEffect, useState } from "preact/hooks";
import { format } from "../kit";
import type { ClassList, FlowNow, Wanted, Way, WayNow } from "./api";
import { keyOf } from "./live";
import { state, useAnswer, useGateway } from "./state";

const ORDERS = [
  ["got", "got most"],
  ["short", "furthest below fair"],
  ["drops", "most drops"],
  ["name", "name"],
] as const;
const AT_ONCE = 50;
/** Milliseconds after the last letter before the gateway searches. */
const PAUSE = 150;

export function Subscribers(props: { way: Way; now: WayNow }) {
  return props.now.class_count > 1 ? <Classes way={props.way} /> : <Flows now={props.now} />;
}

function Classes(props: { way: Way }) {
  const [typed, setTyped] = useState("");
  const [search, setSearch] = useState("");
  const [order, setOrder] = useState<string>("got");
  const [offset, setOffset] = useState(0);
  useEffect(() => {
    const timer = setTimeout(() => {
      setSearch(typed);
      setOffset(0);
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [typed]);
  const query = new URLSearchParams({ way: props.way, search, order, offset: String(offset), limit: String(AT_ONCE) });
  const { answer, fault } = useAnswer<ClassList>(`classes?${query}`, 1000);
  const last = Math.min(answer?.found ?? 0, offset + AT_ONCE);
  return (
    <section class="card" aria-labelledby="classes">
      <header>
        <h2 id="classes">Classes and subscribers</h2>
        <span class="faint" role="status">
          {answer
            ? answer.found === 0
              ? `none of ${format.count(answer.all)}`
              : `${format.count(offset + 1)} to ${format.count(last)} of ${format.count(answer.found)}`
            : "…"}
        </span>
      </header>
      <div class="controls">
        <label>
          <span class="unseen">a part of the name</span>
          <input
            type="search"
            placeholder="search by name"
            maxLength={80}
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
        <label>
          <span class="faint">first: </span>
          <select value={order} onChange={(event) => setOrder(event.currentTarget.value)}>
            {ORDERS.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <button type="button" disabled={offset === 0} onClick={() => setOffset(Math.max(0, offset - AT_ONCE))}>
          back
        </button>
        <button type="button" disabled={last >= (answer?.found ?? 0)} onClick={() => setOffset(offset + AT_ONCE)}>
          more
        </button>
      </div>
      {fault && <p class="notice bad">{fault}</p>}
      <div class="scroller" role="region" tabIndex={0} aria-label="list of classes and subscribers">
        <table class="list">
          <thead>
            <tr>
              <th scope="col">name</th>
              <th scope="col" class="number">got</th>
              <th scope="col" class="number">fair</th>
              <th scope="col" class="number">wanted</th>
              <th scope="col" class="number">drops/s</th>
              <th scope="col" class="number">dropped</th>
              <th scope="col" class="number">weight</th>
              <th scope="col">under</th>
            </tr>
          </thead>
          <tbody>
            {answer?.classes.map((entry) => (
              <tr key={entry.class}>
                <th scope="row">
                  <Pick wanted={{ way: props.way, kind: "class", name: entry.class }} />
                </th>
                <td class="number">{format.rate(entry.throughput_bps)}</td>
                <td class="number">{format.rate(entry.fair_bps)}</td>
                <td class="number">{format.rate(entry.offered_bps)}</td>
                <td class="number">{format.significant(entry.drops_per_s, 2)}</td>
                <td class="number">{format.count(entry.dropped)}</td>
                <td class="number">{format.significant(entry.weight)}</td>
                <td>
                  <bdi>{entry.parent}</bdi>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="faint">Pick a name to see it a hundred times a second, and its past.</p>
    </section>
  );
}

/** The busiest flows, where there are no classes. */
function Flows(props: { now: WayNow }) {
  const row = (flow: FlowNow) => (
    <tr key={flow.flow}>
      <th scope="row">
        <Pick wanted={{ way: props.now.way, kind: "flow", name: flow.flow }} />
      </th>
      <td class="number">{format.rate(flow.offered_bps)}</td>
      <td class="number">{format.rate(flow.throughput_bps)}</td>
      <td class="number">{format.significant(flow.drops_per_s, 2)}</td>
      <td class="number">{format.significant(flow.marks_per_s, 2)}</td>
    </tr>
  );
  return (
    <section class="card" aria-labelledby="flows">
      <header>
        <h2 id="flows">The busiest flows</h2>
        <span class="faint" role="status">
          {props.now.flows.length} of {format.count(props.now.active_flows)}
        </span>
      </header>
      <div class="scroller" role="region" tabIndex={0} aria-label="list of the busiest flows">
        <table class="list">
          <thead>
            <tr>
              <th scope="col">flow</th>
              <th scope="col" class="number">wanted</th>
              <th scope="col" class="number">got</th>
              <th scope="col" class="number">drops/s</th>
              <th scope="col" class="number">marks/s</th>
            </tr>
          </thead>
          <tbody>{props.now.flows.map(row)}</tbody>
        </table>
      </div>
    </section>
  );
}

function Pick(props: { wanted: Wanted }) {
  const { picks } = useGateway();
  const isPicked = picks.some((pick) => keyOf(pick) === keyOf(props.wanted));
  return (
    <button type="button" class="pick" aria-pressed={isPicked} onClick={() => state.toggle(props.wanted)}>
      <bdi>{props.wanted.name}</bdi>
    </button>
  );
}
