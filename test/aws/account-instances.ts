import type { Instance } from "@aws-sdk/client-ec2";
import type { NodeClaim } from "../../src/api/kinds/node-claim.ts";
import { labels, taints } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import type { InstanceSource, SimulatedInstance } from "../../src/cloud/instance-source.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { karpenterTypes } from "../../src/kube/resources.ts";
import type { Clock } from "../../src/util/clock.ts";

export interface AccountInstancesOptions {
  /** Everything that is not terminated, also what we do not know of. */
  readonly running: () => Promise<readonly Instance[]>;
  readonly client: KubeClient;
  readonly clock: Clock;
}

const bootMs = 10_000;
const pollMs = 2_000;

/** What runs in an account, as machines whose kubelets join the cluster. Capacity is what the claim of the instance was promised. */
export class AccountInstances implements InstanceSource {
  readonly #options: AccountInstancesOptions;
  readonly #known = new Map<string, SimulatedInstance>();
  readonly #handlers = new Set<(instance: SimulatedInstance) => void>();
  readonly #stopping = new AbortController();

  constructor(options: AccountInstancesOptions) {
    this.#options = options;
    void this.#poll();
  }

  list(): readonly SimulatedInstance[] {
    return [...this.#known.values()];
  }

  subscribe(handler: (instance: SimulatedInstance) => void): () => void {
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  owns(providerId: string): boolean {
    return providerId.startsWith("aws:///");
  }

  running(): Promise<readonly Instance[]> {
    return this.#options.running();
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #poll(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#look().catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      await this.#options.clock.sleep(pollMs, signal).catch(() => {});
    }
  }

  async #look(): Promise<void> {
    const running = new Map((await this.running()).map((instance) => [instance.InstanceId ?? "", instance]));
    for (const [id, instance] of this.#known) {
      if (running.has(id)) continue;
      this.#known.delete(id);
      this.#notify({ ...instance, state: "terminated" });
    }
    const { items } = await this.#options.client.list<KubeObject & NodeClaim>(karpenterTypes.NodeClaim);
    for (const [id, instance] of running) {
      const claim = items.find(({ status }) => status?.providerID?.endsWith(`/${id}`));
      if (this.#known.has(id) || claim === undefined) continue;
      const machine = machineOf(instance, { claim, launchedAt: this.#options.clock.now() });
      this.#known.set(id, machine);
      this.#notify(machine);
    }
  }

  #notify(instance: SimulatedInstance): void {
    for (const handler of [...this.#handlers]) handler(instance);
  }
}

function machineOf(
  { InstanceId: id = "", InstanceType: type, Placement }: Instance,
  { claim, launchedAt }: { readonly claim: NodeClaim; readonly launchedAt: number },
): SimulatedInstance {
  const zone = Placement?.AvailabilityZone ?? "";
  const nodeName = `${id}.${zone.slice(0, -1)}.compute.internal`; // moto may give one address to two instances
  const { taints: claimed = [], startupTaints = [] } = claim.spec;
  return {
    id,
    providerId: `aws:///${zone}/${id}`,
    nodeName,
    labels: {
      [labels.arch]: claim.metadata.labels?.[labels.arch] ?? "amd64",
      [labels.os]: "linux",
      [labels.hostname]: nodeName,
      [labels.instanceType]: type ?? "",
      [labels.zone]: zone,
      [labels.region]: zone.slice(0, -1),
    },
    taints: [taints.unregistered, ...claimed, ...startupTaints],
    capacity: claim.status?.capacity ?? {},
    allocatable: claim.status?.allocatable ?? {},
    launchedAt,
    bootMs,
    state: "running",
    kubelet: "healthy",
  };
}
