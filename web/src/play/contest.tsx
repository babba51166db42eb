// The contest, on the left: the link, the disciplines and the senders. Every control is a value of the scenario.

import { Choice, Slider } from "./controls";
import type { About } from "./game";
import { bufferOf, parsed, written } from "./quantity";
import { at, isTable, type Path, type Table, type Value } from "./toml";

/** A part that a scenario may name, from the catalogue. */
export interface Part {
  kind: string;
  name: string;
  summary: string;
  fields: { name: string; text: string; unit: string; default: string; range: string }[];
  is_tcp: boolean | null;
  typed: Value | null;
}

export interface ContestProps {
  about: About;
  parts: Part[];
  /**
   * Sets the value at a path, or removes it. Dependent values are computed when it is applied, after earlier pending edits. False if
   * refused.
   */
  edit: (path: Path, value: Value | undefined | ((document: Table) => Value)) => Promise<boolean>;
  /** Reports why a value is invalid. */
  refuse: (why: string) => false;
}

const text = (value: Value | undefined) => (value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value));

export function Contest(props: ContestProps) {
  return (
    <div class="contest">
      <Disciplines {...props} />
      <Links {...props} />
      <Contracts {...props} />
      <Senders {...props} />
      <Measuring {...props} />
    </div>
  );
}

/** The link, or the changeable links of a network: those with a queue. */
function Links(props: ContestProps) {
  const { document } = props.about;
  const link = document["link"];
  const network = document["network"];
  if (isTable(link)) {
    return (
      <fieldset>
        <legend>Link</legend>
        <Queued {...props} path={["link"]} table={link} />
        <Slider
          label="delay, one way"
          text={text(link["delay"])}
          value={parsed(link["delay"])}
          min={0.001}
          max={0.2}
          isLogarithmic
          write={written.time}
          change={(typed) => props.edit(["link", "delay"], typed)}
        />
      </fieldset>
    );
  }
  if (Array.isArray(link)) {
    return (
      <>
        {(link as Table[]).map((each, index) => {
          const name = text(each["name"]) || `${text(each["from"])}-${text(each["to"])}`;
          return each["buffer"] === undefined ? null : (
            <fieldset key={name}>
              <legend>Link {name}</legend>
              <Queued {...props} path={["link", index]} table={each} />
            </fieldset>
          );
        })}
      </>
    );
  }
  if (!isTable(network)) return null;
  return (
    <>
      {Object.entries(network).map(([kind, table]) =>
        isTable(table) ? (
          <fieldset key={kind}>
            <legend>Links of the {kind}</legend>
            <Queued {...props} path={["network", kind]} table={table} />
          </fieldset>
        ) : null,
      )}
    </>
  );
}

/** The rates and the buffer of a link, which may change during a run. */
function Queued(props: ContestProps & { path: Path; table: Table }) {
  const { path, table, edit } = props;
  // A trace determines the rate.
  const rates = table["trace"] === undefined ? Object.keys(table).filter((key) => key === "rate" || key.endsWith("_rate")) : [];
  const buffer = bufferOf(table["buffer"]);
  return (
    <>
      {rates.map((key) => (
        <Slider
          key={key}
          label={key.replace("_", " ")}
          text={text(table[key])}
          value={parsed(table[key])}
          min={1e6}
          max={1e8}
          isLogarithmic
          write={written.rate}
          change={(typed) => edit([...path, key], typed)}
        />
      ))}
      {table["buffer"] !== undefined && (
        <Slider
          label="buffer"
          text={text(table["buffer"])}
          value={buffer?.value ?? null}
          min={buffer?.min ?? 1}
          max={buffer?.max ?? 2}
          isLogarithmic
          write={buffer?.write ?? String}
          change={(typed) => edit([...path, "buffer"], typed)}
        />
      )}
    </>
  );
}

/** The contract of each aggregate. */
function Contracts({ about, edit }: ContestProps) {
  const aggregates = (about.document["aggregate"] as Table[] | undefined) ?? [];
  return aggregates.length === 0 ? null : (
    <fieldset>
      <legend>Contracts</legend>
      {aggregates.map((each, index) => (
        <Slider
          key={index}
          label={text(each["name"])}
          text={text(each["target"])}
          value={parsed(each["target"])}
          min={1e5}
          max={1e8}
          isLogarithmic
          write={written.rate}
          change={(typed) => edit(["aggregate", index, "target"], typed)}
        />
      ))}
    </fieldset>
  );
}

/** The measures, and the number of runs. */
function Measuring({ about, edit }: ContestProps) {
  const { document, duration_s } = about;
  const time = (key: string, typed: string, number: number, min: number, max: number) => (
    <Slider
      label={key.replace("_", "-")}
      text={typed}
      value={number}
      min={min}
      max={max}
      step={max > 10 ? 1 : 0.1}
      write={written.time}
      change={(next) => edit([key], next)}
    />
  );
  return (
    <fieldset>
      <legend>Measuring</legend>
      {time("duration", text(document["duration"]), duration_s, 1, Math.max(120, duration_s))}
      {time("warm_up", text(document["warm_up"] ?? "0 s"), about.warm_up_s, 0, duration_s)}
      <Slider
        label="seeds"
        text={text(document["seeds"] ?? 1)}
        value={null}
        min={0}
        max={1}
        write={written.count}
        change={(typed) => edit(["seeds"], typedValue(typed))}
      />
    </fieldset>
  );
}

/** An entry of `disciplines`: its name, and the path of its parameters. */
interface Entry {
  /** Its name in results. */
  label: string;
  name: string;
  path: Path;
  typed: Value;
}

function entriesOf(about: About): Entry[] {
  const typed = (about.document["disciplines"] as Value[] | undefined) ?? about.disciplines;
  return about.disciplines.map((label, index) => {
    const entry = typed[index] ?? label;
    if (!isTable(entry)) return { label, name: text(entry), path: ["discipline", parametersOf(text(entry))], typed: entry };
    const name = Object.keys(entry).find((key) => key !== "label") ?? label;
    return { label, name, path: ["disciplines", index, name], typed: entry };
  });
}

/** In a combination of scheduler and dropper, the dropper has the parameters. */
const parametersOf = (name: string) => name.split("+").pop() ?? name;

function Disciplines({ about, parts, edit }: ContestProps) {
  const known = parts.filter((part) => part.kind === "discipline");
  const entries = entriesOf(about);
  const labels = entries.map((entry) => entry.label);
  const names = known.map((part) => part.name);
  const sides = about.sides.slice(0, 2);
  const all = [...new Set([...labels, ...names])];
  const options = (side: number) => {
    const other = sides[1 - side];
    return all.map((name) => ({ name, text: name === other ? `${name}, with settings of its own` : name }));
  };
  const set = (side: number, name: string) => {
    const chosen: (string | Value)[] = [...sides];
    if (name === "") chosen.splice(side, 1);
    else if (name === sides[1 - side]) chosen[side] = apart(entries.find((entry) => entry.label === name)?.name ?? name, labels);
    else chosen[side] = name;
    // An entry of the scenario stays as typed.
    void edit(["disciplines"], chosen.map((each) => entries.find((entry) => entry.label === each)?.typed ?? each));
  };
  return (
    <fieldset>
      <legend>Disciplines</legend>
      <Choice label="A" value={sides[0] ?? ""} options={options(0)} change={(name) => set(0, name)} />
      <Choice label="B" value={sides[1] ?? ""} options={[{ name: "", text: "none" }, ...options(1)]} change={(name) => set(1, name)} />
      {sides.map((side) => {
        const entry = entries.find(({ label }) => label === side);
        const part = entry && known.find(({ name }) => name === parametersOf(entry.name));
        return entry && part && <Parameters key={side} entry={entry} part={part} about={about} edit={edit} />;
      })}
    </fieldset>
  );
}

/** A copy of the discipline, under an unused label. */
function apart(name: string, taken: string[]): Value {
  const base = name.replace(/[^A-Za-z0-9_-]/g, "-");
  let number = 2;
  while (taken.includes(`${base}-${number}`)) number += 1;
  return { [name]: {}, label: `${base}-${number}` };
}

function Parameters(props: { entry: Entry; part: Part; about: About; edit: ContestProps["edit"] }) {
  const { entry, part, about, edit } = props;
  // The name already contains the scheduler.
  const fields = part.fields.filter((field) => !(entry.name.includes("+") && field.name === "scheduler"));
  if (fields.length === 0) return null;
  const given = at(about.document, entry.path);
  const own = isTable(given) ? Object.entries(given).map(([key, value]) => `${key} = ${text(value)}`) : [];
  return (
    <details>
      <summary>
        parameters of {entry.label}
        {own.length > 0 && <span class="faint">: {own.join(", ")}</span>}
      </summary>
      <p class="faint small">{plain(part.summary)}</p>
      {fields.map((field) => {
        const path = [...entry.path, field.name];
        return (
          <div class="parameter" key={field.name}>
            <label>
              <span>{field.name}</span>
              <input
                type="text"
                value={text(at(about.document, path))}
                placeholder={plain(field.default)}
                onChange={(event) => void edit(path, typedValue(event.currentTarget.value))}
              />
            </label>
            <p class="faint small">
              {field.range ? `${plain(field.text).replace(/\.$/, "")} (${plain(field.range)}).` : plain(field.text)}
            </p>
          </div>
        );
      })}
    </details>
  );
}

/** A text without its documentation's markup: `code`, **strong** and [links](…). */
export function plain(marked: string): string {
  return marked
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/\[(`[^`]*`)\]/g, "$1")
    .replace(/[`*]/g, "");
}

/** The typed text as a TOML value: a number, true or false, or a text. */
function typedValue(typed: string): Value | undefined {
  const bare = typed.trim();
  if (bare === "") return undefined;
  if (bare === "true" || bare === "false") return bare === "true";
  return Number.isFinite(Number(bare)) ? Number(bare) : bare;
}

const groupsOf = (document: Table) => (document["flow"] as Table[] | undefined) ?? [];

function Senders({ about, parts, edit, refuse }: ContestProps) {
  const groups = groupsOf(about.document);
  const add = (source: string) =>
    edit(["flow"], (document) => {
      const present = groupsOf(document);
      const taken = present.map((group) => text(group["group"]));
      let name = source;
      for (let number = 2; taken.includes(name); number += 1) name = `${source}-${number}`;
      return [...present, fresh(name, source, parts)];
    });
  return (
    <fieldset>
      <legend>Who sends</legend>
      {groups.map((group) => (
        <Sender
          key={text(group["group"])}
          group={group}
          about={about}
          parts={parts}
          edit={edit}
          refuse={refuse}
          isLast={groups.length === 1}
        />
      ))}
      <div class="add">
        <span class="faint small">add</span>
        {[
          ["bulk", "TCP"],
          ["cbr", "UDP"],
          ["web", "web"],
          ["voip", "call"],
        ].map(([source, label]) => (
          <button type="button" key={source} onClick={() => void add(source ?? "")}>
            + {label}
          </button>
        ))}
      </div>
    </fieldset>
  );
}

function fresh(name: string, source: string, parts: Part[]): Table {
  const part = parts.find((known) => known.kind === "source" && known.name === source);
  const tcp = part?.is_tcp ? { tcp: { control: "cubic" } } : {};
  return { group: name, source: part?.typed ?? source, ...tcp, access: { rate: "100 Mbit/s", delay: "5 ms" } };
}

/** The name of a source, given as a text or a table with one name. */
function sourceName(source: Value | undefined): string {
  return typeof source === "object" && !Array.isArray(source) ? (Object.keys(source)[0] ?? "") : text(source);
}

/** The codepoints of `tcp.ecn`. */
const CODEPOINTS = ["off", "ect0", "ect1"];

interface SenderProps extends ContestProps {
  group: Table;
  isLast: boolean;
}

function Sender({ group, about, parts, edit, refuse, isLast }: SenderProps) {
  const name = text(group["group"]);
  const source = sourceName(group["source"]);
  const part = parts.find((known) => known.kind === "source" && known.name === source);
  const path = (...rest: Path): Path => ["flow", name, ...rest];
  const rate = at(group, ["source", source, "rate"]);
  const remove = () => edit(["flow"], (document) => groupsOf(document).filter((other) => other["group"] !== name));
  const sources = parts.filter((known) => known.kind === "source" && known.name !== "replay");
  const become = (chosen: string) => {
    const { access, start, count } = group;
    const next = fresh(name, chosen, parts);
    void edit(path(), { ...next, access: access ?? next["access"] ?? {}, ...(start ? { start } : {}), ...(count ? { count } : {}) });
  };
  return (
    <div class="sender" role="group" aria-label={`senders ${name}`}>
      <div class="sender-head">
        <strong>{name}</strong>
        <button type="button" class="quiet" disabled={isLast} aria-label={`remove ${name}`} onClick={() => void remove()}>
          remove
        </button>
      </div>
      <Choice
        label="sends"
        value={source}
        options={sources.map((known) => ({ name: known.name, text: known.is_tcp ? `${known.name} (TCP)` : `${known.name} (UDP)` }))}
        change={become}
      />
      {part?.is_tcp && <Controller group={group} path={path} parts={parts} edit={edit} />}
      {part?.is_tcp && (
        <Choice
          label="ECN"
          value={text(at(group, ["tcp", "ecn"]))}
          options={[{ name: "", text: "usual for this TCP" }, ...CODEPOINTS.map((name) => ({ name, text: name }))]}
          change={(chosen) => void edit(path("tcp", "ecn"), chosen === "" ? undefined : chosen)}
        />
      )}
      <Slider
        label="how many"
        text={text(group["count"] ?? 1)}
        value={Number(group["count"] ?? 1)}
        min={1}
        max={50}
        write={written.count}
        change={(typed) => edit(path("count"), typedValue(typed))}
      />
      {rate !== undefined && (
        <Slider
          label="rate"
          text={text(rate)}
          value={parsed(rate)}
          min={1e5}
          max={1e8}
          isLogarithmic
          write={written.rate}
          change={(typed) => edit(path("source", source, "rate"), typed)}
        />
      )}
      <RoundTrip group={group} about={about} path={path} edit={edit} refuse={refuse} />
      <Slider
        label="begins at"
        text={text(group["start"] ?? "0 s")}
        value={null}
        min={0}
        max={1}
        write={written.time}
        change={(typed) => edit(path("start"), typed)}
      />
    </div>
  );
}

function Controller(props: { group: Table; path: (...rest: Path) => Path; parts: Part[]; edit: ContestProps["edit"] }) {
  const control = at(props.group, ["tcp", "control"]);
  const name = sourceName(control) || "cubic";
  const known = props.parts.filter((part) => part.kind === "controller");
  return (
    <Choice
      label="TCP"
      value={name}
      options={known.map((part) => ({ name: part.name, text: part.name }))}
      change={(chosen) => {
        const tcp = (props.group["tcp"] as Table | undefined) ?? {};
        void props.edit(props.path("tcp"), { ...tcp, control: chosen });
      }}
    />
  );
}

/** The round-trip time without a queue: twice the shared link, and four times the flow's own. */
function RoundTrip(props: Pick<ContestProps, "about" | "edit" | "refuse"> & { group: Table; path: (...rest: Path) => Path }) {
  const shared = parsed(at(props.about.document, ["link", "delay"]));
  const own = parsed(at(props.group, ["access", "delay"]));
  if (shared === null || own === null) {
    const typed = text(at(props.group, ["access", "delay"]));
    return (
      <Slider
        label="own delay, one way"
        text={typed}
        value={null}
        min={0}
        max={1}
        write={written.time}
        change={(next) => props.edit(props.path("access", "delay"), next)}
      />
    );
  }
  const least = 2 * shared;
  return (
    <Slider
      label="RTT without queue"
      text={written.time(least + 4 * own)}
      value={least + 4 * own}
      min={Math.max(0.002, least)}
      max={least + 0.4}
      isLogarithmic
      write={written.time}
      change={(next) => {
        const wanted = parsed(next);
        if (wanted !== null && wanted < least)
          return props.refuse(
            `The RTT without queue is \`${next}\`, but the link alone has ${written.time(least)}; allowed: at least that, or a shorter delay of the link.`,
          );
        const delay = wanted === null ? null : (wanted - least) / 4;
        return props.edit(props.path("access", "delay"), delay === null ? next : `${Number((delay * 1e3).toPrecision(4))} ms`);
      }}
    />
  );
}
