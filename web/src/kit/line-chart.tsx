// Lines over time on a canvas: a legend whose entries hide and show lines, and a table for screen readers.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { bare } from "./format";
import "uplot/dist/uPlot.min.css";
import { colours, dashes, onThemeChange, SERIES_COLOURS } from "./theme";
import "./line-chart.css";

export interface Series {
  name: string;
  /** Its colour's number in the palette; by default its index. */
  colour?: number;
  /** Its common name with others in the legend, which hides and shows them together. */
  group?: string;
  /** Drawn thin and dotted: a limit or a fair share rather than a measurement. */
  isMark?: boolean;
  /** Its own dashes, if two lines share a colour. */
  dash?: number[];
  width?: number;
}

export interface LineChartProps {
  /** The description of the picture, for screen readers. */
  title: string;
  /** The text next to the vertical axis, with its unit. */
  axis: string;
  series: Series[];
  /** Times in seconds, then the values of each series; NaN and null are gaps. */
  data: () => (Float64Array | (number | null)[])[];
  /** A value as text, for the axis, the legend and the table. */
  format: (value: number) => string;
  /** When it changes, the picture is redrawn from `data`. */
  version: number;
  /** The times shown, in seconds; by default all of `data`. */
  span?: [number, number];
  /** A time as text; by default in seconds. */
  timeText?: (seconds: number) => string;
  /** The values shown; by default from zero to the maximum. */
  range?: [number, number];
  height?: number;
  isLogarithmic?: boolean;
  /** The name that pictures with a common cursor share. */
  cursor?: string;
  /** Omits the legend if the title names the only series. */
  hasLegend?: boolean;
}

const AXIS_FONT = "12px system-ui, sans-serif";

function colourOf(series: Series, index: number): number {
  return (series.colour ?? index) % SERIES_COLOURS;
}

function options(props: LineChartProps, width: number, latest: () => LineChartProps): uPlot.Options {
  const theme = colours();
  const axis = { stroke: theme.faint, grid: { stroke: theme.grid, width: 1 }, ticks: { stroke: theme.grid }, font: AXIS_FONT };
  return {
    width,
    height: props.height ?? 200,
    legend: { show: false },
    cursor: {
      drag: { x: false, y: false },
      points: { show: false },
      ...(props.cursor ? { sync: { key: props.cursor } } : {}),
    },
    scales: {
      x: {
        time: false,
        range: (_plot, min, max) => latest().span ?? [min ?? 0, max ?? 1],
      },
      y: {
        distr: props.isLogarithmic ? 3 : 1,
        range: (_plot, min, max) => latest().range ?? reach(min, max, props.isLogarithmic ?? false),
      },
    },
    axes: [
      { ...axis, values: (_plot, ticks) => ticks.map((tick) => latest().timeText?.(tick) ?? `${Number(tick.toFixed(6))} s`), size: 28 },
      { ...axis, values: (_plot, ticks) => ticks.map((tick) => (tick === null ? "" : bare(props.format(tick)))), size: 76 },
    ],
    series: [
      {},
      ...props.series.map((series, index) => ({
        label: series.name,
        stroke: series.isMark ? theme.share : (theme.series[colourOf(series, index)] ?? theme.text),
        width: series.width ?? (series.isMark ? 1.5 : 1.75),
        dash: series.dash ?? (series.isMark ? [6, 4] : dashes(series.colour ?? index)),
        points: { show: false },
        spanGaps: false,
      })),
    ],
  };
}

/** The range of an axis: from zero, with a margin above. */
function reach(min: number | null, max: number | null, isLogarithmic: boolean): [number, number] {
  if (isLogarithmic) return [Math.max(1e-9, min ?? 1e-3), Math.max(1e-8, (max ?? 1) * 1.2)];
  const top = max && max > 0 ? max * 1.06 : 1;
  return [Math.min(0, min ?? 0), top];
}

/** In uPlot's form: gaps are null, because NaN would omit the entire line. */
function aligned(data: ArrayLike<number | null>[]): uPlot.AlignedData {
  const withGaps = (values: ArrayLike<number | null>) => {
    for (let at = 0; at < values.length; at += 1)
      if (Number.isNaN(values[at] ?? 0)) return Array.from(values, (value) => (Number.isNaN(value ?? 0) ? null : value));
    return values;
  };
  return data.map(withGaps) as uPlot.AlignedData;
}

export function LineChart(props: LineChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const names = props.series.map((series) => series.name).join("\n");

  useEffect(() => {
    const element = holder.current;
    if (!element) return;
    const make = () => {
      plot.current?.destroy();
      const made = options(latest.current, element.clientWidth, () => latest.current);
      plot.current = new uPlot(made, aligned(latest.current.data()), element);
      latest.current.series.forEach((series, index) => {
        if (hidden.has(legendName(series))) plot.current?.setSeries(index + 1, { show: false });
      });
    };
    make();
    const resized = new ResizeObserver(() => {
      const width = element.clientWidth;
      if (width > 0 && plot.current && plot.current.width !== width)
        plot.current.setSize({ width, height: latest.current.height ?? 200 });
    });
    resized.observe(element);
    const end = onThemeChange(make);
    return () => {
      end();
      resized.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [names, props.isLogarithmic]);

  useEffect(() => {
    plot.current?.setData(aligned(props.data()));
  }, [props.version, names, props.span?.[0], props.span?.[1]]);

  const toggle = (name: string) => {
    const next = new Set(hidden);
    if (!next.delete(name)) next.add(name);
    setHidden(next);
    plot.current?.batch(() => {
      props.series.forEach((series, index) => {
        if (legendName(series) === name) plot.current?.setSeries(index + 1, { show: !next.has(name) });
      });
    });
  };
  // Once per second: more does not help screen readers, and it reads every value.
  const table = useMemo(() => <ChartTable {...props} />, [Math.floor(performance.now() / 1000), names]);

  return (
    <figure class="line-chart" aria-label={props.title}>
      <div class="axis-name" aria-hidden="true">
        {props.axis}
      </div>
      <div class="plot" ref={holder} aria-hidden="true" />
      {(props.hasLegend ?? true) && <Legend series={props.series} hidden={hidden} toggle={toggle} />}
      {table}
    </figure>
  );
}

function legendName(series: Series): string {
  return series.group ?? series.name;
}

function Legend(props: { series: Series[]; hidden: ReadonlySet<string>; toggle: (name: string) => void }) {
  const entries = new Map<string, { series: Series; index: number }>();
  props.series.forEach((series, index) => {
    if (!entries.has(legendName(series))) entries.set(legendName(series), { series, index });
  });
  return (
    <ul class="legend">
      {[...entries].map(([name, { series, index }]) => (
        <li key={name}>
          <button
            type="button"
            class="entry"
            aria-pressed={!props.hidden.has(name)}
            title={`hide or show ${name}`}
            onClick={() => props.toggle(name)}
          >
            <Key series={series} index={index} />
            {name}
          </button>
        </li>
      ))}
    </ul>
  );
}

function Key(props: { series: Series; index: number }) {
  const { series, index } = props;
  const dash = series.dash ?? (series.isMark ? [6, 4] : dashes(series.colour ?? index));
  return (
    <svg class="key" width="22" height="8" aria-hidden="true">
      <line
        class={series.isMark ? "share" : `series-${colourOf(series, index)}`}
        x1="1"
        x2="21"
        y1="4"
        y2="4"
        stroke-width="2.5"
        stroke-dasharray={dash.join(" ")}
      />
    </svg>
  );
}

/** The last and the greatest value of each series: a picture in words. */
function ChartTable(props: LineChartProps) {
  const [times, ...columns] = props.data();
  const last = (times?.length ?? 0) - 1;
  const timeText = props.timeText ?? ((seconds: number) => `${seconds.toFixed(2)} s`);
  const text = (value: number | null | undefined) =>
    value === null || value === undefined || Number.isNaN(value) ? "none" : props.format(value);
  return (
    <div class="unseen">
      <table>
      <caption>
        {props.title}: {props.axis}; the last values are of {timeText(times?.[last] ?? 0)}
      </caption>
      <thead>
        <tr>
          <th scope="col">line</th>
          <th scope="col">last</th>
          <th scope="col">greatest</th>
        </tr>
      </thead>
      <tbody>
        {props.series.map((series, index) => (
          <tr key={series.name}>
            <th scope="row">{series.name}</th>
            <td>{text(columns[index]?.[last])}</td>
            <td>{text(greatest(columns[index]))}</td>
          </tr>
        ))}
      </tbody>
    </table>
    </div>
  );
}

function greatest(values: ArrayLike<number | null> | undefined): number | null {
  let found: number | null = null;
  for (let index = 0; index < (values?.length ?? 0); index += 1) {
    const value = values?.[index];
    if (typeof value === "number" && !Number.isNaN(value) && (found === null || value > found)) found = value;
  }
  return found;
}
