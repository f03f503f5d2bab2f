import type { DisruptionCommand } from "../../core/disruption/command.ts";

/** A command that is checked again before it starts. */
export interface WaitingCommand {
  readonly command: DisruptionCommand;
  readonly dueAtMs: number;
}

/**
 * Commands that were found and wait to be checked again. Other commands are searched for meanwhile: the nodes of these
 * count as leaving. (03:D-60, §10.2-8)
 */
export class WaitingCommands {
  #waiting: readonly WaitingCommand[] = [];
  #version = 0;

  /** Changes with every command that begins or ends to wait: what a search finds depends on them. */
  get version(): number {
    return this.#version;
  }

  add(commands: readonly DisruptionCommand[], dueAtMs: number): void {
    this.#waiting = [...this.#waiting, ...commands.map((command) => ({ command, dueAtMs }))];
    this.#version++;
  }

  /** The first that is due, which waits no longer. */
  takeDue(nowMs: number): DisruptionCommand | undefined {
    const due = this.#waiting.find(({ dueAtMs }) => dueAtMs <= nowMs);
    if (due === undefined) return undefined;
    this.#waiting = this.#waiting.filter((one) => one !== due);
    this.#version++;
    return due.command;
  }

  all(): readonly DisruptionCommand[] {
    return this.#waiting.map(({ command }) => command);
  }

  /** When the command of a node is due; undefined if the node is part of none. */
  dueAtMsOf(providerId: string): number | undefined {
    const hasNode = ({ command }: WaitingCommand): boolean =>
      command.candidates.some((one) => one.providerId === providerId);
    return this.#waiting.find(hasNode)?.dueAtMs;
  }

  /** When the next is due; undefined if none waits. */
  nextDueAtMs(): number | undefined {
    return this.#waiting.length === 0 ? undefined : Math.min(...this.#waiting.map(({ dueAtMs }) => dueAtMs));
  }
}
