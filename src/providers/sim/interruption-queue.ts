/** What a cloud tells of a machine before or after the fact. (03:I-3, 04 §4.2) */
export const interruptionKinds = [
  "spot_interrupted",
  "rebalance_recommendation",
  "scheduled_change",
  "event_status",
  "instance_status",
  "system_status",
  "instance_stopped",
  "instance_terminated",
  "capacity_reservation_interrupted",
] as const;
export type InterruptionKind = (typeof interruptionKinds)[number];

export interface InterruptionMessage {
  readonly id: string;
  readonly kind: InterruptionKind;
  readonly providerId: string;
  /** Milliseconds since the epoch. */
  readonly sentAt: number;
}

/** A queue that keeps a notice until somebody says it is dealt with: a reader that crashes finds it again. (03:I-5) */
export class InterruptionQueue {
  readonly #pending = new Map<string, InterruptionMessage>();
  readonly #handlers = new Set<(interruption: InterruptionMessage) => void>();
  #count = 0;

  send(interruption: Omit<InterruptionMessage, "id">): void {
    const id = `notice-${++this.#count}`;
    const whole = { id, ...interruption };
    this.#pending.set(id, whole);
    for (const handler of [...this.#handlers]) handler(whole);
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

  /** Returns how to stop hearing. */
  subscribe(handler: (interruption: InterruptionMessage) => void): () => void {
    const own = (interruption: InterruptionMessage): void => handler(interruption);
    this.#handlers.add(own);
    return () => this.#handlers.delete(own);
  }
}
