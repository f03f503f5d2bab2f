import { labels } from "../../api/labels.ts";
import { conflicts } from "../compatibility.ts";
import { clash, hostPortsOf } from "../host-ports.ts";
import { Requirement } from "../requirement.ts";
import type { Seeker } from "../scheduling/claims.ts";
import type { NodeSeat, Pass } from "../scheduling/pass-state.ts";
import type { TopologyRule } from "../scheduling/pod-class.ts";
import { allUntolerated, formatTaint } from "../tolerations.ts";
import { exceedsLimits } from "../volumes.ts";
import type { FailedCheck, NodeFinding, Reason } from "./explanation.ts";
import { labelReasons } from "./reasons.ts";

/** Every check a node fails, each on its own, as the round left the node. (02 §5.4) */
export function nodeFinding(pass: Pass, seeker: Seeker, seat: NodeSeat): NodeFinding {
  const checks = [
    ...failed("E-1", taintReasons(seeker, seat)),
    ...failed("E-2", volumeLimitReasons(seeker, seat)),
    ...failed("E-3", portReasons(seeker, seat)),
    ...failed("E-4", resourceReasons(pass, seeker, seat)),
    ...failed("E-5", requirementReasons(seeker, seat)),
    ...failed("E-6", [...volumeReasons(seeker, seat), ...topologyReasons(pass, seeker, seat)]),
  ];
  return { node: seat.node.name, checks };
}

function failed(check: FailedCheck["check"], reasons: readonly Reason[]): readonly FailedCheck[] {
  return reasons.map((reason) => ({ check, reason }));
}

function taintReasons({ variant }: Seeker, { node }: NodeSeat): readonly Reason[] {
  return allUntolerated(variant.tolerations, node.taints).map((taint) => ({
    code: "taint",
    taint: formatTaint(taint),
  }));
}

function volumeLimitReasons({ entry }: Seeker, { volumes }: NodeSeat): readonly Reason[] {
  const excess = exceedsLimits(volumes, entry.podClass.volumes);
  return excess === undefined
    ? []
    : [{ code: "volume-limit", driver: excess.driver, limit: excess.limit, wanted: excess.count }];
}

function portReasons({ entry }: Seeker, seat: NodeSeat): readonly Reason[] {
  const found = clash(hostPortsOf(entry.pod), seat.hostPorts);
  if (found === undefined) return [];
  const { port, protocol } = found.wanted;
  return [{ code: "host-port", port, protocol, owner: found.existing.owner }];
}

/** What daemons still to come will take is gone already. */
function resourceReasons({ space, requests }: Pass, { entry }: Seeker, { remaining }: NodeSeat): readonly Reason[] {
  const asked = requests.get(entry.podClass) ?? space.zero();
  const written = space.toResources(asked, () => true);
  const left = space.toResources(remaining, () => true);
  return space.dimensions.flatMap(({ name }, index): readonly Reason[] => {
    const [wanted, there] = [asked[index] ?? 0, remaining[index] ?? 0];
    if (there >= 0 && wanted <= there) return [];
    const [askedText = "0", available = "0"] = [written[name], left[name]].map((one) => one?.canonical());
    return [{ code: "resources", resource: name, asked: askedText, available }];
  });
}

function requirementReasons({ variant }: Seeker, { outline, node }: NodeSeat): readonly Reason[] {
  const { hostname, incoming } = variant;
  const onHost = outline.requirements.add(Requirement.in(labels.hostname, [node.hostname]));
  const asked = hostname === undefined ? incoming.requirements : incoming.requirements.add(hostname);
  return labelReasons("requirements", conflicts(onHost, asked));
}

/** One alternative will do; if none does, the last says why. */
function volumeReasons({ entry }: Seeker, { outline }: NodeSeat): readonly Reason[] {
  const all = entry.podClass.volumeAlternatives.map(({ requirements }) =>
    conflicts(outline.requirements, requirements),
  );
  const last = all.at(-1);
  return last === undefined || all.some((found) => found.length === 0) ? [] : labelReasons("volume-requirements", last);
}

function topologyReasons(pass: Pass, { variant }: Seeker, seat: NodeSeat): readonly Reason[] {
  return variant.rules
    .filter((rule) => !isContent(rule, seat))
    .map(({ group }) => {
      const { kind, key } = group.spec;
      const id = seat.outline.get(key);
      const domain = group.isHostname ? seat.node.hostname : id === undefined ? undefined : pass.table.get(id).only;
      return { code: "topology", kind, key, counts: domain === undefined ? {} : { [domain]: countIn(group, domain) } };
    });
}

function isContent({ group, self, podDomains }: TopologyRule, { index, outline }: NodeSeat): boolean {
  if (group.isHostname) return group.allowsHost(index, { self, pod: podDomains });
  return group.options(podDomains, outline.get(group.spec.key), self).length > 0;
}

function countIn(group: TopologyRule["group"], domain: string): number {
  if (group.isHostname) return group.hostnames.get(domain) ?? 0;
  return group.counts[group.domains.indexOf(domain)] ?? 0;
}
