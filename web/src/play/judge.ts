// Judges expectations by complete runs in a separate player: an exercise is judged to its end, regardless of the page's
// content, and even after the page was closed and reopened.

import { type Door, json } from "./door";
import { attempt } from "./expected";
import type { About, Judging } from "./game";
import { forget, keep, remember, unfinished } from "./progress";

export class Judge {
  private last: Promise<void> = Promise.resolve();

  constructor(
    /** A separate player, opened early, so the page then works without a network. */
    private readonly door: Promise<Door>,
    /** Progress was stored, or is no longer awaited. */
    private readonly changed: () => void,
  ) {
    door.catch(() => {}); // reported on use
  }

  /** Resumes unfinished judgements of this browser. */
  resume(): void {
    for (const [exercise, scenario] of Object.entries(unfinished())) void this.judge(scenario, exercise, () => true).catch(() => {});
  }

  /** Makes complete runs of every discipline and seed, in sequence. Calls `said` with the progress; it returns whether to continue. */
  judge(scenario: string, exercise: string | null, said: (judging: Judging) => boolean): Promise<void> {
    if (exercise) remember(exercise, scenario);
    const judged = this.last.then(() => this.judged(scenario, exercise, said));
    this.last = judged.catch(() => {
      if (exercise) forget(exercise, scenario); // it would fail again
      this.changed();
    });
    return judged;
  }

  private async judged(scenario: string, exercise: string | null, said: (judging: Judging) => boolean): Promise<void> {
    const door = await this.door;
    const about = await json<About>(door, "start", { scenario });
    for (;;) {
      const judging = await json<Judging>(door, "judge");
      const { judgements } = judging;
      if (exercise && judgements && judgements.length > 0) {
        judging.isKept = keep(exercise, attempt(about, judgements));
        forget(exercise, scenario);
      }
      const isWanted = said(judging);
      if (judgements) this.changed();
      if (judgements || !(isWanted || exercise)) return;
    }
  }
}
