import type { DisruptionCommand } from "../../core/disruption/command.ts";

/** A replacement of a running command. */
export interface CommandReplacement {
  readonly claim: string;
  /** Once it was seen initialized, it is not looked at again. (03:D-81) */
  isInitialized: boolean;
}

/** A command whose nodes are marked: its replacements start, and then the nodes go. */
export interface RunningCommand {
  readonly id: string;
  readonly command: DisruptionCommand;
  readonly startedAtMs: number;
  readonly replacements: readonly CommandReplacement[];
}

/** Commands that are being carried out, by id: no single node of a command decides whether it goes on. (03:D-80) */
export class RunningCommands {
  readonly #commands = new Map<string, RunningCommand>();
  readonly #byProviderId = new Map<string, string>();
  readonly #listeners = new Set<(id: string) => void>();

  add(running: RunningCommand): void {
    this.#commands.set(running.id, running);
    for (const { providerId } of running.command.candidates) this.#byProviderId.set(providerId, running.id);
    for (const listener of [...this.#listeners]) listener(running.id);
  }

  all(): readonly RunningCommand[] {
    return [...this.#commands.values()];
  }

  get(id: string): RunningCommand | undefined {
    return this.#commands.get(id);
  }

  remove(id: string): void {
    for (const { providerId } of this.#commands.get(id)?.command.candidates ?? [])
      this.#byProviderId.delete(providerId);
    this.#commands.delete(id);
  }

  /** Whether the node is part of a command. (03:D-10) */
  has(providerId: string): boolean {
    return this.#byProviderId.has(providerId);
  }

  providerIds(): readonly string[] {
    return [...this.#byProviderId.keys()];
  }

  subscribe(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    for (const id of this.#commands.keys()) listener(id);
    return () => this.#listeners.delete(listener);
  }
}
