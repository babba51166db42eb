// The current state: the use of the link, the shares, the waiting times, the drops.

import type { ComponentChildren } from "preact";
import { format, type Level, LineChart, Waterline } from "../kit";
import type { Way, WayNow } from "./api";
import { state, useGateway } from "./state";

/** The maximum of levels in the picture; more would be too thin to touch. */
const MAX_LEVELS = 24;
/** The seconds shown in moving pictures. */
const SHOWN_S = 10;

/** A number in the form of the metric of that name: tests compare the two. */
export function Metric(props: { name: string; value: number; children: ComponentChildren }) {
  return (
    <data class="number" value={props.value} data-metric={props.name}>
      {props.children}
    </data>
  );
}

export function Tiles(props: { now: WayNow }) {
  const { now } = props;
  const of = (name: string) => `fairwire_${name}{way="${now.way}"}`;
  const sum = (counts: Record<string, number>) => Object.values(counts).reduce((all, count) => all + count, 0);
  const lost = sum(now.totals.lost);
  return (
    <dl class="tiles">
      <div class="tile">
        <dt>link in use</dt>
        <dd>
          <Metric name={of("utilization_ratio")} value={now.utilization}>
            {now.rate_bps > 0 ? format.percent(now.utilization) : "–"}
          </Metric>
          <meter min={0} max={1} value={now.utilization} aria-label="part of the link in use" />
          <small>
            {format.rate(now.throughput_bps)} {now.rate_bps > 0 ? `of ${format.rate(now.rate_bps)}` : "pass unshaped"}
          </small>
        </dd>
      </div>
      <div class="tile">
        <dt>wait, 99 of 100 below</dt>
        <dd>
          <span class="number">{format.seconds(now.sojourn.p99_s)}</span>
          <small>
            half below {format.seconds(now.sojourn.p50_s)}, longest {format.seconds(now.sojourn.max_s)}
          </small>
        </dd>
      </div>
      <div class="tile">
        <dt>round trip to the {now.way === "download" ? "inside" : "outside"}</dt>
        <dd>
          <span class="number">{now.round_trip.max_s > 0 ? format.seconds(now.round_trip.p50_s) : "–"}</span>
          <small>
            {now.round_trip.max_s > 0 ? `95 of 100 below ${format.seconds(now.round_trip.p95_s)}; ` : ""}
            {format.count(now.retransmitted)} of {format.count(now.tcp_segments)} TCP segments sent again
          </small>
        </dd>
      </div>
      <div class="tile">
        <dt>waiting now</dt>
        <dd>
          <span class="number">{format.count(now.backlog_packets)} packets</span>
          <small>{format.bytes(now.backlog_bytes)}</small>
        </dd>
      </div>
      <div class="tile">
        <dt>dropped since the start</dt>
        <dd>
          <span class="number">{format.count(sum(now.totals.dropped))}</span>
          <small>
            of{" "}
            <Metric name={of("received_packets_total")} value={now.totals.packets_in}>
              {format.count(now.totals.packets_in)}
            </Metric>{" "}
            packets; {format.count(sum(now.totals.marked))} marked
            {lost > 0 ? `, ${format.count(lost)} lost by the gateway itself` : ""}
          </small>
        </dd>
      </div>
      <div class="tile">
        <dt>Jain's index</dt>
        <dd>
          <Metric name={of("jain_index")} value={now.jain}>
            {now.jain.toFixed(3)}
          </Metric>
          <small>
            of {format.count(now.wanting_flows)} flows that want more
            {now.class_count > 1 && now.classes.some((entry) => entry.weight !== 1) ? " (without the weights of classes)" : ""}, of{" "}
            <Metric name={of("active_flows")} value={now.active_flows}>
              {format.count(now.active_flows)}
            </Metric>{" "}
            that send
          </small>
        </dd>
      </div>
      <div class="tile">
        <dt>discipline</dt>
        <dd>
          <span>{now.discipline || "none"}</span>
          <small>{now.class_count > 1 ? `${format.count(now.class_count)} classes and subscribers` : "no classes"}</small>
        </dd>
      </div>
    </dl>
  );
}

/** The largest share that `capacity` permits for each of these demands. */
export function waterLevel(demands: number[], capacity: number): number {
  let [left, rest] = [capacity, demands.length];
  for (const demand of [...demands].sort((a, b) => a - b)) {
    if (demand * rest >= left) return left / rest;
    left -= demand;
    rest -= 1;
  }
  return Math.max(0, ...demands);
}

/** The shares: of classes without members if there are classes, otherwise of flows. */
export function levels(now: WayNow): { levels: Level[]; share: number } {
  const parents = new Set(now.classes.map((entry) => entry.parent));
  const leaves = now.classes.filter((entry) => !parents.has(entry.class) && entry.offered_bps > 0);
  if (now.class_count > 1) {
    const sorted = leaves.sort((a, b) => b.offered_bps - a.offered_bps).slice(0, MAX_LEVELS);
    const share = Math.max(0, ...sorted.map((entry) => entry.fair_bps / entry.weight));
    const level = (entry: (typeof sorted)[number]): Level => ({
      name: entry.class,
      demand: entry.offered_bps,
      delivered: entry.throughput_bps,
      share: entry.fair_bps,
      colour: 0,
    });
    return { levels: sorted.map(level), share };
  }
  const share = waterLevel(
    now.flows.map((flow) => flow.offered_bps),
    now.throughput_bps,
  );
  const level = (flow: WayNow["flows"][number]): Level => ({
    name: flow.flow,
    demand: flow.offered_bps,
    delivered: flow.throughput_bps,
    colour: 0,
  });
  return { levels: now.flows.slice(0, MAX_LEVELS).map(level), share };
}

export function WhoHasWhat(props: { now: WayNow }) {
  const { now } = props;
  const shown = levels(now);
  const kind = now.class_count > 1 ? "class" : "flow";
  return (
    <section class="card" aria-labelledby="who">
      <header>
        <h2 id="who">Who has what</h2>
        <span class="faint">outline: wanted · fill: got · line: fair share</span>
      </header>
      {shown.levels.length > 0 ? (
        <Waterline
          title={`who has what, ${now.way}`}
          levels={shown.levels}
          share={shown.share}
          format={format.rate}
          onPick={(name) => state.toggle({ way: now.way, kind, name })}
        />
      ) : (
        <p class="faint">Nobody sends just now.</p>
      )}
    </section>
  );
}

export function LivePictures(props: { way: Way; now: WayNow }) {
  const { readings, version } = useGateway();
  const span: [number, number] = [-SHOWN_S, 0];
  const common = { version, span, cursor: "live", height: 150 };
  const limit = () => readings.of(props.way).at.map(() => (props.now.rate_bps > 0 ? props.now.rate_bps : null));
  return (
    <section class="pictures" aria-label="the last seconds, read a hundred times a second">
      <div class="card">
        <header>
          <h2>Rate</h2>
        </header>
        <LineChart
          {...common}
          title="rate in the last seconds"
          axis="bit/s, over 100 ms"
          series={[{ name: "wanted", colour: 1 }, { name: "got", colour: 0 }, { name: "link", isMark: true }]}
          format={(value) => format.rate(value, 2)}
          data={() => {
            const live = readings.of(props.way);
            return [live.at, live.offered, live.delivered, limit()];
          }}
        />
      </div>
      <div class="card">
        <header>
          <h2>Queue</h2>
        </header>
        <LineChart
          {...common}
          title="bytes that wait in the last seconds"
          axis="bytes that wait"
          series={[{ name: "waiting", colour: 2 }]}
          format={(value) => format.bytes(value, 2)}
          data={() => {
            const live = readings.of(props.way);
            return [live.at, live.backlog];
          }}
        />
      </div>
      <div class="card">
        <header>
          <h2>Delay under load</h2>
        </header>
        <LineChart
          {...common}
          title="waits of the packets of the second before"
          axis="wait, of the second before"
          series={[
            { name: "99 of 100 below", colour: 1 },
            { name: "95 of 100", colour: 3 },
            { name: "half", colour: 0 },
          ]}
          format={(value) => format.seconds(value, 2)}
          data={() => {
            const live = readings.of(props.way);
            return [live.at, live.p99, live.p95, live.p50];
          }}
        />
      </div>
      <div class="card">
        <header>
          <h2>Drops</h2>
        </header>
        <LineChart
          {...common}
          title="drops in the last seconds"
          axis="packets a second, over 100 ms"
          series={[{ name: "dropped", colour: 4 }]}
          format={(value) => format.significant(value, 2)}
          data={() => {
            const live = readings.of(props.way);
            return [live.at, live.dropped];
          }}
        />
      </div>
    </section>
  );
}

/** The selected flow or class, a hundred times per second. */
export function PickedPictures() {
  const { picks, readings, version } = useGateway();
  if (picks.length === 0) return null;
  const span: [number, number] = [-SHOWN_S, 0];
  const name = (pick: (typeof picks)[number]) => `${pick.name} (${pick.way})`;
  const series = picks.map((pick, index) => ({ name: name(pick), colour: index }));
  const columns = (of: "delivered" | "waiting") => {
    const all = picks.map((pick) => readings.ofPicked(pick));
    const longest = all.reduce((a, b) => (b.at.length > a.at.length ? b : a));
    const fill = (values: (number | null)[]) => [
      ...Array<null>(Math.max(0, longest.at.length - values.length)).fill(null),
      ...values,
    ];
    return [longest.at, ...all.map((live) => fill(live[of]))];
  };
  return (
    <section class="pictures" aria-label="what is picked">
      <div class="card">
        <header>
          <h2>Picked: rate</h2>
        </header>
        <LineChart
          title="rates of what is picked"
          axis="bit/s, over 100 ms"
          series={series}
          format={(value) => format.rate(value, 2)}
          version={version}
          span={span}
          cursor="live"
          data={() => columns("delivered")}
        />
      </div>
      <div class="card">
        <header>
          <h2>Picked: packets that wait</h2>
        </header>
        <LineChart
          title="packets that wait of what is picked"
          axis="packets"
          series={series}
          format={(value) => format.significant(value, 2)}
          version={version}
          span={span}
          cursor="live"
          data={() => columns("waiting")}
        />
      </div>
    </section>
  );
}
