// The page: the contest on the left, the pictures on the right, and the buttons above both.

import { useEffect, useRef, useState } from "preact/hooks";
import { wantsStill } from "../kit";
import { format } from "../kit";
import { Contest, type ContestProps, type Part, plain } from "./contest";
import { json, open, type Server, server } from "./door";
import { contest } from "./kernel";
import { svg } from "./drawing";
import { csv, png, save } from "./export";
import { type About, Game, SPEEDS } from "./game";
import { EXERCISES, Exercises } from "./exercises";
import { Judge } from "./judge";
import { exerciseOf, FIRST, LESSONS } from "./lessons";
import { LessonCard } from "./lesson";
import { pack, unpack } from "./link";
import type { History } from "./history";
import { drawingsOf, fairnessOf, Pictures, shareOf, type View, worstOf } from "./pictures";
import { at, changed, inline, type Path, type Table, type Value, write } from "./toml";
import "./app.css";

interface Written {
  name: string;
  scenario: string;
  /** As reported by the player, to detect changes. */
  toml: string;
}

interface Notice {
  mood: "plain" | "bad";
  text: string;
  /** Is it still true? A notice without this stays until the next action. */
  isTrue?: () => boolean;
}

const SPANS = [2, 5, 10, 30, 120];
const SMOOTHS = [1, 5, 10, 25, 100];
/** The update interval of text and numbers, ms; with reduced motion also of pictures. */
const SLOW = 100;
const STILL = 1000;
/** The simulated seconds after which a restart is no longer announced. */
const NEWS = 5;

export function App() {
  const [game, setGame] = useState<Game | null>(null);
  const [parts, setParts] = useState<Part[]>([]);
  const [notice, setNotice] = useState<Notice | null>(null);
  const [lesson, setLesson] = useState("");
  /** The running or changed lesson, in its original form. */
  const [written, setWritten] = useState<Written | null>(null);
  const [view, setView] = useState<View>({ span: 10, smooth: 10 });
  const [known, setKnown] = useState<Server | null>(null);
  const [kernel, setKernel] = useState<string | null>(null);
  const [, redraw] = useState(0);
  const started = useRef(false);
  const [isListed, setListed] = useState(location.hash === EXERCISES);
  /** Another address, linked or typed. It is followed once the game exists. */
  const arrive = useRef<(() => Promise<void>) | null>(null);
  const isAwaited = useRef(false);

  const fail = (why: string) => setNotice({ mood: "bad", text: why });

  const run = async (to: Game, scenario: string, isPlaying = true, refuse = fail) => {
    try {
      await to.start(scenario);
      to.setPlaying(isPlaying);
      return true;
    } catch (error) {
      refuse(message(error));
      return false;
    }
  };

  useEffect(() => {
    if (started.current) return;
    started.current = true;
    addEventListener("hashchange", () => void arrive.current?.());
    void begin(setGame, setParts, setLesson, setWritten, setNotice, setKnown, () => redraw((count) => count + 1), run).catch((error: unknown) => fail(message(error)));
  }, []);

  /** Runs a contest: a lesson by its name, a file, or with `isEdit` the changed current one. */
  const show = async (scenario: string, name: string, isEdit = false, refuse = fail) => {
    const isPlaying = isEdit ? (game?.isPlaying ?? false) || (game?.isOver ?? false) : !wantsStill();
    if (!game || !(await run(game, scenario, isPlaying, refuse))) return false;
    if (!isEdit) setWritten(asWritten(game, scenario, name));
    setKernel(null); // it belonged to another contest
    setLesson(name);
    return true;
  };

  /** As `show`, and updates the address. */
  const follow = async (...[scenario, name, ...rest]: Parameters<typeof show>) => {
    if (!(await show(scenario, name, ...rest))) return false;
    history.replaceState(null, "", await pack(name ? { lesson: name } : { scenario }));
    return true;
  };

  arrive.current = async () => {
    const isList = location.hash === EXERCISES;
    setListed(isList);
    isAwaited.current = !game && !isList;
    if (!game || isList) return;
    setNotice(null);
    const wanted = await fromAddress(known?.scenario ?? FIRST, fail);
    await show(wanted.scenario, wanted.lesson);
  };
  useEffect(() => {
    if (game && isAwaited.current) void arrive.current?.();
  }, [game]);

  /** Edits are sequential, each on the result of the previous one. */
  const edits = useRef<Promise<unknown>>(Promise.resolve());
  const edit: ContestProps["edit"] = (path, value) => {
    const made = edits.current.then(() => apply(path, value));
    edits.current = made;
    return made;
  };

  const apply = async (path: Path, given: Value | undefined | ((document: Table) => Value)): Promise<boolean> => {
    if (!game?.about) return false;
    // Its group may be gone by now.
    if (path[0] === "flow" && path.length > 1 && at(game.about.document, path.slice(0, 2)) === undefined) return false;
    setNotice(null);
    const value = typeof given === "function" ? given(game.about.document) : given;
    const document = changed(game.about.document, path, value);
    try {
      const isOtherCount = path[0] === "disciplines" && Array.isArray(value) && value.length !== game.about.sides.length;
      if (value !== undefined && !isOtherCount && !game.isOver && (await game.set([`${path.join(".")}=${inline(value)}`]))) {
        setLesson("");
        const { runs } = game;
        setNotice({
          mood: "plain",
          text: `Changed at ${game.now.toFixed(2)} s; the run goes on.`,
          isTrue: () => game.runs === runs && !game.isOver,
        });
        history.replaceState(null, "", await pack({ scenario: game.about.toml }));
        return true;
      }
    } catch (error) {
      // An expectation may concern a removed group.
      if (!message(error).includes("unknown measure")) return refuse(message(error).replace(/^--set:\d+:\d+: /, ""));
    }
    // Expectations stay if possible: one may concern a removed discipline or group.
    const { expect, ...rest } = document;
    const isKept = expect !== undefined && (await follow(write(document), "", true, () => {}));
    if (!isKept && !(await follow(write(rest), "", true))) return false;
    const { runs } = game;
    setNotice({
      mood: "plain",
      text: "This needs a new run: it began again.",
      isTrue: () => game.runs === runs && game.now < NEWS && !game.isOver,
    });
    return true;
  };

  const refuse = (why: string): false => {
    fail(why);
    return false;
  };

  /** Removes a notice that is no longer true. */
  const look = () => setNotice((shown) => (shown?.isTrue && !shown.isTrue() ? null : shown));

  const choose = (name: string) => {
    setNotice(null);
    const found = LESSONS.find((each) => each.name === name);
    void follow(found?.scenario ?? known?.scenario ?? FIRST, found ? name : "");
  };

  if (isListed) return <Exercises />;
  const about = game?.about ?? null;
  return (
    <main class="play">
      <header class="top">
        <h1>fairwire play</h1>
        <label class="pick">
          <span class="unseen">lesson</span>
          <select value={lesson} onChange={(event) => choose(event.currentTarget.value)}>
            <option value="">free play</option>
            {[false, true].map((isExercise) => (
              <optgroup key={String(isExercise)} label={isExercise ? "exercises" : "lessons"}>
                {LESSONS.filter((each) => each.isExercise === isExercise).map((each, index) => (
                  <option key={each.name} value={each.name}>
                    {index + 1}. {each.title}
                  </option>
                ))}
              </optgroup>
            ))}
          </select>
        </label>
        <a href={EXERCISES}>exercises</a>
        {game && about && <Transport game={game} view={view} setView={setView} clear={() => setNotice(null)} fail={fail} />}
      </header>
      {notice && (
        <p class={notice.mood === "bad" ? "notice bad" : "notice"} role="alert">
          {notice.text}
        </p>
      )}
      {game && about ? (
        <div class="body">
          <aside aria-label="the contest">
            {about.lesson && (
              <LessonCard
                game={game}
                about={about}
                lesson={about.lesson}
                exercise={exerciseOf(about.name)}
                restore={written && about.toml !== written.toml ? () => follow(written.scenario, written.name) : null}
              />
            )}
            {about.notes.length > 0 && (
              <ul class="notes" aria-label="notes on the contest">
                {about.notes.map((note) => (
                  <li key={note}>{plain(note)}</li>
                ))}
              </ul>
            )}
            <Contest about={about} parts={parts} edit={edit} refuse={refuse} />
            {known?.hasKernel && <Kernel about={about} setKernel={setKernel} fail={fail} />}
            <Take game={game} view={view} kernel={kernel} lesson={lesson} fail={fail} />
          </aside>
          <Live game={game} view={view} kernel={kernel} look={look} />
        </div>
      ) : (
        <p class="faint wait">The simulator is being loaded…</p>
      )}
    </main>
  );
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function begin(
  setGame: (game: Game) => void,
  setParts: (parts: Part[]) => void,
  setLesson: (name: string) => void,
  setWritten: (written: Written | null) => void,
  setNotice: (notice: Notice) => void,
  setKnown: (known: Server) => void,
  redraw: () => void,
  run: (game: Game, scenario: string, isPlaying: boolean) => Promise<boolean>,
): Promise<void> {
  const fail = (text: string) => setNotice({ mood: "bad", text });
  const known = await server();
  setKnown(known);
  const opened = () => open(known, (kind) => kind !== "page" || !new URLSearchParams(location.search).has("process"));
  const door = await opened();
  const judge = new Judge(opened(), redraw);
  judge.resume();
  const game = new Game(door, judge, redraw, fail);
  setParts(await json<Part[]>(door, "catalogue"));
  const wanted = await fromAddress(known.scenario ?? FIRST, fail);
  const isPlaying = !wantsStill();
  if (await run(game, wanted.scenario, isPlaying)) {
    setLesson(wanted.lesson);
    setWritten(asWritten(game, wanted.scenario, wanted.lesson));
  } else await run(game, known.scenario ?? FIRST, isPlaying);
  setGame(game);
}

function asWritten(game: Game, scenario: string, name: string): Written | null {
  return game.about?.lesson ? { name, scenario, toml: game.about.toml } : null;
}

/** The contest in the address; for an invalid one, a message and the first contest. */
async function fromAddress(first: string, fail: (why: string) => void): Promise<{ scenario: string; lesson: string }> {
  try {
    const state = location.hash === EXERCISES ? null : await unpack(location.hash);
    if (!state) return { scenario: first, lesson: "" };
    if ("scenario" in state) return { scenario: state.scenario, lesson: "" };
    const found = LESSONS.find((each) => each.name === state.lesson);
    if (found) return { scenario: found.scenario, lesson: found.name };
    throw new Error(`there is no lesson \`${state.lesson}\``);
  } catch (error) {
    fail(`The address says what to show, but ${message(error)}. This is the contest that the page begins with.`);
    return { scenario: first, lesson: "" };
  }
}

interface TransportProps {
  game: Game;
  view: View;
  setView: (view: View) => void;
  clear: () => void;
  fail: (why: string) => void;
}

function Transport({ game, view, setView, clear, fail }: TransportProps) {
  const [speed, setSpeed] = useState(game.speed);
  return (
    <div class="transport controls" role="toolbar" aria-label="time">
      <button type="button" class="primary" onClick={() => game.setPlaying(!game.isPlaying)} disabled={game.isOver}>
        {game.isPlaying ? "Pause" : "Play"}
      </button>
      <button type="button" onClick={() => void game.step()} disabled={game.isOver}>
        Step
      </button>
      <button
        type="button"
        onClick={() => {
          clear();
          void again(game).catch((error: unknown) => fail(message(error)));
        }}
      >
        Restart
      </button>
      <label>
        speed{" "}
        <select
          value={speed}
          onChange={(event) => {
            game.speed = Number(event.currentTarget.value);
            setSpeed(game.speed);
          }}
        >
          {SPEEDS.map((each) => (
            <option key={each} value={each}>
              {each < 1 ? `1/${Math.round(1 / each)}` : `${each}×`}
            </option>
          ))}
        </select>
      </label>
      <label>
        shows{" "}
        <select value={view.span} onChange={(event) => setView({ ...view, span: Number(event.currentTarget.value) })}>
          {SPANS.map((each) => (
            <option key={each} value={each}>
              {each} s
            </option>
          ))}
        </select>
      </label>
      <label>
        rates over{" "}
        <select value={view.smooth} onChange={(event) => setView({ ...view, smooth: Number(event.currentTarget.value) })}>
          {SMOOTHS.map((each) => (
            <option key={each} value={each}>
              {each * 10} ms
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

async function again(game: Game): Promise<void> {
  if (!game.about) return;
  await game.start(game.about.toml);
  game.setPlaying(true);
}

/** The parts that change with every picture. */
function Live({ game, view, kernel, look }: { game: Game; view: View; kernel: string | null; look: () => void }) {
  const [version, setVersion] = useState(0);
  const [slow, setSlow] = useState(0);
  useEffect(() => {
    let handle = 0;
    let seen = -1;
    let lastSlow = 0;
    const isStill = wantsStill();
    const draw = (clock: number) => {
      handle = requestAnimationFrame(draw);
      game.tick(clock);
      const isDue = clock - lastSlow >= (isStill ? STILL : SLOW);
      if (game.frames === seen || (isStill && !isDue && game.isPlaying)) return;
      seen = game.frames;
      setVersion(seen);
      if (isDue || !game.isPlaying) {
        lastSlow = clock;
        setSlow(seen);
        look();
      }
    };
    handle = requestAnimationFrame(draw);
    return () => cancelAnimationFrame(handle);
  }, [game]);
  const { about } = game;
  if (!about || game.sides.length === 0) return null;
  return (
    <div class="right">
      <p class="says">
        <span class="clock number" data-now={game.now}>
          {game.now.toFixed(2)} s
        </span>{" "}
        of {format.seconds(about.duration_s)}; simulated {game.door.place}, seed {about.seed}.{" "}
        {about.sides.map((side, index) => {
          const history = game.sides[index];
          return history ? (
            <span key={side}>
              <strong>{side}</strong>: {shareOf(history) === undefined ? "no fair share is worked out for this contest" : fairly(about, history)}.{" "}
            </span>
          ) : null;
        })}
        {game.isOver && <strong>The run is at its end.</strong>}
      </p>
      <Pictures game={game} about={about} view={view} version={version} slow={slow} kernel={kernel} />
    </div>
  );
}

/** The fractions of its fair share from which a flow counts as nearly fairly, and as fairly served. */
const NEARLY = 0.6;
const FAIRLY = 0.9;

/** The fairness of the last second, by the flow with the least of its share, because a mean hides starvation. */
function fairly(about: About, history: History): string {
  const jain = fairnessOf(history);
  if (Number.isNaN(jain)) return "nothing was sent in the last second";
  const worst = worstOf(history);
  const least = `${about.flows[worst.flow]?.name ?? ""} has ${format.percent(worst.part)} of its fair share`;
  const said = worst.part >= FAIRLY ? "fair in the last second" : worst.part >= NEARLY ? `nearly fair: ${least}` : `unfair: ${least}`;
  return `${said} (Jain ${format.significant(jain)})`;
}

/** The same contest between real sockets: twice ten seconds of real time. */
function Kernel(props: { about: About; setKernel: (series: string | null) => void; fail: (why: string) => void }) {
  const [isRunning, setRunning] = useState(false);
  const run = async () => {
    setRunning(true);
    try {
      props.setKernel(await contest(props.about.toml));
    } catch (error) {
      props.fail(`The contest could not run on this machine's kernel.\n${message(error)}`);
    } finally {
      setRunning(false);
    }
  };
  return (
    <fieldset class="take">
      <legend>On this machine's kernel</legend>
      <button type="button" disabled={isRunning} onClick={() => void run()}>
        {isRunning ? "Running…" : "Run it between real sockets"}
      </button>
      <span class="faint small">ten seconds for each discipline; needs root or user namespaces</span>
    </fieldset>
  );
}

/** The downloads. */
function Take(props: { game: Game; view: View; kernel: string | null; lesson: string; fail: (why: string) => void }) {
  const { game, view, kernel, lesson, fail } = props;
  const { about } = game;
  if (!about) return null;
  const picture = () => svg(about.title || about.name, drawingsOf({ game, about, view, kernel }));
  const { name } = about;
  const text = (content: string, type: string) => new Blob([content], { type });
  const copy = async () => {
    if (lesson === "") history.replaceState(null, "", await pack({ scenario: about.toml }));
    await navigator.clipboard.writeText(location.href);
  };
  return (
    <fieldset class="take">
      <legend>Take along</legend>
      <button type="button" onClick={() => save(`${name}.toml`, text(about.toml, "text/plain"))}>
        Scenario
      </button>
      <button type="button" onClick={() => save(`${name}.csv`, text(csv(about, game), "text/csv"))}>
        CSV
      </button>
      <button type="button" onClick={() => save(`${name}.svg`, text(picture(), "image/svg+xml"))}>
        SVG
      </button>
      <button
        type="button"
        onClick={() => void png(picture()).then((file) => save(`${name}.png`, file)).catch((error: unknown) => fail(message(error)))}
      >
        PNG
      </button>
      <button type="button" onClick={() => void copy().catch((error: unknown) => fail(message(error)))}>
        Copy address
      </button>
    </fieldset>
  );
}
