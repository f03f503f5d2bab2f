import { isIpv6Cluster } from "./cluster-dns.ts";
import { kubeletFlags } from "./kubelet-flags.ts";
import { customMimeParts, mimePart, shellScriptType, writeMimeArchive } from "./mime-archive.ts";
import type { ParsedUserDataRequest, UserDataResult } from "./user-data-request.ts";

/** AL2: a MIME archive whose last part calls the bootstrap script of the image. (04 §1.9) */
export function eksBootstrapUserData(request: ParsedUserDataRequest): UserDataResult {
  const custom = customMimeParts(request.custom, () => shellScriptType);
  if (custom.kind === "error") return { kind: "error", code: "invalid-mime", message: custom.message };
  const own = mimePart(shellScriptType, bootstrapScript(request));
  return { kind: "ok", text: writeMimeArchive([...custom.parts, own]), warnings: [] };
}

/** The script takes its parameters apart from their names, not after an equals sign. */
function bootstrapScript(request: ParsedUserDataRequest): string {
  const { cluster, managed, instanceStorePolicy } = request;
  const dns = managed.clusterDNS?.[0];
  const flags = kubeletFlags(request);
  const caBundle = cluster.caBundle ? ` --b64-cluster-ca ${shellQuoted(cluster.caBundle)}` : "";
  const parts = [
    `/etc/eks/bootstrap.sh ${shellQuoted(cluster.name)} --apiserver-endpoint ${shellQuoted(cluster.endpoint)}${caBundle}`,
    isIpv6Cluster(dns) ? "--ip-family ipv6" : undefined,
    dns === undefined ? undefined : `--dns-cluster-ip ${shellQuoted(dns)}`,
    managed.maxPods === undefined ? undefined : "--use-max-pods false",
    flags.length === 0 ? undefined : `--kubelet-extra-args ${shellQuoted(flags.join(" "))}`,
    instanceStorePolicy === "RAID0" ? "--local-disks raid0" : undefined,
  ].filter((part) => part !== undefined);
  const logging = "exec > >(tee /var/log/user-data.log|logger -t user-data -s 2>/dev/console) 2>&1";
  return `#!/bin/bash -xe\n${logging}\n${parts.join(" \\\n")}`;
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
