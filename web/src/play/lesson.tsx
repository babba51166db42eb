// A lesson: its question, where to look, and the answer, read off the runs.

import { format } from "../kit";
import type { About, Game, LessonAbout } from "./game";

interface LessonProps {
  game: Game;
  about: About;
  lesson: LessonAbout;
}

export function LessonCard({ game, about, lesson }: LessonProps) {
  return (
    <section class="card lesson" aria-label="lesson">
      <h2>{about.title}</h2>
      <p class="question">{lesson.question}</p>
      {lesson.look && <p class="faint">{lesson.look}</p>}
      {game.result ? (
        <Answer result={game.result} lesson={lesson} />
      ) : (
        <p>
          <button type="button" class="primary" onClick={() => game.rush()} disabled={game.isRushing}>
            {game.isRushing ? `${format.percent(game.now / about.duration_s, 2)} done` : "Run to the end and answer"}
          </button>
        </p>
      )}
    </section>
  );
}

function Answer({ result, lesson }: { result: NonNullable<Game["result"]>; lesson: LessonAbout }) {
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
      <p>{lesson.answer}</p>
      {lesson.figure && (
        <p class="faint small">
          The same as a figure: <code>fairwire reproduce {lesson.figure}</code>
        </p>
      )}
    </div>
  );
}
