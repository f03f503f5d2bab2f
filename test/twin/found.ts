import type { NodeDraft, PodDraft, PodTrait, PoolTrait, ProblemDraft, TypeTrait } from "./draft.ts";

/** Problems on which solver and twin once disagreed, as small as shrinking made them, and a few that chance seldom makes. */
export const found: readonly { readonly title: string; readonly draft: ProblemDraft }[] = [
  {
    title: "02:A-9 a type whose overhead is larger than itself is no type, also for an empty pod (T-6)",
    draft: world({ types: [[["overhead", "5"]]], pods: [plain()] }),
  },
  {
    title: "02:X-51 default constraints are injected",
    draft: world({
      policy: {
        defaultConstraints: [
          { topologyKey: "topology.kubernetes.io/zone", maxSkew: 1, whenUnsatisfiable: "DoNotSchedule" },
        ],
      },
      pods: [plain()],
    }),
  },
  {
    title: "02:N-3c what topology asks for in vain is told without a prefix",
    draft: world({ types: [[["label", "team", "red"]], []], pods: [plain(["near", "team", { app: "x" }, {}])] }),
  },
  {
    title: "02:F-3 groups without daemons have no say in how large a pod is",
    draft: world({
      types: [[], []],
      daemons: [{ ...plain(["needs", [["type", "NotIn", "t0"]]]), cpu: "100m" }],
      pods: [plain(["request", "nvidia.com/gpu", "1"])],
    }),
  },
  {
    title: "02:F-1 an offering is offered whether or not its node is large enough",
    draft: world({
      types: [
        [
          ["sizeIn", "a", "16"],
          ["reserved", "cr-1", "a", 1],
          ["overhead", "5"],
        ],
        [],
      ],
      pods: [plain(["on", "capacity-type", "reserved"])],
    }),
  },
  {
    title: "02:Y-5 a pod waits for reserved capacity in the second of equal domains",
    draft: world({
      types: [
        [
          ["sizeIn", "b", "1"],
          ["reserved", "cr-1", "a", 0],
        ],
      ],
      pods: [{ ...plain(["spread", "zone", {}]), cpu: "2" }, plain()],
    }),
  },
  {
    title: "02:Y-5 and does not turn to a lower pool meanwhile",
    draft: world({
      types: [
        [
          ["sizeIn", "b", "1"],
          ["reserved", "cr-1", "a", 0],
        ],
        [],
      ],
      pools: [
        [
          ["weight", 10],
          ["types", 0],
        ],
        [["types", 1]],
      ],
      pods: [{ ...plain(["spread", "zone", {}]), cpu: "2" }],
    }),
  },
  {
    title: "02:L-1 the price is of any compatible offering, also of one that is too small",
    draft: world({
      types: [
        [
          ["priceIn", "b", 0.1],
          ["sizeIn", "b", "1"],
        ],
      ],
      pods: [{ ...plain(), cpu: "2" }],
    }),
  },
  {
    title: "02:N-3c counts of hosts are told",
    draft: world({
      nodes: [existing("a")],
      pods: [
        plain(["needs", [["capacity-type", "In", "on-demand"]]], ["near", "host", { app: "x" }, {}]),
        plain(["request", "memory", "1Gi"]),
        plain(),
      ],
    }),
  },
  {
    title: "02:X-20 groups that contradict each other put no pod on a node without the label",
    draft: world({
      nodes: [existing("a")],
      pods: [plain(["spread", "capacity-type", {}], ["near", "capacity-type", { app: "x" }, {}]), plain()],
    }),
  },
  {
    title: "02:X-20 nor on a new node whose pool does not know the label",
    draft: world({
      seed: 16,
      types: [[["label", "team", "red"]], []],
      nodes: [existing("a", ["label", "team", "blue"], ["taint", "dedicated=gpu:NoSchedule"])],
      pods: [plain(["spread", "team", {}], ["spread", "team", { selects: { app: "y" } }]), plain()],
    }),
  },
  {
    title: "02:S-57 a node with too many volumes takes no pod at all",
    draft: world({
      nodes: [existing("a", ["volumeLimit", 0], ["runs", plain(["volume", "v0"])])],
      pods: [plain()],
    }),
  },
  {
    title: "02:X-20 a group that allows nothing is told before one that asks in vain",
    draft: world({
      nodes: [existing("a", ["label", "team", "red"])],
      pods: [plain(["spread", "team", {}], ["spread", "rack", {}])],
    }),
  },
  {
    title: "02:X-20 groups that contradict each other leave no type",
    draft: world({
      nodes: [existing("z8")],
      pods: [plain(), plain(["apart", "zone", { app: "x" }, {}]), plain()],
    }),
  },
  {
    title: "02:W-4 a pod whose volumes nobody knows repels nobody",
    draft: world({ pods: [plain(["volume", "v9"], ["apart", "zone", { app: "x" }, {}]), plain()] }),
  },
  {
    title: "02:X-41 a node without hostname label keeps nobody from its host",
    draft: world({
      nodes: [existing("a", ["runs", plain(["apart", "host", { app: "x" }, {}])], ["without", "host"])],
      pods: [plain()],
    }),
  },
  {
    title: "02:X-15 filters look at labels: a node without hostname label is on no host",
    draft: world({
      nodes: [existing("a"), existing("z8", ["without", "host"])],
      pods: [plain(["needs", [["host", "In", "n1"]]], ["spread", "zone", {}]), plain()],
    }),
  },
  {
    title: "02 §12.1-3 domains of counted pods take part in the shuffle",
    draft: world({
      seed: 573,
      nodes: [existing("z8", ["leaving"], ["runsDaemon", plain()])],
      pods: [plain(["spread", "zone", {}]), plain()],
    }),
  },
  {
    title: "02:F-2 minValues that may give way are not told as the cause",
    draft: world({
      policy: { minValues: "BestEffort" },
      types: [[["reserved", "cr-1", "a", 1]]],
      pools: [[["minValues", "type", 2]]],
      pods: [{ ...plain(), cpu: "3500m", count: 2 }],
    }),
  },
  {
    title: "02:X-20 a label that neither pool nor type knows is told as such, pool by pool",
    draft: world({
      pools: [[], [["label", "team", "blue"]]],
      nodes: [existing("a", ["label", "team", "red"])],
      pods: [
        { ...plain(), app: "y" },
        { ...plain(["apart", "team", { app: "y" }, {}]), app: "y" },
      ],
    }),
  },
  {
    title: "02:E-2 volumes of this round count towards a node's limit",
    draft: world({
      nodes: [existing("a", ["volumeLimit", 1])],
      pods: [plain(["volume", "v0"]), plain(["volume", "v1"]), plain(["volume", "v0"])],
    }),
  },
  {
    title: "02:Q-40 the last constraint takes the slot of the one that is dropped",
    draft: world({
      pods: [
        plain(
          ["spread", "rack", { whenUnsatisfiable: "ScheduleAnyway" }],
          ["spread", "shelf", {}],
          ["spread", "row", {}],
        ),
      ],
    }),
  },
];

interface Parts {
  readonly seed?: number;
  readonly policy?: ProblemDraft["policy"];
  readonly types?: readonly (readonly TypeTrait[])[];
  readonly pools?: readonly (readonly PoolTrait[])[];
  readonly nodes?: readonly NodeDraft[];
  readonly daemons?: readonly PodDraft[];
  readonly pods: readonly PodDraft[];
}

function world({
  seed = 0,
  policy = {},
  types = [[]],
  pools = [[]],
  nodes = [],
  daemons = [],
  pods,
}: Parts): ProblemDraft {
  return {
    seed,
    policy,
    types: types.map((traits) => ({ cpu: 4, traits })),
    pools: pools.map((traits) => ({ traits })),
    nodes,
    daemons,
    pods,
    volumes: [{ claim: "v0" }, { claim: "v1" }],
  };
}

function plain(...traits: readonly PodTrait[]): PodDraft {
  return { count: 1, cpu: "1", app: "x", traits };
}

function existing(zone: string, ...traits: NodeDraft["traits"]): NodeDraft {
  return { zone, cpu: "4", traits };
}
