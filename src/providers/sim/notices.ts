/** What a cloud tells of a machine before or after the fact. (03:I-3, 04 §4.2) */
export const noticeKinds = [
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
export type NoticeKind = (typeof noticeKinds)[number];

export interface Notice {
  readonly id: string;
  readonly kind: NoticeKind;
  readonly providerId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A queue that keeps a notice until somebody says it is dealt with: a reader that crashes finds it again. (03:I-5) */
export class Notices {
  readonly #pending = new Map<string, Notice>();
  readonly #handlers = new Set<(notice: Notice) => void>();
  #count = 0;

  put(notice: Omit<Notice, "id">): void {
    const id = `notice-${++this.#count}`;
    const whole = { id, ...notice };
    this.#pending.set(id, whole);
    for (const handler of [...this.#handlers]) handler(whole);
  }

  get(id: string): Notice | undefined {
    return this.#pending.get(id);
  }

  /** Oldest first. */
  pending(): readonly Notice[] {
    return [...this.#pending.values()];
  }

  settle(id: string): void {
    this.#pending.delete(id);
  }

  /** Returns how to stop hearing. */
  subscribe(handler: (notice: Notice) => void): () => void {
    const own = (notice: Notice): void => handler(notice);
    this.#handlers.add(own);
    return () => this.#handlers.delete(own);
  }
}
