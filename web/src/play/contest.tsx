// The contest, on the left: the link, the disciplines and who sends. Every control is a value of the scenario.

import { Choice, Slider } from "./controls";
import type { About } from "./game";
import { parsed, written } from "./quantity";
import { at, type Path, type Table, type Value } from "./toml";

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
  /** Another value at a path; none takes it out. */
  edit: (path: Path, value: Value | undefined) => unknown;
}

const text = (value: Value | undefined) => (value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value));

export function Contest(props: ContestProps) {
  const { about } = props;
  return (
    <div class="contest">
      <Disciplines {...props} />
      {about.document["link"] !== undefined && !Array.isArray(about.document["link"]) && <Link {...props} />}
      <Senders {...props} />
    </div>
  );
}

function Link({ about, edit }: ContestProps) {
  const value = (key: string) => at(about.document, ["link", key]);
  return (
    <fieldset>
      <legend>Link</legend>
      <Slider
        label="rate"
        text={text(value("rate"))}
        value={parsed(value("rate"))}
        min={1e6}
        max={1e8}
        isLogarithmic
        write={written.rate}
        change={(typed) => edit(["link", "rate"], typed)}
      />
      <Slider
        label="buffer"
        text={text(value("buffer"))}
        value={text(value("buffer")).includes("packet") ? parsed(value("buffer")) : null}
        min={5}
        max={2000}
        isLogarithmic
        write={written.packets}
        change={(typed) => edit(["link", "buffer"], typed)}
      />
      <Slider
        label="delay, one way"
        text={text(value("delay"))}
        value={parsed(value("delay"))}
        min={0.001}
        max={0.2}
        isLogarithmic
        write={written.time}
        change={(typed) => edit(["link", "delay"], typed)}
      />
    </fieldset>
  );
}

function Disciplines({ about, parts, edit }: ContestProps) {
  const known = parts.filter((part) => part.kind === "discipline");
  const names = [...new Set([...known.map((part) => part.name), ...about.sides])];
  const options = names.map((name) => ({ name, text: name }));
  const set = (side: number, name: string) => {
    const chosen = about.sides.slice(0, 2);
    if (name === "") chosen.splice(side, 1);
    else chosen[side] = name;
    // A discipline with parameters of its own stays as it was typed.
    const before = (at(about.document, ["disciplines"]) as Value[] | undefined) ?? [];
    const typed = chosen.map((label) => before[about.disciplines.indexOf(label)] ?? label);
    edit(["disciplines"], typed);
  };
  return (
    <fieldset>
      <legend>Disciplines</legend>
      <Choice label="A" value={about.sides[0] ?? ""} options={options} change={(name) => set(0, name)} />
      <Choice
        label="B"
        value={about.sides[1] ?? ""}
        options={[{ name: "", text: "none" }, ...options.filter(({ name }) => name !== about.sides[0])]}
        change={(name) => set(1, name)}
      />
      {about.sides.map((side) => (
        <Parameters key={side} side={side} part={known.find((part) => part.name === side)} about={about} edit={edit} />
      ))}
    </fieldset>
  );
}

function Parameters(props: { side: string; part: Part | undefined; about: About; edit: ContestProps["edit"] }) {
  const { side, part, about, edit } = props;
  if (!part || part.fields.length === 0) return null;
  return (
    <details>
      <summary>parameters of {side}</summary>
      <p class="faint small">{part.summary}</p>
      {part.fields.map((field) => {
        const path = ["discipline", part.name, field.name];
        return (
          <label class="parameter" key={field.name} title={`${field.text}${field.range ? ` (${field.range})` : ""}`}>
            <span>{field.name}</span>
            <input
              type="text"
              value={text(at(about.document, path))}
              placeholder={field.default}
              onChange={(event) => edit(path, typedValue(event.currentTarget.value))}
            />
          </label>
        );
      })}
    </details>
  );
}

/** What was typed as a value of TOML: a number, true or false, or a text. */
function typedValue(typed: string): Value | undefined {
  const bare = typed.trim();
  if (bare === "") return undefined;
  if (bare === "true" || bare === "false") return bare === "true";
  return Number.isFinite(Number(bare)) ? Number(bare) : bare;
}

function Senders({ about, parts, edit }: ContestProps) {
  const groups = (about.document["flow"] as Table[] | undefined) ?? [];
  const add = (source: string) => {
    const taken = groups.map((group) => text(group["group"]));
    let name = source;
    for (let number = 2; taken.includes(name); number += 1) name = `${source}-${number}`;
    edit(["flow"], [...groups, fresh(name, source, parts)]);
  };
  return (
    <fieldset>
      <legend>Who sends</legend>
      {groups.map((group, index) => (
        <Sender
          key={`${index} ${text(group["group"])}`}
          group={group}
          index={index}
          about={about}
          parts={parts}
          edit={edit}
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
          <button type="button" key={source} onClick={() => add(source ?? "")}>
            + {label}
          </button>
        ))}
      </div>
    </fieldset>
  );
}

function fresh(name: string, source: string, parts: Part[]): Table {
  const part = parts.find((known) => known.kind === "source" && known.name === source);
  const tcp = part?.is_tcp ? { tcp: { control: "cubic", recovery: "sack" } } : {};
  return { group: name, source: part?.typed ?? source, ...tcp, access: { rate: "100 Mbit/s", delay: "5 ms" } };
}

/** The name of a source, which is a text or a table of one name. */
function sourceName(source: Value | undefined): string {
  return typeof source === "object" && !Array.isArray(source) ? (Object.keys(source)[0] ?? "") : text(source);
}

interface SenderProps extends ContestProps {
  group: Table;
  index: number;
  isLast: boolean;
}

function Sender({ group, index, about, parts, edit, isLast }: SenderProps) {
  const name = text(group["group"]);
  const source = sourceName(group["source"]);
  const part = parts.find((known) => known.kind === "source" && known.name === source);
  const path = (...rest: Path): Path => ["flow", index, ...rest];
  const rate = at(group, ["source", source, "rate"]);
  const remove = () => edit(["flow"], ((about.document["flow"] as Table[]) ?? []).filter((_, other) => other !== index));
  const sources = parts.filter((known) => known.kind === "source" && known.name !== "replay");
  const become = (chosen: string) => {
    const { access, start, count } = group;
    const next = fresh(name, chosen, parts);
    edit(path(), { ...next, access: access ?? next["access"] ?? {}, ...(start ? { start } : {}), ...(count ? { count } : {}) });
  };
  return (
    <div class="sender" role="group" aria-label={`senders ${name}`}>
      <div class="sender-head">
        <strong>{name}</strong>
        <button type="button" class="quiet" disabled={isLast} aria-label={`remove ${name}`} onClick={remove}>
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
      <RoundTrip group={group} about={about} path={path} edit={edit} />
    </div>
  );
}

function Controller(props: { group: Table; path: (...rest: Path) => Path; parts: Part[]; edit: ContestProps["edit"] }) {
  const control = at(props.group, ["tcp", "control"]);
  const name = sourceName(control) || "reno";
  const known = props.parts.filter((part) => part.kind === "controller");
  return (
    <Choice
      label="TCP"
      value={name}
      options={known.map((part) => ({ name: part.name, text: part.name }))}
      change={(chosen) => {
        const tcp = (props.group["tcp"] as Table | undefined) ?? {};
        props.edit(props.path("tcp"), { ...tcp, control: chosen, ...(chosen === "reno" ? {} : { recovery: "sack" }) });
      }}
    />
  );
}

/** The round-trip time without a queue: twice the shared link, and four times the flow's own. */
function RoundTrip(props: { group: Table; about: About; path: (...rest: Path) => Path; edit: ContestProps["edit"] }) {
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
        const delay = wanted === null ? null : Math.max(0, (wanted - least) / 4);
        props.edit(props.path("access", "delay"), delay === null ? next : `${Number((delay * 1e3).toPrecision(4))} ms`);
      }}
    />
  );
}
