// The waterline: each demand as an outline, each rate as a fill, and the fair share as one line.
// Sharing is fair if every fill ends at the line or at its own outline.

import { useEffect, useRef, useState } from "preact/hooks";
import "./waterline.css";

export interface Level {
  name: string;
  /** Its demand, in the same unit as the others; infinite if unlimited. */
  demand: number;
  delivered: number;
  /** Its own fair share, if weights make shares differ. */
  share?: number;
  colour?: number;
}

export interface WaterlineProps {
  title: string;
  levels: Level[];
  /** The max-min share of a flow with a higher demand; without it no line is drawn. */
  share: number | undefined;
  /** The maximum value, if another picture must have the same scale; see `reachOf`. */
  top?: number;
  format: (value: number) => string;
  height?: number;
  onPick?: (name: string) => void;
}

const LEFT = 6;
/** Space for the label of the line. */
const RIGHT = 108;
const TOP = 16;
const BOTTOM = 20;

/** The maximum value in a picture of these levels. */
export function reachOf(levels: Level[], share: number | undefined): number {
  const delivered = levels.map((level) => level.delivered);
  const largest = Math.max(share ?? 0, ...delivered, ...levels.map((level) => finite(level.demand)));
  return Math.min(largest, 4 * Math.max(share ?? 0, ...delivered)) * 1.08 || 1;
}

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
  const top = props.top ?? reachOf(levels, share);
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
        {share !== undefined && (
          <g>
            <line class="share" x1={0} x2={width - RIGHT + 6} y1={y(share)} y2={y(share)} stroke-width="2" />
            <text class="share-text" x={width - RIGHT + 10} y={y(share) - 4}>
              fair share
            </text>
            <text class="share-text" x={width - RIGHT + 10} y={y(share) + 11}>
              {props.format(share)}
            </text>
          </g>
        )}
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
              <td>{fairText(level, props)}</td>
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
  return `${level.name}: gets ${props.format(level.delivered)}, wants ${wants}, fair ${fairText(level, props)}`;
}

function fairText(level: Level, props: WaterlineProps): string {
  const share = level.share ?? props.share;
  return share === undefined ? "not worked out" : props.format(share);
}
