// The page of a class: the exercises, and their fulfilled expectations in this browser.

import { useState } from "preact/hooks";
import { Verdict } from "./expected";
import { save } from "./export";
import { LESSONS } from "./lessons";
import { clear, exported, held, isSolved, progress, unfinished } from "./progress";
import "./app.css";

/** The address of this page, relative to the playground. */
export const EXERCISES = "#exercises";

export function Exercises() {
  const [, redraw] = useState(0);
  const [kept, judging] = [progress(), unfinished()];
  const exercises = LESSONS.filter((each) => each.isExercise);
  const solved = exercises.filter(({ name }) => kept[name] && isSolved(kept[name])).length;
  const isEmpty = Object.keys(kept).length === 0;
  const forget = () => {
    if (!confirm("Clear the progress that this browser keeps? It cannot be brought back.")) return;
    clear();
    redraw((count) => count + 1);
  };
  return (
    <main class="play exercises">
      <header class="top">
        <h1>Exercises</h1>
        <a href="#">to the playground</a>
      </header>
      <p role="status">
        {solved} of {exercises.length} solved. An exercise is solved when all that it expects came at once.
      </p>
      <table>
        <caption class="unseen">exercises, and what held of each</caption>
        <thead>
          <tr>
            <th scope="col">exercise</th>
            <th scope="col">expected, in the best attempt</th>
            <th scope="col">solved</th>
          </tr>
        </thead>
        <tbody>
          {exercises.map(({ name, title }, index) => {
            const attempt = kept[name];
            return (
              <tr key={name}>
                <th scope="row">
                  {index + 1}. <a href={`#lesson=${name}`}>{title}</a>
                </th>
                <td>
                  {attempt ? (
                    <ul>
                      {attempt.expectations.map(({ expected, verdict }) => (
                        <li key={expected}>
                          <Verdict verdict={verdict} /> {expected}
                        </li>
                      ))}
                    </ul>
                  ) : (
                    !judging[name] && <span class="faint">not run to its end yet</span>
                  )}
                  {judging[name] && <span class="faint">being judged…</span>}
                </td>
                <td>{attempt ? isSolved(attempt) ? "yes" : `${held(attempt)} of ${attempt.expectations.length}` : "no"}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <p class="take">
        <button type="button" disabled={isEmpty} onClick={() => save("fairwire-exercises.json", new Blob([exported(kept)], { type: "application/json" }))}>
          Export as JSON
        </button>
        <button type="button" disabled={isEmpty} onClick={forget}>
          Clear progress
        </button>
        <span class="faint small">Progress is kept in this browser, for this address, and sent nowhere.</span>
      </p>
    </main>
  );
}
