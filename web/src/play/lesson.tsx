// A lesson: its question, where to look, and the answer, read from the runs.

import { format } from "../kit";
import { plain } from "./contest";
import { Expectations } from "./expected";
import { type About, expects, type Game, type LessonAbout } from "./game";

interface LessonProps {
  game: Game;
  about: About;
  lesson: LessonAbout;
  /** The name of the exercise, if it is one: its answer is found by changing it, and shown on request. */
  exercise: string | null;
  /** Restores the original lesson; null if nothing was changed. */
  restore: (() => unknown) | null;
}

export function LessonCard({ game, about, lesson, exercise, restore }: LessonProps) {
  const isJudged = expects(about);
  return (
    <section class="card lesson" aria-label="lesson">
      <h2>{about.title}</h2>
      <p class="question">{plain(lesson.question)}</p>
      {lesson.look && <p class="faint">{plain(lesson.look)}</p>}
      {isJudged && <Expectations game={game} about={about} />}
      {exercise && !isJudged && <p class="refused">What the exercise expects cannot be judged in this contest: begin as written.</p>}
      {restore && (
        <p>
          <span class="faint">You have changed the contest: its numbers are others. </span>
          <button type="button" onClick={() => restore()}>
            Begin as written
          </button>
        </p>
      )}
      {game.result ? (
        <Answer result={game.result} lesson={lesson} isExercise={exercise !== null} isJudged={isJudged} isAsWritten={restore === null} />
      ) : (
        <p>
          <button type="button" class="primary" onClick={() => game.rush()} disabled={game.isRushing}>
            {game.isRushing ? `${format.percent(game.now / about.duration_s, 2)} done` : exercise ? "Run to the end" : "Run to the end and answer"}
          </button>
        </p>
      )}
    </section>
  );
}

function Answer(props: { result: NonNullable<Game["result"]>; lesson: LessonAbout; isExercise: boolean; isJudged: boolean; isAsWritten: boolean }) {
  const { result, lesson, isExercise, isJudged, isAsWritten } = props;
  return (
    <div class="answer" role="status">
      {/* An exercise shows its numbers next to its expectations. */}
      {!(isExercise && isJudged) && (
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
      )}
      <p class="faint small">
        <code>{lesson.measure}</code>: {plain(lesson.reads)}
      </p>
      {isExercise ? (
        <details>
          <summary>show an answer</summary>
          <p>{plain(lesson.answer)}</p>
        </details>
      ) : (
        isAsWritten && <p>{plain(lesson.answer)}</p>
      )}
      {lesson.figure && (
        <p class="faint small">
          The same as a figure: <code>fairwire reproduce {lesson.figure}</code>
        </p>
      )}
    </div>
  );
}
