import {
  type RegistrationHealthStatus,
  type RegistrationWindow,
  registrationHealthStatus,
  withRegistrationResult,
} from "../api/conditions/registration-window.ts";

/** Whether the last nodes of each pool registered, by the pool's uid. (03:P-20) */
export class RegistrationHealth {
  readonly #windows = new Map<string, RegistrationWindow>();

  window(poolUid: string): RegistrationWindow {
    return this.#windows.get(poolUid) ?? [];
  }

  health(poolUid: string): RegistrationHealthStatus {
    return registrationHealthStatus(this.window(poolUid));
  }

  record(poolUid: string, { isRegistered }: { readonly isRegistered: boolean }): void {
    this.set(poolUid, withRegistrationResult(this.window(poolUid), isRegistered));
  }

  /** Forgets all pools but these. */
  retain(poolUids: ReadonlySet<string>): void {
    for (const uid of this.#windows.keys()) if (!poolUids.has(uid)) this.#windows.delete(uid);
  }

  set(poolUid: string, window: RegistrationWindow): void {
    if (window.length === 0) this.#windows.delete(poolUid);
    else this.#windows.set(poolUid, window);
  }
}
