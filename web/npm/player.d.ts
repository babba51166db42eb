/** A module that was loaded. One player and any number of disciplines and links live in it. */
export declare class Player {
  private constructor();
  /** Loads the module from its bytes, packed by gzip or not. */
  static of(bytes: Uint8Array<ArrayBuffer>): Promise<Player>;
  /** Answers a message. The bytes are the answer, or the text of an error. */
  answer(name: string, input: string): { isError: boolean; bytes: Uint8Array<ArrayBuffer> };
  /** Answers a message of JSON with JSON, or throws what is wrong. */
  ask(name: string, input: unknown): unknown;
}
