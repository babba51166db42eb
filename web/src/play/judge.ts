// What a contest expects, judged by whole runs in a player of its own: an exercise is judged to its end, whatever the page
// shows meanwhile, and also after the page was closed and is opened again.

import { type Door, json } from "./door";
import { attempt } from "./expected";
import type { About, Judging } from "./game";
import { forget, keep, remember, unfinished } from "./progress";

export class Judge {
  private last: Promise<void> = Promise.resolve();

  constructor(
    /** A player of its own, opened early: the page works without a network once it is there. */
    private readonly door: Promise<Door>,
    /** Progress was kept, or is no longer awaited. */
    private readonly changed: () => void,
  ) {
    door.catch(() => {}); // said when it is needed
  }

  /** Takes up what this browser has not judged to its end. */
  resume(): void {
    for (const [exercise, scenario] of Object.entries(unfinished())) void this.judge(scenario, exercise, () => true).catch(() => {});
  }

  /** Makes whole runs of every discipline and seed, one after the other. `said` is called with how far they are; does it want more? */
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
