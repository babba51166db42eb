// A searchable table of tens of thousands of rows, of which only the visible ones are elements.

import { useMemo, useRef, useState } from "preact/hooks";
import { count } from "./format";
import "./data-table.css";

export interface Column<Row> {
  name: string;
  /** The displayed text, never markup. */
  text: (row: Row) => string;
  /** The sort key, if text would be sorted wrongly. */
  order?: (row: Row) => number;
  isNumber?: boolean;
}

export interface DataTableProps<Row> {
  title: string;
  columns: Column<Row>[];
  rows: Row[];
  keyOf: (row: Row) => string;
  height?: number;
  onPick?: (row: Row) => void;
  isPicked?: (row: Row) => boolean;
}

const ROW_HEIGHT = 30;
/** Rows beyond the visible edges, so scrolling shows no gaps. */
const BEYOND = 8;

export function DataTable<Row>(props: DataTableProps<Row>) {
  const [search, setSearch] = useState("");
  const [sorted, setSorted] = useState<{ column: number; isDown: boolean } | null>(null);
  const [top, setTop] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);
  const height = props.height ?? 360;

  const found = useMemo(() => select(props, search, sorted), [props.rows, props.columns, search, sorted]);
  const first = Math.max(0, Math.floor(top / ROW_HEIGHT) - BEYOND);
  const last = Math.min(found.length, Math.ceil((top + height) / ROW_HEIGHT) + BEYOND);

  const sortBy = (column: number) =>
    setSorted((was) => (was?.column === column && !was.isDown ? null : { column, isDown: was?.column !== column }));

  return (
    <div class="data-table">
      <label class="search">
        <span class="unseen">search in {props.title}</span>
        <input
          type="search"
          placeholder="search"
          value={search}
          onInput={(event) => {
            setSearch(event.currentTarget.value);
            scroller.current?.scrollTo(0, 0);
          }}
        />
        <span class="faint" role="status">
          {found.length === props.rows.length
            ? `${count(found.length)} rows`
            : `${count(found.length)} of ${count(props.rows.length)} rows`}
        </span>
      </label>
      <div
        class="scroller"
        ref={scroller}
        tabIndex={0}
        role="region"
        aria-label={props.title}
        style={{ maxHeight: `${height}px` }}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      >
        <table aria-rowcount={found.length + 1}>
          <caption class="unseen">{props.title}</caption>
          <thead>
            <tr>
              {props.columns.map((column, index) => (
                <th
                  key={column.name}
                  scope="col"
                  class={column.isNumber ? "number" : ""}
                  aria-sort={sorted?.column === index ? (sorted.isDown ? "descending" : "ascending") : "none"}
                >
                  <button type="button" onClick={() => sortBy(index)}>
                    {column.name}
                    {sorted?.column === index ? (sorted.isDown ? " ↓" : " ↑") : ""}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {first > 0 && <Spacer height={first * ROW_HEIGHT} columns={props.columns.length} />}
            {found.slice(first, last).map((row, index) => (
              <tr
                key={props.keyOf(row)}
                aria-rowindex={first + index + 2}
                class={`${props.onPick ? "pickable" : ""} ${props.isPicked?.(row) ? "picked" : ""}`}
                onClick={() => props.onPick?.(row)}
              >
                {props.columns.map((column, place) => (
                  <td key={column.name} class={column.isNumber ? "number" : ""}>
                    {props.onPick && place === 0 ? (
                      <button type="button" aria-pressed={props.isPicked?.(row) ?? false}>
                        {column.text(row)}
                      </button>
                    ) : (
                      column.text(row)
                    )}
                  </td>
                ))}
              </tr>
            ))}
            {last < found.length && (
              <Spacer height={(found.length - last) * ROW_HEIGHT} columns={props.columns.length} />
            )}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function Spacer(props: { height: number; columns: number }) {
  return (
    <tr aria-hidden="true" class="spacer">
      <td colSpan={props.columns} style={{ height: `${props.height}px` }} />
    </tr>
  );
}

function select<Row>(
  props: DataTableProps<Row>,
  search: string,
  sorted: { column: number; isDown: boolean } | null,
): Row[] {
  const wanted = search.trim().toLowerCase();
  const found = wanted
    ? props.rows.filter((row) => props.columns.some((column) => column.text(row).toLowerCase().includes(wanted)))
    : props.rows;
  const column = sorted && props.columns[sorted.column];
  if (!column) return found;
  const { order, text } = column;
  const ascending = order
    ? (a: Row, b: Row) => order(a) - order(b)
    : (a: Row, b: Row) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0);
  return [...found].sort(sorted.isDown ? (a, b) => ascending(b, a) : ascending);
}
