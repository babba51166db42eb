// The pictures, on the right, drawn from the histories of the sides.

import { useMemo } from "preact/hooks";
import { format, HeatMap, LineChart, reachOf, type Series, Waterline } from "../kit";
import type { About, Game } from "./game";
import type { Drawing } from "./drawing";
import { FIELD, type History, OF_FLOW } from "./history";
import { kernelPictures } from "./kernel";

export interface View {
  /** The visible time, in seconds. */
  span: number;
  /** Rates are means over this many samples. */
  smooth: number;
}

/** The maximum of points in a line; no screen shows more. */
const MAX_POINTS = 400;
/** The same for each of many lines, which are drawn sixty times per second. */
const POINTS_OF_MANY = 160;
/** The number of flows beyond which they have the colour of their group, and the legend lists groups. */
const MAX_OWN_COLOURS = 9;

export interface Shown {
  title: string;
  axis: string;
  series: Series[];
  data: () => Float64Array[];
  format: (value: number) => string;
  range?: [number, number];
}

interface PicturesProps {
  game: Game;
  about: About;
  view: View;
  version: number;
  /** Counts at most ten times per second, for text rather than pictures. */
  slow: number;
  /** The time series of the contest on the kernel, if it ran. */
  kernel: string | null;
}

export function flowSeries(about: About): Series[] {
  const groups = [...new Set(about.flows.map((flow) => flow.group))];
  const isMany = about.flows.length > MAX_OWN_COLOURS;
  return about.flows.map((flow, index) => {
    const colour = isMany ? groups.indexOf(flow.group) : index;
    return isMany ? { name: flow.name, group: flow.group, colour, width: 1 } : { name: flow.name, colour };
  });
}

function rows(history: History, view: View): { first: number; stride: number } {
  const first = history.from(view.span);
  const points = history.flows > MAX_OWN_COLOURS ? POINTS_OF_MANY : MAX_POINTS;
  return { first, stride: Math.max(1, Math.ceil((history.rows - first) / points), Math.ceil((view.span * 100) / points)) };
}

/** The rate of each flow on one side. */
export function ratesOf(about: About, history: History, view: View): Shown {
  return {
    title: "Rate of each flow",
    axis: `rate, mean of ${view.smooth * 10} ms`,
    series: flowSeries(about),
    data: () => {
      const { first, stride } = rows(history, view);
      const columns = about.flows.map((_, flow) => history.column(flow, OF_FLOW.rate));
      return history.means(columns, first, stride, view.smooth);
    },
    format: format.rate,
  };
}

/** The congestion window of each TCP flow on one side. */
export function windowsOf(about: About, history: History, view: View): Shown {
  const flows = about.flows.map((flow, index) => ({ flow, index })).filter(({ flow }) => flow.is_tcp);
  const all = flowSeries(about);
  return {
    title: "Congestion window",
    axis: "segments",
    series: flows.flatMap(({ index }) => all[index] ?? []),
    data: () => {
      const { first, stride } = rows(history, view);
      const columns = flows.map(({ index }) => history.column(index, OF_FLOW.window));
      return history.means(columns, first, stride, 1);
    },
    format: (value) => format.significant(value),
  };
}

/** One number of all sides in one picture. */
function ofSides(about: About, sides: History[], view: View, columns: { field: number; suffix: string; dash: number[] }[]) {
  const series = about.sides.flatMap((side, index) =>
    columns.map(({ suffix, dash }) => ({ name: `${side}${suffix}`, colour: index, dash })),
  );
  const data = () => {
    const lead = sides[0];
    if (!lead) return [new Float64Array(0)];
    const { first, stride } = rows(lead, view);
    const found = sides.map((side) => side.means(columns.map(({ field }) => field), first, stride, stride));
    const times = found[0]?.[0] ?? new Float64Array(0);
    return [times, ...found.flatMap(([, ...values]) => values)];
  };
  return { series, data };
}

export function queueOf(about: About, sides: History[], view: View): Shown {
  return {
    title: "Queue",
    axis: "packets that wait",
    ...ofSides(about, sides, view, [{ field: FIELD.packets, suffix: "", dash: [] }]),
    format: (value) => format.significant(value),
  };
}

export function delayOf(about: About, sides: History[], view: View): Shown {
  return {
    title: "Delay in the queue",
    axis: "per interval: median, and 99th percentile (dashed)",
    ...ofSides(about, sides, view, [
      { field: FIELD.p50, suffix: " p50", dash: [] },
      { field: FIELD.p99, suffix: " p99", dash: [4, 3] },
    ]),
    format: format.seconds,
  };
}

export function Pictures({ game, about, view, version, slow, kernel }: PicturesProps) {
  const { sides } = game;
  const span: [number, number] = [Math.max(0, game.now - view.span), Math.max(view.span, game.now)];
  const drawn = { version, span, cursor: "play" };
  const isTwo = sides.length > 1;
  // Two adjacent pictures share a scale for comparison.
  const top = useMemo(() => Math.max(...sides.map((side) => greatestRate(side, about, view))), [slow]);
  const topWindow = useMemo(() => Math.max(...sides.map((side) => greatestWindow(side, about, view))), [slow]);
  const topWater = useMemo(() => Math.max(...sides.map((side) => reachOf(levelsOf(about, side), shareOf(side)))), [slow]);
  const hasTcp = about.flows.some((flow) => flow.is_tcp);
  return (
    <div class={isTwo ? "pictures two" : "pictures"}>
      {sides.map((side, index) => (
        <Water key={`water ${index}`} about={about} side={side} index={index} slow={slow} top={topWater} />
      ))}
      {sides.map((side, index) => (
        <Card key={`rates ${index}`} title="Rate of each flow" side={about.sides[index]}>
          <LineChart {...ratesOf(about, side, view)} {...drawn} range={[0, top * 1.06 || 1]} height={210} />
        </Card>
      ))}
      {hasTcp &&
        sides.map((side, index) => (
          <Card key={`windows ${index}`} title="Congestion window" side={about.sides[index]}>
            <LineChart {...windowsOf(about, side, view)} {...drawn} range={[0, topWindow * 1.06 || 1]} height={170} />
          </Card>
        ))}
      <Card title="Queue">
        <LineChart {...queueOf(about, sides, view)} {...drawn} height={170} />
      </Card>
      <Card title="Delay in the queue">
        <LineChart {...delayOf(about, sides, view)} {...drawn} height={170} />
      </Card>
      <OnKernel about={about} kernel={kernel} />
      <Drops about={about} sides={sides} slow={slow} />
    </div>
  );
}

function OnKernel({ about, kernel }: { about: About; kernel: string | null }) {
  return useMemo(
    () =>
      kernel === null ? null : (
        <>
          {kernelPictures(kernel, about).map((shown) => (
            <Card key={shown.title} title={shown.title}>
              <LineChart {...shown} version={0} height={210} />
            </Card>
          ))}
        </>
      ),
    [kernel, about],
  );
}

function Card(props: { title: string; side?: string | undefined; children: preact.ComponentChildren }) {
  return (
    <section class="card">
      <header>
        <h2>
          {props.title}
          {props.side && <span class="side"> under {props.side}</span>}
        </h2>
      </header>
      {props.children}
    </section>
  );
}

function greatestRate(side: History, about: About, view: View): number {
  const [, ...rates] = ratesOf(about, side, view).data();
  return Math.max(0, ...rates.map(greatest));
}

function greatestWindow(side: History, about: About, view: View): number {
  const [, ...windows] = windowsOf(about, side, view).data();
  return Math.max(0, ...windows.map(greatest));
}

function greatest(values: Float64Array): number {
  let found = 0;
  for (const value of values) if (value > found) found = value;
  return found;
}

/** Jain's index of the flows' rates over their fair shares: 1 is fair. */
export function fairnessOf(side: History): number {
  const parts = side.levels.filter((level) => level.share > 0).map((level) => level.delivered / level.share);
  const sum = parts.reduce((total, part) => total + part, 0);
  const squares = parts.reduce((total, part) => total + part * part, 0);
  return squares > 0 ? (sum * sum) / (parts.length * squares) : Number.NaN;
}

/** The flow with the least of its fair share, and that fraction. */
export function worstOf(side: History): { flow: number; part: number } {
  let worst = { flow: 0, part: Number.POSITIVE_INFINITY };
  side.levels.forEach((level, flow) => {
    const part = level.share > 0 ? level.delivered / level.share : Number.POSITIVE_INFINITY;
    if (part < worst.part) worst = { flow, part };
  });
  return worst;
}

/** The fair share of a flow with a higher demand; undefined if not calculated, as on a network. */
export function shareOf(side: History): number | undefined {
  const shares = side.levels.map((level) => level.share).filter(Number.isFinite);
  return shares.length > 0 ? Math.max(...shares) : undefined;
}

function levelsOf(about: About, side: History) {
  const colours = flowSeries(about);
  return side.levels.map((level, flow) => ({
    name: about.flows[flow]?.name ?? "",
    demand: level.demand,
    delivered: level.delivered,
    colour: colours[flow]?.colour ?? 0,
  }));
}

function Water(props: { about: About; side: History; index: number; slow: number; top: number }) {
  const { about, side, index, slow, top } = props;
  return useMemo(() => {
    const levels = levelsOf(about, side);
    const share = shareOf(side);
    return (
      <section class="card">
        <header>
          <h2>
            Who gets what <span class="side">under {about.sides[index]}</span>
          </h2>
        </header>
        <p class="faint small">
          last second{share === undefined ? "" : `; Jain ${format.significant(fairnessOf(side))}`}
        </p>
        <Waterline
          title={`What each flow wants and gets under ${about.sides[index]}`}
          levels={levels}
          share={share}
          top={top}
          format={format.rate}
          height={190}
        />
      </section>
    );
  }, [slow, side, top]);
}

/** Counts of dropped packets on each side, by cause and by sender. */
function dropsOf(about: About, sides: History[]): { title: string; rows: { name: string; values: number[] }[] }[] {
  const groups = [...new Set(about.flows.map((flow) => flow.group))];
  const used = about.causes.map((name, index) => ({ name, index })).filter(({ index }) => sides.some((side) => (side.dropped[index] ?? 0) > 0));
  const ofGroup = (side: History, group: string) =>
    about.flows.reduce((sum, flow, index) => (flow.group === group ? sum + (side.droppedOf[index] ?? 0) : sum), 0);
  return [
    { title: "Drops by cause", rows: used.map(({ name, index }) => ({ name, values: sides.map((side) => side.dropped[index] ?? 0) })) },
    { title: "Drops by who sent", rows: groups.map((group) => ({ name: group, values: sides.map((side) => ofGroup(side, group)) })) },
  ];
}

const OF_DROPS = "packets since the start";

function Drops(props: { about: About; sides: History[]; slow: number }) {
  const { about, sides, slow } = props;
  return useMemo(
    () => (
      <section class="card wide">
        <header>
          <h2>Drops</h2>
          <span class="faint small">{OF_DROPS}</span>
        </header>
        <div class="drops">
          {dropsOf(about, sides).map(({ title, rows }) => (
            <HeatMap key={title} title={title} columns={about.sides} rows={rows} format={format.count} />
          ))}
        </div>
      </section>
    ),
    [slow, sides],
  );
}

/** All current pictures as data, in the order of the page. */
export function drawingsOf({ game, about, view, kernel }: Omit<PicturesProps, "version" | "slow">): Drawing[] {
  const { sides } = game;
  const under = (title: string, index: number) => `${title} under ${about.sides[index] ?? ""}`;
  const top = Math.max(...sides.map((side) => reachOf(levelsOf(about, side), shareOf(side))));
  const lines = (shown: Shown, side?: number): Drawing => ({
    kind: "lines",
    shown: side === undefined ? shown : { ...shown, title: under(shown.title, side) },
  });
  const windows = sides.map((side, index) => lines(windowsOf(about, side, view), index));
  return [
    ...sides.map(
      (side, index): Drawing => ({
        kind: "bars",
        title: under("Who gets what", index),
        about: `in the second before ${game.now.toFixed(2)} s; outline: what it wants`,
        levels: levelsOf(about, side),
        share: shareOf(side),
        top,
        format: format.rate,
      }),
    ),
    ...sides.map((side, index) => lines(ratesOf(about, side, view), index)),
    ...(about.flows.some((flow) => flow.is_tcp) ? windows : []),
    lines(queueOf(about, sides, view)),
    lines(delayOf(about, sides, view)),
    ...(kernel === null ? [] : kernelPictures(kernel, about).map((shown) => lines(shown))),
    ...dropsOf(about, sides).map(({ title, rows }): Drawing => ({ kind: "table", title, about: OF_DROPS, columns: about.sides, rows, format: format.count })),
  ];
}
