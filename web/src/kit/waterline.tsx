// The waterline: what each wants as an outline, what it gets as a fill, and the fair share as one line.
// Sharing is fair when every fill ends at the line or at its own outline.

import { useEffect, useRef, useState } from "preact/hooks";
import "./waterline.css";

export interface Level {
  name: string;
  /** What it would take if it were alone, in the same unit as the others; infinite where it takes all there is. */
  demand: number;
  delivered: number;
  /** Its own fair share, where weights make shares differ. */
  share?: number;
  colour?: number;
}

export interface WaterlineProps {
  title: string;
  levels: Level[];
  /** The max-min share of a flow that wants more than it. */
  share: number;
  format: (value: number) => string;
  height?: number;
  onPick?: (name: string) => void;
}

const LEFT = 6;
/** Room for what the line means. */
const RIGHT = 108;
const TOP = 16;
const BOTTOM = 20;

export function Waterline(props: WaterlineProps) {
  const height = props.height ?? 200;
  const holder = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(400);
  useEffect(() => {
    const element = holder.current;
    if (!element) return;
    const resized = new ResizeObserver(() => setWidth(Math.max(200, element.clientWidth)));
    resized.observe(element);
    return () => resized.disconnect();
  }, []);
  const { levels, share } = props;
  const largest = Math.max(share, ...levels.map((level) => Math.max(level.delivered, finite(level.demand))));
  const top = Math.min(largest, 4 * Math.max(share, ...levels.map((level) => level.delivered))) * 1.08 || 1;
  const y = (value: number) => TOP + (height - TOP - BOTTOM) * (1 - Math.min(value, top) / top);
  const room = (width - LEFT - RIGHT) / Math.max(1, levels.length);
  const wide = Math.max(1, Math.min(60, room * 0.8));
  const base = y(0);
  return (
    <figure class="waterline" aria-label={props.title} ref={holder}>
      <svg viewBox={`0 0 ${width} ${height}`} height={height} aria-hidden="true" class="waterline-picture">
        {levels.map((level, index) => {
          const x = LEFT + room * (index + 0.5) - wide / 2;
          const demand = Number.isFinite(level.demand) ? y(level.demand) : TOP - 6;
          const delivered = y(level.delivered);
          return (
            <g key={level.name} onClick={() => props.onPick?.(level.name)}>
              <title>{describe(level, props)}</title>
              <rect class="demand" x={x} y={demand} width={wide} height={Math.max(0, base - demand)} />
              <rect
                class={`series-${(level.colour ?? 0) % 9}`}
                x={x}
                y={delivered}
                width={wide}
                height={Math.max(0, base - delivered)}
              />
              {level.share !== undefined && (
                <line class="share" x1={x - 2} x2={x + wide + 2} y1={y(level.share)} y2={y(level.share)} stroke-width="2" />
              )}
              {room >= 34 && (
                <text x={x + wide / 2} y={height - 5} text-anchor="middle">
                  {level.name.length * 6.4 > room ? `${level.name.slice(0, Math.floor(room / 6.4) - 1)}…` : level.name}
                </text>
              )}
            </g>
          );
        })}
        <line class="base" x1={LEFT} x2={width - RIGHT} y1={base} y2={base} />
        <line class="share" x1={0} x2={width - RIGHT + 6} y1={y(share)} y2={y(share)} stroke-width="2" />
        <text class="share-text" x={width - RIGHT + 10} y={y(share) - 4}>
          fair share
        </text>
        <text class="share-text" x={width - RIGHT + 10} y={y(share) + 11}>
          {props.format(share)}
        </text>
      </svg>
      <div class="unseen">
      <table>
        <caption>{props.title}</caption>
        <thead>
          <tr>
            <th scope="col">who</th>
            <th scope="col">wants</th>
            <th scope="col">gets</th>
            <th scope="col">fair share</th>
          </tr>
        </thead>
        <tbody>
          {levels.slice(0, 100).map((level) => (
            <tr key={level.name}>
              <th scope="row">{level.name}</th>
              <td>{Number.isFinite(level.demand) ? props.format(level.demand) : "all there is"}</td>
              <td>{props.format(level.delivered)}</td>
              <td>{props.format(level.share ?? share)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      </div>
    </figure>
  );
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : 0;
}

function describe(level: Level, props: WaterlineProps): string {
  const wants = Number.isFinite(level.demand) ? props.format(level.demand) : "all there is";
  return `${level.name}: gets ${props.format(level.delivered)}, wants ${wants}, fair ${props.format(level.share ?? props.share)}`;
}
