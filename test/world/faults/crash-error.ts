/** The process that held the client has died: nothing it does from here on happens. (05:CP-T4) */
export class CrashError extends Error {
  override readonly name = "Crash";
  /** Which call it was. */
  readonly call: number;

  constructor(call: number) {
    super(`crashed at call ${call}`);
    this.call = call;
  }
}
