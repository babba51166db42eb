// The history of a run: a row of numbers for each 10 ms, and columns of them for pictures.

/** The numbers of a sample before those of causes and flows, in the order sent by the player. */
export const FIELD = { at: 0, packets: 1, bytes: 2, link: 3, mean: 4, p50: 5, p99: 6 } as const;
const FIXED = 7;
/** The numbers of each flow. */
export const OF_FLOW = { rate: 0, offered: 1, dropped: 2, window: 3 } as const;
const FLOW_WIDTH = 4;

/** The numbers kept per side: 64 MB. Beyond that, the older half is dropped. */
const MAX_NUMBERS = 8_000_000;

export interface Level {
  demand: number;
  delivered: number;
  share: number;
}

/** One discipline's samples. */
export class History {
  readonly flows: number;
  readonly causes: number;
  readonly width: number;
  rows = 0;
  levels: Level[] = [];
  /** Packets dropped since the start, by cause. */
  readonly dropped: Float64Array;
  /** Of each flow. */
  readonly droppedOf: Float64Array;
  private numbers: Float64Array;

  constructor(flows: number, causes: number) {
    this.flows = flows;
    this.causes = causes;
    this.width = FIXED + causes + FLOW_WIDTH * flows;
    this.numbers = new Float64Array(this.width * 1024);
    this.dropped = new Float64Array(causes);
    this.droppedOf = new Float64Array(flows);
  }

  add(samples: Float64Array): void {
    const rows = samples.length / this.width;
    this.makeRoom(rows);
    this.numbers.set(samples, this.rows * this.width);
    for (let row = 0; row < rows; row += 1) {
      const start = row * this.width;
      for (let cause = 0; cause < this.causes; cause += 1)
        this.dropped[cause] = (this.dropped[cause] ?? 0) + (samples[start + FIXED + cause] ?? 0);
      for (let flow = 0; flow < this.flows; flow += 1)
        this.droppedOf[flow] =
          (this.droppedOf[flow] ?? 0) + (samples[start + this.column(flow, OF_FLOW.dropped)] ?? 0);
    }
    this.rows += rows;
  }

  /** The number at this row and column. */
  at(row: number, column: number): number {
    return this.numbers[row * this.width + column] ?? Number.NaN;
  }

  /** The column of a flow's number. */
  column(flow: number, field: number): number {
    return FIXED + this.causes + FLOW_WIDTH * flow + field;
  }

  private makeRoom(rows: number): void {
    if ((this.rows + rows) * this.width > MAX_NUMBERS && this.rows > 1) {
      const kept = Math.floor(this.rows / 2);
      this.numbers.copyWithin(0, (this.rows - kept) * this.width, this.rows * this.width);
      this.rows = kept;
    }
    const needed = (this.rows + rows) * this.width;
    if (needed <= this.numbers.length) return;
    const grown = new Float64Array(Math.max(needed, 2 * this.numbers.length));
    grown.set(this.numbers.subarray(0, this.rows * this.width));
    this.numbers = grown;
  }

  /** The first row of the last `span` seconds. */
  from(span: number): number {
    const end = this.at(this.rows - 1, FIELD.at);
    const step = 0.01; // of a sample
    return Math.max(0, this.rows - Math.round(span / step), Number.isNaN(end) ? 0 : 0);
  }

  /**
   * Columns over rows from `first` on: times, then each of `columns`, every `stride` rows the mean over the last `smooth` rows. Means
   * ignore NaN.
   */
  means(columns: number[], first: number, stride: number, smooth: number): Float64Array[] {
    const begin = Math.ceil(first / stride) * stride; // independent of the visible range, so lines do not tremble
    const count = Math.max(0, Math.ceil((this.rows - begin) / stride));
    const times = new Float64Array(count);
    for (let index = 0; index < count; index += 1) times[index] = this.at(begin + index * stride, FIELD.at);
    return [times, ...columns.map((column) => this.smoothed(column, begin, count, stride, smooth))];
  }

  private smoothed(column: number, begin: number, count: number, stride: number, smooth: number): Float64Array {
    const { numbers, width } = this;
    const found = new Float64Array(count);
    const reach = Math.max(smooth, stride);
    let sum = 0;
    let known = 0;
    let low = Math.max(0, begin - reach + 1);
    let high = low;
    for (let index = 0; index < count; index += 1) {
      const row = begin + index * stride;
      for (; high <= row; high += 1) {
        const value = numbers[high * width + column] ?? Number.NaN;
        if (value === value) {
          sum += value;
          known += 1;
        }
      }
      for (; low <= row - reach; low += 1) {
        const value = numbers[low * width + column] ?? Number.NaN;
        if (value === value) {
          sum -= value;
          known -= 1;
        }
      }
      found[index] = known > 0 ? Math.max(0, sum / known) : Number.NaN;
    }
    return found;
  }
}

export interface Frame {
  now: number;
  isOver: boolean;
}

/** Reads a frame, and adds its samples to the histories of the sides. */
export function take(bytes: Uint8Array, sides: History[]): Frame {
  const numbers = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 8);
  let at = 3;
  for (const side of sides) {
    const flows = numbers[at] ?? 0;
    const samples = numbers[at + 2] ?? 0;
    at += 3;
    side.levels = Array.from({ length: flows }, (_, flow) => ({
      demand: numbers[at + 3 * flow] ?? 0,
      delivered: numbers[at + 3 * flow + 1] ?? 0,
      share: numbers[at + 3 * flow + 2] ?? 0,
    }));
    at += 3 * flows;
    side.add(numbers.subarray(at, at + samples * side.width));
    at += samples * side.width;
  }
  return { now: numbers[0] ?? 0, isOver: numbers[1] === 1 };
}
