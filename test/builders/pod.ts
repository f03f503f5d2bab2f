import type { LabelSelector, Pod, PodAffinityTerm, PodSpec, Toleration } from "../../src/api/kubernetes/pod.ts";
import { expression, labelKey, type ShortRequirement, shortLabels } from "./keys.ts";

export interface SpreadOptions {
  readonly maxSkew?: number;
  readonly minDomains?: number;
  readonly whenUnsatisfiable?: "DoNotSchedule" | "ScheduleAnyway";
  readonly nodeAffinityPolicy?: "Honor" | "Ignore";
  readonly nodeTaintsPolicy?: "Honor" | "Ignore";
  readonly matchLabelKeys?: readonly string[];
  /** The pod's own labels when absent; `none` leaves the selector out. */
  readonly selects?: Selects;
}

export interface AffinityOptions {
  /** A preference of this weight; a demand when absent. */
  readonly weight?: number;
  readonly namespaces?: readonly string[];
  readonly namespaceSelector?: LabelSelector;
}

type Selects = Readonly<Record<string, string>> | LabelSelector | "none";

/** What a pod is before it has a name and a place in the queue. */
export function pod(): PodBuilder {
  return new PodBuilder({ metadata: {}, spec: { containers: [{ name: "app" }] } });
}

/** A daemon's pod is a pod; the word makes tests read. */
export const daemon = pod;

/** Immutable: every step gives another builder. */
export class PodBuilder {
  readonly #pod: Pod;

  constructor(start: Pod) {
    this.#pod = start;
  }

  named(name: string): PodBuilder {
    return this.#metadata({ name });
  }

  namespace(namespace: string): PodBuilder {
    return this.#metadata({ namespace });
  }

  label(key: string, value: string): PodBuilder {
    return this.#metadata({ labels: { ...this.#pod.metadata.labels, [key]: value } });
  }

  uid(uid: string): PodBuilder {
    return this.#metadata({ uid });
  }

  /** Older pods come first among equals. */
  created(creationTimestamp: string): PodBuilder {
    return this.#metadata({ creationTimestamp });
  }

  terminating(): PodBuilder {
    return this.#metadata({ deletionTimestamp: "2026-01-15T12:00:00Z" });
  }

  phase(phase: string): PodBuilder {
    return new PodBuilder({ ...this.#pod, status: { ...this.#pod.status, phase } });
  }

  cpu(amount: string): PodBuilder {
    return this.request("cpu", amount);
  }

  memory(amount: string): PodBuilder {
    return this.request("memory", amount);
  }

  request(name: string, amount: string): PodBuilder {
    return this.#container((app) => ({
      ...app,
      resources: { ...app.resources, requests: { ...app.resources?.requests, [name]: amount } },
    }));
  }

  limit(name: string, amount: string): PodBuilder {
    return this.#container((app) => ({
      ...app,
      resources: { ...app.resources, limits: { ...app.resources?.limits, [name]: amount } },
    }));
  }

  /** Runs to its end before the app starts. */
  initContainer(requests: Readonly<Record<string, string>>): PodBuilder {
    return this.#init({ name: "init", resources: { requests } });
  }

  /** Starts before the app and stays. */
  sidecar(requests: Readonly<Record<string, string>>): PodBuilder {
    return this.#init({ name: "sidecar", resources: { requests }, restartPolicy: "Always" });
  }

  /** What the pod as a whole asks for. */
  podLevel(requests: Readonly<Record<string, string>>): PodBuilder {
    return this.#spec({ resources: { requests } });
  }

  overhead(overhead: Readonly<Record<string, string>>): PodBuilder {
    return this.#spec({ overhead });
  }

  hostPort(hostPort: number, { ip, protocol = "TCP" }: { ip?: string; protocol?: string } = {}): PodBuilder {
    const port = { hostPort, containerPort: hostPort, protocol, ...(ip !== undefined && { hostIP: ip }) };
    return this.#container((app) => ({ ...app, ports: [...(app.ports ?? []), port] }));
  }

  /** A node selector. */
  on(key: string, value: string): PodBuilder {
    return this.#spec({ nodeSelector: { ...this.#pod.spec.nodeSelector, [labelKey(key)]: value } });
  }

  /** One more alternative of required node affinity. */
  needs(...wanted: readonly ShortRequirement[]): PodBuilder {
    const { nodeAffinity } = this.#pod.spec.affinity ?? {};
    const terms = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
    const nodeSelectorTerms = [...terms, { matchExpressions: wanted.map(expression) }];
    return this.#affinity({
      nodeAffinity: { ...nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
    });
  }

  /** One more preferred node affinity term. */
  prefers(weight: number, ...wanted: readonly ShortRequirement[]): PodBuilder {
    const { nodeAffinity } = this.#pod.spec.affinity ?? {};
    const preferredDuringSchedulingIgnoredDuringExecution = [
      ...(nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []),
      { weight, preference: { matchExpressions: wanted.map(expression) } },
    ];
    return this.#affinity({ nodeAffinity: { ...nodeAffinity, preferredDuringSchedulingIgnoredDuringExecution } });
  }

  tolerates(toleration: Toleration): PodBuilder {
    return this.#spec({ tolerations: [...(this.#pod.spec.tolerations ?? []), toleration] });
  }

  spread(key: string, { selects, ...options }: SpreadOptions = {}): PodBuilder {
    const constraint = {
      maxSkew: 1,
      whenUnsatisfiable: "DoNotSchedule",
      ...options,
      topologyKey: labelKey(key),
      ...this.#selector(selects),
    };
    return this.#spec({ topologySpreadConstraints: [...(this.#pod.spec.topologySpreadConstraints ?? []), constraint] });
  }

  /** Pod affinity. */
  near(key: string, selects?: Selects, options: AffinityOptions = {}): PodBuilder {
    return this.#podAffinity("podAffinity", this.#term(key, selects, options), options);
  }

  /** Pod anti-affinity. */
  apart(key: string, selects?: Selects, options: AffinityOptions = {}): PodBuilder {
    return this.#podAffinity("podAntiAffinity", this.#term(key, selects, options), options);
  }

  /** A persistent volume claim by name. */
  volume(claimName: string): PodBuilder {
    const volume = { name: claimName, persistentVolumeClaim: { claimName } };
    return this.#spec({ volumes: [...(this.#pod.spec.volumes ?? []), volume] });
  }

  /** A volume that comes and goes with the pod: its claim is named after both. */
  ephemeralVolume(name: string): PodBuilder {
    return this.#spec({ volumes: [...(this.#pod.spec.volumes ?? []), { name, ephemeral: {} }] });
  }

  /** By a controller of this kind. */
  ownedBy(kind: string, name: string): PodBuilder {
    const apiVersion = kind === "ReplicationController" ? "v1" : "apps/v1";
    return this.#metadata({ ownerReferences: [{ apiVersion, kind, name, uid: `uid-${name}`, controller: true }] });
  }

  priority(priority: number): PodBuilder {
    return this.#spec({ priority });
  }

  /** Already bound. */
  onNode(nodeName: string): PodBuilder {
    return this.#spec({ nodeName }).phase("Running");
  }

  resourceClaim(name: string): PodBuilder {
    return this.#spec({ resourceClaims: [{ name }] });
  }

  /** A container that uses a claimed device, whether or not the pod lists the claim. */
  device(name: string, { of }: { readonly of: "app" | "init" }): PodBuilder {
    const resources = { claims: [{ name }] };
    return of === "init" ? this.#init({ name: "init", resources }) : this.#container((app) => ({ ...app, resources }));
  }

  /** Names and age for those that have none. */
  build(fallback: { readonly name: string; readonly uid: string; readonly at: number }): Pod {
    const { metadata } = this.#pod;
    const creationTimestamp = new Date(Date.UTC(2026, 0, 15, 11) + fallback.at * 1000).toISOString();
    return {
      ...this.#pod,
      metadata: { name: fallback.name, namespace: "default", uid: fallback.uid, creationTimestamp, ...metadata },
    };
  }

  get name(): string | undefined {
    return this.#pod.metadata.name;
  }

  #metadata(changes: Partial<Pod["metadata"]>): PodBuilder {
    return new PodBuilder({ ...this.#pod, metadata: { ...this.#pod.metadata, ...changes } });
  }

  #spec(changes: Partial<PodSpec>): PodBuilder {
    return new PodBuilder({ ...this.#pod, spec: { ...this.#pod.spec, ...changes } });
  }

  #affinity(changes: NonNullable<PodSpec["affinity"]>): PodBuilder {
    return this.#spec({ affinity: { ...this.#pod.spec.affinity, ...changes } });
  }

  #container(change: (app: NonNullable<PodSpec["containers"]>[number]) => NonNullable<PodSpec["containers"]>[number]) {
    return this.#spec({ containers: (this.#pod.spec.containers ?? []).map(change) });
  }

  #init(added: NonNullable<PodSpec["initContainers"]>[number]): PodBuilder {
    return this.#spec({ initContainers: [...(this.#pod.spec.initContainers ?? []), added] });
  }

  #selector(selects: Selects = this.#pod.metadata.labels ?? {}): { labelSelector?: LabelSelector } {
    if (selects === "none") return {};
    const isSelector = "matchLabels" in selects || "matchExpressions" in selects;
    return { labelSelector: isSelector ? (selects as LabelSelector) : { matchLabels: shortLabels(selects as never) } };
  }

  #term(
    key: string,
    selects: Selects | undefined,
    { namespaces, namespaceSelector }: AffinityOptions,
  ): PodAffinityTerm {
    return {
      topologyKey: labelKey(key),
      ...this.#selector(selects),
      ...(namespaces && { namespaces }),
      ...(namespaceSelector && { namespaceSelector }),
    };
  }

  #podAffinity(
    kind: "podAffinity" | "podAntiAffinity",
    podAffinityTerm: PodAffinityTerm,
    { weight }: AffinityOptions,
  ): PodBuilder {
    const now = this.#pod.spec.affinity?.[kind];
    const required = now?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const preferred = now?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    const changes =
      weight === undefined
        ? { requiredDuringSchedulingIgnoredDuringExecution: [...required, podAffinityTerm] }
        : { preferredDuringSchedulingIgnoredDuringExecution: [...preferred, { weight, podAffinityTerm }] };
    return this.#affinity({ [kind]: { ...now, ...changes } });
  }
}
