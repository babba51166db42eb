// All classes and subscribers, or all flows, searched by the gateway: the page never has thousands of them.

import { useEffect, useState } from "preact/hooks";
import { format } from "../kit";
import type { ClassNow, FlowNow, List, Wanted, Way, WayNow } from "./api";
import { keyOf } from "./live";
import { state, useAnswer, useGateway } from "./state";

const AT_ONCE = 50;
/** The delay in milliseconds from the last letter to the search. */
const PAUSE = 150;

interface Column<Entry> {
  name: string;
  text: (entry: Entry) => string;
  isNumber: boolean;
}

/** The type of entry listed. */
interface Kind<Entry> {
  kind: Wanted["kind"];
  /** The path of the gateway's answer. */
  path: string;
  title: string;
  region: string;
  name: string;
  nameOf: (entry: Entry) => string;
  orders: [value: string, text: string][];
  columns: Column<Entry>[];
  hint: string;
}

const number = <Entry,>(name: string, text: (entry: Entry) => string): Column<Entry> => ({ name, text, isNumber: true });

const CLASSES: Kind<ClassNow> = {
  kind: "class",
  path: "classes",
  title: "Classes and subscribers",
  region: "list of classes and subscribers",
  name: "name",
  nameOf: (entry) => entry.class,
  orders: [
    ["got", "got most"],
    ["short", "furthest below fair"],
    ["drops", "most drops"],
    ["name", "name"],
  ],
  columns: [
    number("got", (entry) => format.rate(entry.throughput_bps)),
    number("fair", (entry) => format.rate(entry.fair_bps)),
    number("wanted", (entry) => format.rate(entry.offered_bps)),
    number("drops/s", (entry) => format.significant(entry.drops_per_s, 2)),
    number("dropped", (entry) => format.count(entry.dropped)),
    number("round trip", (entry) => (entry.round_trips > 0 ? format.seconds(entry.round_trip_s) : "–")),
    number("sent again/s", (entry) => format.significant(entry.retransmits_per_s, 2)),
    number("weight", (entry) => format.significant(entry.weight)),
    { name: "under", text: (entry) => entry.parent, isNumber: false },
  ],
  hint: "Pick a name to see it a hundred times a second, and its past.",
};

const FLOWS: Kind<FlowNow> = {
  kind: "flow",
  path: "flows",
  title: "Flows",
  region: "list of flows",
  name: "flow",
  nameOf: (entry) => entry.flow,
  orders: [
    ["got", "got most"],
    ["short", "furthest below what it wanted"],
    ["drops", "most drops"],
    ["name", "name"],
  ],
  columns: [
    number("got", (entry) => format.rate(entry.throughput_bps)),
    number("wanted", (entry) => format.rate(entry.offered_bps)),
    number("drops/s", (entry) => format.significant(entry.drops_per_s, 2)),
    number("marks/s", (entry) => format.significant(entry.marks_per_s, 2)),
  ],
  hint: "Flows that sent during the last second. Pick one to see it a hundred times a second.",
};

export function Subscribers(props: { way: Way; now: WayNow }) {
  return props.now.class_count > 1 ? (
    <Listed key="classes" kind={CLASSES} way={props.way} />
  ) : (
    <Listed key="flows" kind={FLOWS} way={props.way} />
  );
}

function Listed<Entry>(props: { kind: Kind<Entry>; way: Way }) {
  const { kind, way } = props;
  const [typed, setTyped] = useState("");
  const [search, setSearch] = useState("");
  const [order, setOrder] = useState("got");
  const [offset, setOffset] = useState(0);
  useEffect(() => {
    const timer = setTimeout(() => {
      setSearch(typed);
      setOffset(0);
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [typed]);
  const query = new URLSearchParams({ way, search, order, offset: String(offset), limit: String(AT_ONCE) });
  const { answer, fault } = useAnswer<List<Entry>>(`${kind.path}?${query}`, 1000);
  const last = Math.min(answer?.found ?? 0, offset + AT_ONCE);
  return (
    <section class="card" aria-labelledby="listed">
      <header>
        <h2 id="listed">{kind.title}</h2>
        <span class="faint" role="status">
          {answer
            ? answer.list.length === 0
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
            {kind.orders.map(([value, text]) => (
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
      <div class="scroller" role="region" tabIndex={0} aria-label={kind.region}>
        <table class="list">
          <thead>
            <tr>
              <th scope="col">{kind.name}</th>
              {kind.columns.map((column) => (
                <th key={column.name} scope="col" class={column.isNumber ? "number" : undefined}>
                  {column.name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {answer?.list.map((entry) => (
              <tr key={kind.nameOf(entry)}>
                <th scope="row">
                  <Pick wanted={{ way, kind: kind.kind, name: kind.nameOf(entry) }} />
                </th>
                {kind.columns.map((column) => (
                  <td key={column.name} class={column.isNumber ? "number" : undefined}>
                    {column.isNumber ? column.text(entry) : <bdi>{column.text(entry)}</bdi>}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="faint">{kind.hint}</p>
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
