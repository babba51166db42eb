// A lesson: its question, where to look, and the answer, read off the runs.

import { format } from "../kit";
import type { About, Game, LessonAbout } from "./game";

interface LessonProps {
  game: Game;
  about: About;
  lesson: LessonAbout;
  /** Is the answer to be found by changing it? Then it is shown when it is wanted. */
  isExercise: boolean;
  /** Begins again as the lesson is written; null where nothing was changed. */
  restore: (() => unknown) | null;
}

export function LessonCard({ game, about, lesson, isExercise, restore }: LessonProps) {
  return (
    <section class="card lesson" aria-label="lesson">
      <h2>{about.title}</h2>
      <p class="question">{lesson.question}</p>
      {lesson.look && <p class="faint">{lesson.look}</p>}
      {restore && (
        <p>
          <span class="faint">You have changed the contest: its numbers are others. </span>
          <button type="button" onClick={() => restore()}>
            Begin as written
          </button>
        </p>
      )}
      {game.result ? (
        <Answer result={game.result} lesson={lesson} isExercise={isExercise} isAsWritten={restore === null} />
      ) : (
        <p>
          <button type="button" class="primary" onClick={() => game.rush()} disabled={game.isRushing}>
            {game.isRushing ? `${format.percent(game.now / about.duration_s, 2)} done` : isExercise ? "Run to the end" : "Run to the end and answer"}
          </button>
        </p>
      )}
    </section>
  );
}

function Answer(props: { result: NonNullable<Game["result"]>; lesson: LessonAbout; isExercise: boolean; isAsWritten: boolean }) {
  const { result, lesson, isExercise, isAsWritten } = props;
  return (
    <div class="answer" role="status">
      <dl>
        {result.map((side) => {
          const value = side.measures[lesson.measure];
          return (
            <div key={side.discipline}>
              <dt>{side.discipline}</dt>
              <dd class="number" data-discipline={side.discipline} data-measure={lesson.measure} data-value={value}>
                {value === undefined ? "–" : format.significant(value)}
              </dd>
            </div>
          );
        })}
      </dl>
      <p class="faint small">{lesson.reads}</p>
      {isExercise ? (
        <details>
          <summary>show an answer</summary>
          <p>{lesson.answer}</p>
        </details>
      ) : (
        isAsWritten && <p>{lesson.answer}</p>
      )}
      {lesson.figure && (
        <p class="faint small">
          The same as a figure: <code>fairwire reproduce {lesson.figure}</code>
        </p>
      )}
    </div>
  );
}
