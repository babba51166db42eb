// The small parts of the panel on the left: a slider with its text, a choice, a text.

import { useEffect, useRef, useState } from "preact/hooks";

/** The number of positions of logarithmic sliders, for rates and buffers. */
const PLACES = 200;

export interface SliderProps {
  label: string;
  /** The quantity in the form of the scenario. */
  text: string;
  /** Its number; null, without a slider, for other text, such as a range. */
  value: number | null;
  min: number;
  max: number;
  isLogarithmic?: boolean;
  step?: number;
  write: (value: number) => string;
  /** Awaited, while the knob stays in place. False if the value is refused. */
  change: (text: string) => Promise<boolean> | false;
}

export function Slider(props: SliderProps) {
  const [typed, setTyped] = useState(props.text);
  /** The knob's position while dragged, which a render must not reset. */
  const [moved, setMoved] = useState<number | null>(null);
  const latest = useRef(props.text);
  latest.current = props.text;
  useEffect(() => {
    setTyped(props.text);
    setRefused(false);
  }, [props.text]);
  const { min, max, value } = props;
  const isLog = props.isLogarithmic ?? false;
  const place = (number: number) => (isLog ? (PLACES * Math.log(number / min)) / Math.log(max / min) : number);
  const number = (at: number) => (isLog ? min * (max / min) ** (at / PLACES) : at);
  /** Is the typed value refused, and thus not in use? */
  const [isRefused, setRefused] = useState(false);
  const submit = async () => {
    if (typed.trim() !== "" && typed !== props.text) setRefused(!(await props.change(typed.trim())));
    else setRefused(false);
  };
  const move = (at: number) => {
    setMoved(at);
    setTyped(props.write(number(at)));
  };
  const release = async (at: number) => {
    await props.change(props.write(number(at)));
    setRefused(false);
    setMoved(null);
    setTyped(latest.current);
  };
  return (
    <div class="slider">
      <label>
        <span>{props.label}</span>
        <input
          type="text"
          value={typed}
          aria-label={`${props.label}, as text`}
          aria-invalid={isRefused}
          onInput={(event) => setTyped(event.currentTarget.value)}
          onBlur={() => void submit()}
          onKeyDown={(event) => event.key === "Enter" && void submit()}
        />
      </label>
      {isRefused && <p class="refused small">not allowed; the run has {props.text}</p>}
      {value !== null && (
        <input
          type="range"
          aria-label={props.label}
          aria-valuetext={props.text}
          min={isLog ? 0 : min}
          max={isLog ? PLACES : max}
          step={isLog ? 1 : (props.step ?? 1)}
          value={moved ?? place(Math.min(max, Math.max(min, value)))}
          onInput={(event) => move(Number(event.currentTarget.value))}
          onChange={(event) => void release(Number(event.currentTarget.value))}
        />
      )}
    </div>
  );
}

export interface ChoiceProps {
  label: string;
  value: string;
  options: { name: string; text: string }[];
  change: (name: string) => void;
}

export function Choice(props: ChoiceProps) {
  return (
    <label class="choice">
      <span>{props.label}</span>
      <select value={props.value} onChange={(event) => props.change(event.currentTarget.value)}>
        {props.options.map(({ name, text }) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
