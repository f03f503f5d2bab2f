import { kubeletFlags } from "./kubelet-flags.ts";
import type { ParsedUserDataRequest, UserDataResult } from "./user-data-request.ts";

/** Windows: the user's PowerShell, then the bootstrap script of the image. (04 §1.9) */
export function windowsUserData(request: ParsedUserDataRequest): UserDataResult {
  const { cluster, managed, custom } = request;
  const flags = kubeletFlags(request);
  const dns = managed.clusterDNS?.[0];
  const parameters = [
    `-EKSClusterName ${quoted(cluster.name)}`,
    `-APIServerEndpoint ${quoted(cluster.endpoint)}`,
    ...(cluster.caBundle ? [`-Base64ClusterCA ${quoted(cluster.caBundle)}`] : []),
    ...(flags.length > 0 ? [`-KubeletExtraArgs ${quoted(flags.join(" "))}`] : []),
    ...(dns === undefined ? [] : [`-DNSClusterIP ${quoted(dns)}`]),
  ];
  const lines = [
    "<powershell>",
    ...(custom ? [custom] : []),
    `[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1"`,
    `& $EKSBootstrapScriptFile ${parameters.join(" ")}`,
    "</powershell>",
  ];
  return { kind: "ok", text: lines.join("\n"), warnings: [] };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
