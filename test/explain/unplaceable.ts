import fc from "fast-check";
import { kwokLabels } from "../../src/api/labels.ts";
import type { SchedulingProblem } from "../../src/core/scheduling/problem.ts";
import { type InstanceTypeBuilder, instanceType } from "../builders/instance-type.ts";
import { type NodeBuilder, node } from "../builders/node.ts";
import { type NodePoolBuilder, nodePool } from "../builders/node-pool.ts";
import { type PodBuilder, pod } from "../builders/pod.ts";
import { type ProblemBuilder, problem } from "../builders/problem.ts";
import type { VolumeDraft } from "../builders/volumes.ts";

/** Why a pod shall have no place. */
export const causes = ["taint", "selector", "size", "limit", "zone", "affinity", "spread", "volume"] as const;
export type UnplaceableCause = (typeof causes)[number];

/** A small world in which the pod `default/victim` has no place, for one cause. */
export interface Unplaceable {
  readonly cause: UnplaceableCause;
  readonly problem: SchedulingProblem;
}

export const victimKey = "default/victim";

/** What the world is made of before the cause is put into it. */
interface World {
  readonly types: readonly InstanceTypeBuilder[];
  readonly pools: readonly NodePoolBuilder[];
  readonly nodes: readonly NodeBuilder[];
  readonly others: readonly PodBuilder[];
  readonly victim: PodBuilder;
  readonly volumes: readonly VolumeDraft[];
  readonly daemons: readonly PodBuilder[];
  readonly seed: number;
}

const zones = ["a", "b", "c"] as const;
const app = fc.constantFrom("x", "y");
/** More than any node that exists has, so that pools are what it depends on. */
const victimCpu = fc.constantFrom("1", "1500m", "1900m");

const types: fc.Arbitrary<readonly InstanceTypeBuilder[]> = fc
  .uniqueArray(fc.constantFrom(4, 8, 16, 32), { minLength: 1, maxLength: 4 })
  .map((sizes) =>
    sizes.map((cpu) =>
      instanceType(`t${cpu}`)
        .cpu(cpu)
        .memory(`${4 * cpu}Gi`)
        .label(kwokLabels.instanceCpu, String(cpu))
        .overhead({ cpu: "100m", memory: "200Mi" }),
    ),
  );

const pools: fc.Arbitrary<readonly NodePoolBuilder[]> = fc
  .array(
    fc.record({ weight: fc.option(fc.integer({ min: 1, max: 100 })), team: fc.option(fc.constantFrom("red", "blue")) }),
    {
      minLength: 1,
      maxLength: 3,
    },
  )
  .map((drafts) =>
    drafts.map(({ weight, team }, at) => {
      const made = weight === null ? nodePool(`pool-${at}`) : nodePool(`pool-${at}`).weight(weight);
      return team === null ? made : made.label("team", team);
    }),
  );

const nodes: fc.Arbitrary<readonly NodeBuilder[]> = fc
  .array(fc.record({ zone: fc.constantFrom(...zones), app, running: fc.integer({ min: 0, max: 2 }) }), { maxLength: 4 })
  .map((drafts) =>
    drafts.map(({ zone, app: label, running }, at) =>
      node(`n${at}`)
        .zone(zone)
        .cpu("800m")
        .running(...Array.from({ length: running }, () => pod().cpu("100m").label("app", label))),
    ),
  );

const others: fc.Arbitrary<readonly PodBuilder[]> = fc
  .array(fc.record({ cpu: fc.constantFrom("100m", "1", "2"), app, apart: fc.boolean() }), { maxLength: 4 })
  .map((drafts) =>
    drafts.map(({ cpu, app: label, apart }) => {
      const made = pod().cpu(cpu).label("app", label);
      return apart ? made.apart("host") : made;
    }),
  );

const world: fc.Arbitrary<World> = fc.record({
  types,
  pools,
  nodes,
  others,
  victim: fc
    .tuple(victimCpu, app)
    .map(([cpu, label]) => pod().named("victim").cpu(cpu).memory("1Gi").label("app", label)),
  volumes: fc.constant([]),
  daemons: fc.option(fc.constant(pod().cpu("200m"))).map((one) => (one === null ? [] : [one])),
  seed: fc.integer({ min: 0, max: 5 }),
});

type Spoiler = fc.Arbitrary<(fine: World) => World>;

function everyPool(change: (pool: NodePoolBuilder) => NodePoolBuilder): (fine: World) => World {
  return (fine) => ({ ...fine, pools: fine.pools.map(change) });
}

function theVictim(change: (victim: PodBuilder) => PodBuilder): (fine: World) => World {
  return (fine) => ({ ...fine, victim: change(fine.victim) });
}

const taint = fc.constantFrom("dedicated=gpu:NoSchedule", "dedicated:NoExecute", "slow=1:NoSchedule");

const spoilers: Readonly<Record<UnplaceableCause, Spoiler>> = {
  taint: fc
    .uniqueArray(taint, { minLength: 1, maxLength: 2 })
    .map((taints) => everyPool((pool) => taints.reduce((made, one) => made.taint(one), pool))),
  selector: fc.oneof(
    fc.constantFrom("green", "bleu").map((value) => theVictim((victim) => victim.on("team", value))),
    fc.constantFrom("t5", "t64").map((value) => theVictim((victim) => victim.on("type", value))),
    fc.constant(theVictim((victim) => victim.needs(["tier", "In", "gold"]))),
    fc.constant(theVictim((victim) => victim.needs([kwokLabels.instanceCpu, "Gt", "64"]))),
    fc.constantFrom("pool-7", "poo-0").map((value) => theVictim((victim) => victim.on("pool", value))),
    fc.constant(theVictim((victim) => victim.needs(["tier", "Exists"], ["arch", "NotIn", "arm64"]))),
  ),
  size: fc.oneof(
    fc.constantFrom("33", "64", "1000").map((cpu) => theVictim((victim) => victim.cpu(cpu))),
    fc.constantFrom("129Gi", "1Ti").map((memory) => theVictim((victim) => victim.memory(memory))),
    fc.constant(theVictim((victim) => victim.request("nvidia.com/gpu", "1"))),
    fc.constant((fine: World) =>
      everyPool((pool) => pool.requires(kwokLabels.instanceCpu, "Lt", "5"))(
        theVictim((victim) => victim.cpu("6"))(fine),
      ),
    ),
  ),
  limit: fc.oneof(
    fc.constantFrom("0", "1", "3").map((cpu) => everyPool((pool) => pool.limit("cpu", cpu))),
    fc.constantFrom("1Gi", "10Gi").map((memory) => everyPool((pool) => pool.limit("memory", memory))),
    fc.constant(everyPool((pool) => pool.limit("nodes", "0"))),
    fc.constant((fine: World) => ({
      ...everyPool((pool) => pool.limit("nodes", "1"))(fine),
      nodes: fine.pools.map((_, at) => node(`m${at}`).cpu("500m").pool(`pool-${at}`)),
    })),
    fc.constant((fine: World) =>
      theVictim((victim) => victim.cpu("6"))(everyPool((pool) => pool.limit("cpu", "5"))(fine)),
    ),
  ),
  zone: fc.oneof(
    fc.constant((fine: World) =>
      everyPool((pool) => pool.zones("a", "b"))(theVictim((victim) => victim.on("zone", "c"))(fine)),
    ),
    fc.constant((fine: World) =>
      everyPool((pool) => pool.requires("zone", "NotIn", "c"))(
        theVictim((victim) => victim.needs(["zone", "In", "c"]))(fine),
      ),
    ),
    fc.constant(theVictim((victim) => victim.on("zone", "z9"))),
    fc.constant((fine: World) => ({
      ...theVictim((victim) => victim.on("zone", "b"))(fine),
      types: fine.types.map((type) => type.soldOutIn("b")),
    })),
    fc.constant((fine: World) => ({
      ...everyPool((pool) => pool.requires("capacity-type", "In", "spot"))(
        theVictim((victim) => victim.on("zone", "b"))(fine),
      ),
      types: fine.types.map((type) => type.soldOutIn("b", "spot")),
    })),
  ),
  affinity: fc.oneof(
    fc.constantFrom("zone", "host").map((key) => theVictim((victim) => victim.near(key, { app: "nobody" }))),
    fc.constant((fine: World) => ({
      ...theVictim((victim) => victim.apart("zone", { app: "everywhere" }))(fine),
      nodes: [
        ...fine.nodes,
        ...zones.map((zone) => node(`e-${zone}`).zone(zone).cpu("500m").running(pod().label("app", "everywhere"))),
      ],
    })),
    fc.constant((fine: World) => ({
      ...fine,
      nodes: [
        ...fine.nodes,
        ...zones.map((zone) =>
          node(`s-${zone}`)
            .zone(zone)
            .cpu("500m")
            .running(pod().label("app", "shy").apart("zone", { kind: "loud" })),
        ),
      ],
      victim: fine.victim.label("kind", "loud"),
    })),
    fc.constant((fine: World) => ({
      ...everyPool((pool) => pool.zones("a"))(theVictim((victim) => victim.near("zone", { app: "far" }))(fine)),
      nodes: [...fine.nodes, node("far").zone("b").cpu("500m").running(pod().label("app", "far"))],
    })),
  ),
  spread: fc.oneof(
    fc.constantFrom(4, 7).map((minDomains) => (fine: World) => ({
      ...theVictim((victim) => victim.label("app", "wide").spread("zone", { minDomains }))(fine),
      nodes: zones.map((zone) => node(`w-${zone}`).zone(zone).cpu("500m").running(pod().label("app", "wide"))),
    })),
    fc.constantFrom("rack", "example.com/row").map((key) => theVictim((victim) => victim.spread(key))),
    fc.integer({ min: 1, max: 3 }).map((count) => (fine: World) => ({
      ...everyPool((pool) => pool.zones("a"))(theVictim((victim) => victim.label("app", "wide").spread("zone"))(fine)),
      nodes: [
        ...fine.nodes,
        node("w-b").zone("b").cpu("500m"),
        node("w-a")
          .zone("a")
          .cpu("800m")
          .running(...Array.from({ length: count }, () => pod().label("app", "wide"))),
      ],
    })),
  ),
  volume: fc.oneof(
    fc.constant(theVictim((victim) => victim.volume("missing"))),
    fc.constant((fine: World) => ({
      ...theVictim((victim) => victim.volume("dat"))(fine),
      volumes: [{ claim: "data", zones: [["a"]] }],
    })),
    fc.boolean().map((isUnbound) => (fine: World) => ({
      ...everyPool((pool) => pool.zones("a", "b"))(theVictim((victim) => victim.volume("data"))(fine)),
      volumes: [{ claim: "data", zones: [["c"]], isUnbound }],
    })),
    fc.constant((fine: World) => ({
      ...theVictim((victim) => victim.volume("one").volume("two"))(fine),
      volumes: [
        { claim: "one", zones: [["a"]] },
        { claim: "two", zones: [["b"]] },
      ],
    })),
    fc.constant((fine: World) => ({
      ...theVictim((victim) => victim.volume("data").on("zone", "a"))(fine),
      volumes: [{ claim: "data", zones: [["b"]] }],
    })),
    fc.constant((fine: World) => ({
      ...theVictim((victim) => victim.volume("data"))(fine),
      volumes: [{ claim: "data", zones: [["z9"]] }],
    })),
  ),
};

/** A world spoilt in one way, and sometimes in a second. */
export function unplaceable(cause: UnplaceableCause): fc.Arbitrary<Unplaceable> {
  const second = fc.option(
    fc.constantFrom(...causes).chain((other) => spoilers[other]),
    { freq: 6 },
  );
  return fc.tuple(world, spoilers[cause], second).map(([fine, spoil, more]) => {
    const spoilt = spoil(fine);
    return { cause, problem: build(more === null ? spoilt : more(spoilt)) };
  });
}

function build({
  types: sold,
  pools: all,
  nodes: there,
  others: waiting,
  victim,
  volumes,
  daemons,
  seed,
}: World): SchedulingProblem {
  const made: ProblemBuilder = problem()
    .types(...sold)
    .pools(...all)
    .nodes(...there)
    .volumes(...volumes)
    .daemons(...daemons)
    .seed(seed);
  return made.pod(...waiting, victim).build();
}
