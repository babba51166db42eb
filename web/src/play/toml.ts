// A scenario as data, written as TOML, and changed by the path of a value.

export type Value = string | number | boolean | Value[] | { [key: string]: Value };
export type Table = { [key: string]: Value };

export const isTable = (value: Value | undefined): value is Table => typeof value === "object" && !Array.isArray(value);
const isTables = (value: Value): value is Table[] => Array.isArray(value) && value.length > 0 && value.every(isTable);

function key(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : JSON.stringify(name);
}

/** A value on one line. */
export function inline(value: Value): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (isTable(value))
    return `{ ${Object.entries(value)
      .map(([name, inside]) => `${key(name)} = ${inline(inside)}`)
      .join(", ")} }`;
  return String(value);
}

/** A document: plain values first, then tables, then arrays of tables. */
export function write(document: Table): string {
  const entries = Object.entries(document);
  const lines = entries.filter(([, value]) => !isTable(value) && !isTables(value)).map(([name, value]) => `${key(name)} = ${inline(value)}`);
  for (const [name, value] of entries) {
    if (isTable(value)) lines.push("", `[${key(name)}]`, ...fields(value));
    else if (isTables(value) && name !== "disciplines") for (const each of value) lines.push("", `[[${key(name)}]]`, ...fields(each));
    else if (isTables(value)) lines.unshift(`${key(name)} = ${inline(value)}`);
  }
  return `${lines.join("\n")}\n`;
}

function fields(table: Table): string[] {
  return Object.entries(table).map(([name, value]) => `${key(name)} = ${inline(value)}`);
}

/** A path in a document, with groups of senders by name. */
export type Path = (string | number)[];

/** A step from a list of groups to the index of the group with this name. */
function stepFrom(value: Value | undefined, step: string | number): string | number {
  if (!Array.isArray(value) || typeof step === "number") return step;
  return value.findIndex((each) => isTable(each) && each["group"] === step);
}

/** The value at a path; undefined if there is none. */
export function at(document: Value, path: Path): Value | undefined {
  let value: Value | undefined = document;
  for (const step of path) {
    if (value === undefined || typeof value !== "object") return undefined;
    value = (value as { [key: string]: Value })[stepFrom(value, step)];
  }
  return value;
}

/** The document with another value at a path; without a value, removes it. */
export function changed(document: Table, path: Path, value: Value | undefined): Table {
  const copy = structuredClone(document);
  let place: { [key: string]: Value } = copy;
  for (const each of path.slice(0, -1)) {
    const step = stepFrom(place as Value, each);
    const next = place[step];
    if (next === undefined || typeof next !== "object") place[step] = {};
    place = place[step] as { [key: string]: Value };
  }
  const last = path[path.length - 1];
  if (last === undefined) return copy;
  const step = stepFrom(place as Value, last);
  if (value === undefined) delete place[step];
  else place[step] = value;
  return copy;
}
