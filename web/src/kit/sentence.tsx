// One sentence of plain text on the current state, read out when it changes.

import type { ComponentChildren } from "preact";

export type Mood = "plain" | "good" | "bad";

export function Sentence(props: { mood?: Mood; id?: string; children: ComponentChildren }) {
  const mood = props.mood ?? "plain";
  return (
    <p class={mood === "plain" ? "sentence" : `sentence notice ${mood}`} role="status" id={props.id}>
      {props.children}
    </p>
  );
}
