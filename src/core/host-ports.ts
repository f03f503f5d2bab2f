import type { Pod } from "../api/kubernetes/pod.ts";
import { namespacedName } from "../api/object.ts";

/** A host port that a pod uses on its node. (02:S-50) */
export interface HostPort {
  readonly ip: string;
  readonly port: number;
  readonly protocol: string;
  /** namespace/name of the pod: it never conflicts with itself. */
  readonly owner: string;
}

/** A wanted port and the one it conflicts with. */
export interface HostPortConflict {
  readonly wanted: HostPort;
  readonly existing: HostPort;
}

const noPorts: readonly HostPort[] = [];
const anyIpv4 = "0.0.0.0";
const anyIpv6 = "::";

/** The ports a pod takes on its node; those of init containers do not count. (02:S-50) */
export function hostPortsOf(pod: Pod): readonly HostPort[] {
  let found: HostPort[] | undefined;
  for (const { ports = [] } of pod.spec.containers ?? []) {
    for (const { hostPort = 0, hostIP, protocol = "TCP" } of ports) {
      if (hostPort === 0) continue;
      found ??= [];
      found.push({ ip: canonicalIp(hostIP), port: hostPort, protocol, owner: namespacedName(pod.metadata) });
    }
  }
  return found ?? noPorts;
}

/** The first wanted port that another pod has. (02:S-50) */
export function hostPortConflict(
  wanted: readonly HostPort[],
  existing: readonly HostPort[],
): HostPortConflict | undefined {
  for (const port of wanted) {
    for (const other of existing) {
      if (port.owner !== other.owner && overlaps(port, other)) return { wanted: port, existing: other };
    }
  }
  return undefined;
}

function overlaps(a: HostPort, b: HostPort): boolean {
  if (a.port !== b.port || a.protocol !== b.protocol) return false;
  return a.ip === b.ip || isUnspecified(a.ip) || isUnspecified(b.ip);
}

function isUnspecified(ip: string): boolean {
  return ip === anyIpv4 || ip === anyIpv6;
}

/** One spelling for each address: IPv6 has many, and may carry an IPv4 address. */
function canonicalIp(written: string | undefined): string {
  if (written === undefined || written === "") return anyIpv4;
  if (!/^[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*$/.test(written)) return written;
  const url = `http://[${written}]`;
  if (!URL.canParse(url)) return written;
  const ip = new URL(url).hostname.slice(1, -1);
  return embeddedIpv4(ip) ?? ip;
}

function embeddedIpv4(ip: string): string | undefined {
  const [, high, low] = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(ip) ?? [];
  if (high === undefined || low === undefined) return undefined;
  return [high, low]
    .map((group) => Number.parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 0xff])
    .join(".");
}
