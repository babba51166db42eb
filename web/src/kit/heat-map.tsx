// A table whose cells are shaded by their value, such as causes by classes; also a table for screen readers.

import "./heat-map.css";

export interface HeatMapProps {
  title: string;
  columns: string[];
  rows: { name: string; values: number[] }[];
  format: (value: number) => string;
  /** Called with the selected row and column. */
  onPick?: (row: string, column: string) => void;
}

/** Steps of shade; zero has none. */
const STEPS = 9;

export function HeatMap(props: HeatMapProps) {
  const largest = Math.max(0, ...props.rows.flatMap((row) => row.values));
  return (
    <div class="heat-map" role="region" aria-label={props.title} tabIndex={0}>
      <table>
        <caption class="unseen">{props.title}</caption>
        <thead>
          <tr>
            <td />
            {props.columns.map((column) => (
              <th scope="col" key={column}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.map((row) => (
            <tr key={row.name}>
              <th scope="row">{row.name}</th>
              {props.columns.map((column, index) => {
                const value = row.values[index] ?? 0;
                const text = value === 0 ? "·" : props.format(value);
                return (
                  <td key={column} class={`shade-${shade(value, largest)}`}>
                    {props.onPick && value > 0 ? (
                      <button type="button" onClick={() => props.onPick?.(row.name, column)}>
                        {text}
                      </button>
                    ) : (
                      text
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Square roots, so small counts are visible next to large ones. */
function shade(value: number, largest: number): number {
  return value <= 0 || largest <= 0 ? 0 : Math.max(1, Math.round(STEPS * Math.sqrt(value / largest)));
}
