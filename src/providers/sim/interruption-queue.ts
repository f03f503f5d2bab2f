import type { InterruptionKind } from "../aws/interruption/interruption-kinds.ts";

export interface InterruptionMessage {
  readonly id: string;
  readonly kind: InterruptionKind;
  readonly providerId: string;
  /** Milliseconds since the epoch. */
  readonly sentAt: number;
}

/** Keeps each message until it is deleted, so that a restarted reader sees it again. (03:I-5) */
export class InterruptionQueue {
  readonly #pending = new Map<string, InterruptionMessage>();
  readonly #handlers = new Set<(message: InterruptionMessage) => void>();
  #count = 0;

  send(content: Omit<InterruptionMessage, "id">): void {
    const message = { id: `message-${++this.#count}`, ...content };
    this.#pending.set(message.id, message);
    for (const handler of [...this.#handlers]) handler(message);
  }

  get(id: string): InterruptionMessage | undefined {
    return this.#pending.get(id);
  }

  /** Oldest first. */
  messages(): readonly InterruptionMessage[] {
    return [...this.#pending.values()];
  }

  delete(id: string): void {
    this.#pending.delete(id);
  }

  /** Returns an unsubscribe function. */
  subscribe(handler: (message: InterruptionMessage) => void): () => void {
    const own = (message: InterruptionMessage): void => handler(message);
    this.#handlers.add(own);
    return () => this.#handlers.delete(own);
  }
}
