/** Thrown by every call after the simulated crash of the client's process. (05:CP-T4) */
export class CrashError extends Error {
  override readonly name = "Crash";
  /** Which call it was. */
  readonly call: number;

  constructor(call: number) {
    super(`crashed at call ${call}`);
    this.call = call;
  }
}
