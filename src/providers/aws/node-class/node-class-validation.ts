import { type DryRun, type Ec2ValidationFacts, ec2Validation } from "../../../api/conditions/ec2-node-class.ts";
import type { NodePool } from "../../../api/kinds/node-pool.ts";
import { groups } from "../../../api/labels.ts";
import type { KubeObject } from "../../../api/object.ts";
import { resolvedAmiFamily } from "../../../api/validation/ami-family.ts";
import type { CompileExpression, InstanceVariables } from "../../../api/validation/kubelet-expressions.ts";
import type { ControllerContext } from "../../../kube/controller.ts";
import { karpenterTypes } from "../../../kube/resources.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import type { Clock } from "../../../util/clock.ts";
import { ExpiringMap } from "../../../util/expiring-map.ts";
import { awsErrorAdvice, isTransient } from "../api/aws-error-advice.ts";
import type { ClusterCidr } from "./cluster-cidr.ts";
import { type DryRunOptions, type DryRunOutcome, dryRunLaunch } from "./dry-runs.ts";
import type { Ec2NodeClassObject, Ec2NodeClassSpec } from "./node-class-object.ts";
import type { NodeClassPart, PartResult } from "./resolve-node-class.ts";
import { validationFactsOf } from "./validation-facts.ts";

export interface NodeClassValidationOptions {
  readonly clock: Clock;
  readonly clusterCidr: ClusterCidr;
  readonly dryRuns: DryRunOptions;
  /** DISABLE_DRY_RUN. */
  readonly isDryRunDisabled: boolean;
  /** The gate NodeClassCEL. */
  readonly allowsExpressions: boolean;
  /** What expressions can ask about each instance type. */
  readonly instanceVariables: (nodeClass: Ec2NodeClassObject) => readonly InstanceVariables[];
  readonly compileExpression: CompileExpression;
}

const minute = 60_000;
const recheckMs = 10 * minute;
const retryMs = 5_000;
const cacheMs = 30 * minute;

interface CachedDryRun {
  readonly key: string;
  readonly dryRun: DryRun;
}

/** The part of a class that says whether nodes can be launched from it. (04 §1.12) */
export class NodeClassValidation implements NodeClassPart {
  readonly condition = "ValidationSucceeded";
  readonly #options: NodeClassValidationOptions;
  /** By name of the class: what the calls of its present spec and status came to. */
  readonly #dryRuns: ExpiringMap<CachedDryRun>;

  constructor(options: NodeClassValidationOptions) {
    this.#options = options;
    this.#dryRuns = new ExpiringMap(options.clock);
  }

  async resolve(nodeClass: Ec2NodeClassObject, context: ControllerContext): Promise<PartResult> {
    const { spec, status } = nodeClass;
    if (spec === undefined) return {};
    const cidr = await this.#clusterCidr(spec);
    if (isTransient(cidr.error)) return { error: cidr.error };
    const { allowsExpressions, instanceVariables, compileExpression: compile } = this.#options;
    const variables = () => instanceVariables(nodeClass);
    const facts: Ec2ValidationFacts = {
      ...validationFactsOf(spec, { allowsExpressions, instanceVariables: variables, compile }),
      clusterCidr: cidr.message,
      conditions: status?.conditions ?? [],
    };
    const verdict = ec2Validation(facts);
    if (verdict.kind === "decided") {
      return { finding: verdict.finding, afterMs: recheckMs, ...(cidr.error !== undefined && { error: cidr.error }) };
    }
    const dryRun = await this.#dryRun(nodeClass, context);
    if (dryRun.kind === "retry") return { afterMs: retryMs, note: dryRun.because };
    const decided = ec2Validation({ ...facts, dryRun });
    if (decided.kind !== "decided") throw new Error("a dry run decides the validation of a class");
    return { finding: decided.finding, afterMs: recheckMs };
  }

  /** The class is gone. */
  forget(nodeClassName: string): void {
    this.#dryRuns.delete(nodeClassName);
  }

  /** Only AL2023 needs it. */
  async #clusterCidr(spec: Ec2NodeClassSpec): Promise<{ readonly message?: string; readonly error?: unknown }> {
    if (resolvedAmiFamily(spec) !== "AL2023") return {};
    try {
      await this.#options.clusterCidr.resolve();
      return {};
    } catch (error) {
      return { message: `AL2023 nodes need the CIDR of Services: ${awsErrorAdvice(error)}`, error };
    }
  }

  async #dryRun(nodeClass: Ec2NodeClassObject, context: ControllerContext): Promise<DryRunOutcome> {
    if (this.#options.isDryRunDisabled) return { kind: "skipped" };
    const { name = "" } = nodeClass.metadata;
    const key = validationKey(nodeClass);
    const cached = this.#dryRuns.get(name);
    if (cached?.key === key) return cached.dryRun;
    const dryRun = await dryRunLaunch(nodeClass, poolsOf(name, context), this.#options.dryRuns);
    if (dryRun.kind === "retry") return dryRun;
    const isKept = dryRun.kind !== "failed" || dryRun.reason !== "InstanceProfileNotFound";
    if (isKept) this.#dryRuns.set(name, { key, dryRun }, cacheMs);
    return dryRun;
  }
}

/** Changes with everything a dry run depends on. */
function validationKey({ spec, status, metadata }: Ec2NodeClassObject): string {
  const { subnets, securityGroups, amis, instanceProfile } = status ?? {};
  const { annotations } = metadata;
  return canonicalJson({ spec, subnets, securityGroups, amis, instanceProfile, annotations });
}

function poolsOf(name: string, { view }: ControllerContext): readonly NodePool[] {
  return view<KubeObject & NodePool>(karpenterTypes.NodePool)
    .all()
    .filter(({ spec }) => {
      const { group, kind, name: used } = spec.template.spec.nodeClassRef;
      return group === groups.aws && kind === karpenterTypes.EC2NodeClass.kind && used === name;
    })
    .sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
}
