import { labels } from "../../src/api/labels.ts";
import { type InstanceType, offeringPriceAt } from "../../src/core/instance-type.ts";
import type { InstanceRecord } from "../../src/providers/sim/fleet-request.ts";
import type { LoggedLine } from "../../src/util/logger.ts";
import { storages } from "../world/stored-objects.ts";
import type { CallChecksOptions, StoredNode } from "./call-checks.ts";

export interface ReplacementChecksOptions extends CallChecksOptions {
  readonly kwokTypes: readonly InstanceType[];
  /** Whether overlays may change prices: what the controller reckons with is then not the price of the cloud. */
  readonly hasOverlays: boolean;
}

/** A command for the price, as its process logged it. */
interface PriceCommand {
  readonly life: string;
  readonly nodes: readonly string[];
  readonly offerings: readonly string[];
  /** Of its nodes; undefined where one is unknown. */
  readonly price: number | undefined;
  readonly wanted: number;
  readonly claims: string[];
  readonly launched: InstanceRecord[];
  /** The age of the world's inputs when it started. */
  readonly inputs: number;
}

/** Checks that every consolidation strictly lowers the price, and that none undoes another. (03 §4.13-2, 03:D-48) */
export class ReplacementChecks {
  readonly #options: ReplacementChecksOptions;
  readonly #commands: PriceCommand[] = [];
  #inputs = 0;
  #prices = 0;

  constructor(options: ReplacementChecksOptions) {
    this.#options = options;
    options.cloud.supply.subscribe(() => {
      this.#prices = options.now();
    });
    options.cloud.subscribe(({ id }) => this.#launched(id));
  }

  get count(): number {
    return this.#commands.length;
  }

  /** Somebody changes something: what is done from now on has other inputs. */
  inputsChanged(): void {
    this.#inputs++;
  }

  onLog({ message, values }: LoggedLine): void {
    const life = String(values["life"] ?? "");
    if (message === "disrupting node(s)") this.#started(life, values);
    if (message === "created nodeclaim" && values["controller"] === "disruption") {
      const { name = "" } = (values["NodeClaim"] ?? {}) as { readonly name?: string };
      const last = this.#commands.findLast((one) => one.life === life);
      if (last !== undefined && last.claims.length < last.wanted) last.claims.push(name);
    }
  }

  #started(life: string, values: Readonly<Record<string, unknown>>): void {
    const wanted = Number(values["replacement-node-count"]);
    if (!String(values["command"]).startsWith("Underutilized") || wanted === 0) return;
    const disrupted = values["disrupted-nodes"] as readonly { readonly Node: { readonly name: string } }[];
    const nodes = disrupted.map(({ Node }) => this.#options.record.get<StoredNode>(storages.nodes, Node.name));
    const prices = nodes.map((node) => this.#priceOf(node));
    this.#commands.push({
      life,
      wanted,
      nodes: disrupted.map(({ Node }) => Node.name),
      offerings: nodes.map((node) => offeringText(node?.metadata.labels ?? {})),
      price: prices.every((one) => one !== undefined) ? prices.reduce((sum, one) => sum + one, 0) : undefined,
      claims: [],
      launched: [],
      inputs: this.#inputs,
    });
  }

  #priceOf(node: StoredNode | undefined): number | undefined {
    const { [labels.instanceType]: name, [labels.zone]: zone, [labels.capacityType]: capacityType } = own(node);
    const type = this.#options.kwokTypes.find((one) => one.name === name);
    if (type === undefined || zone === undefined || capacityType === undefined) return undefined;
    const changed = this.#options.cloud.supply.priceOf({ instanceType: type.name, zone, capacityType });
    return changed ?? offeringPriceAt(type, { zone, capacityType });
  }

  #launched(id: string): void {
    const record = this.#options.cloud.records().find(({ instance }) => instance.id === id);
    const command = record && this.#commands.find(({ claims }) => claims.includes(record.claimName));
    if (record === undefined || command === undefined || command.launched.includes(record)) return;
    // An instance that vanished is launched again: a claim has the last one.
    const earlier = command.launched.findIndex(({ claimName }) => claimName === record.claimName);
    command.launched.splice(earlier < 0 ? command.launched.length : earlier, 1, record);
    if (command.launched.length < command.wanted) return;
    this.#checkPrice(command, record.instance.launchedAt);
    this.#checkInverse(command);
  }

  #checkPrice({ nodes, price, launched }: PriceCommand, at: number): void {
    const { hasOverlays, complain } = this.#options;
    if (price === undefined || hasOverlays || at - this.#prices < recentMs) return;
    const now = launched.reduce((sum, one) => sum + (one.price ?? 0), 0);
    if (now < price) return;
    const names = launched.map(({ claimName }) => claimName).join(", ");
    complain(`replaced ${nodes.join(", ")} for ${price} by ${names} for ${now}`);
  }

  /** The replacement of an earlier command goes for what that one replaced, and nobody changed anything. */
  #checkInverse(command: PriceCommand): void {
    const [only] = command.launched;
    if (only === undefined || command.launched.length > 1) return;
    const { instanceType, zone, capacityType } = only.key;
    const now = [instanceType, zone, capacityType].join("/");
    const undone = this.#commands.find(
      (one) =>
        one !== command &&
        one.inputs === command.inputs &&
        one.launched.some(({ instance }) => command.nodes.includes(instance.id)) &&
        one.offerings.includes(now),
    );
    if (undone !== undefined)
      this.#options.complain(`${command.nodes.join(", ")} becomes ${now} again, as before ${undone.nodes.join(", ")}`);
  }
}

/** A price that changed a moment ago need not be known. */
const recentMs = 60_000;

function own(node: StoredNode | undefined): Readonly<Record<string, string>> {
  return node?.metadata.labels ?? {};
}

function offeringText(of: Readonly<Record<string, string>>): string {
  return [of[labels.instanceType], of[labels.zone], of[labels.capacityType]].join("/");
}
