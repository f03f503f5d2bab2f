import { shellQuoted } from "../shell-quoted.ts";
import type { KubeconfigClaim } from "./kubeconfig-claim.ts";
import type { UpOptions } from "./up-options.ts";

export interface ReadyTextOptions {
  readonly url: string;
  readonly claim: Pick<KubeconfigClaim, "path" | "other">;
  readonly options: UpOptions;
}

/** Printed when the sandbox is ready: its address, and what to try. */
export function readyText({ url, claim: { path, other }, options }: ReadyTextOptions): string {
  const { controller, speed, dataDir } = options;
  const what = controller ? "sandbox" : "control plane";
  return `The ${what} is ready at ${url}${speed === 1 ? "" : `; time runs ${speed}x faster`}.

  export KUBECONFIG=${shellQuoted(path)}
${other === undefined ? "" : `\nAnother sandbox runs (process ${other.processId}) and keeps ${other.path}; this one has a kubeconfig of its own.\n`}
Try, in another terminal:
${suggestedCommands(options)
  .map((line) => `  ${line}`)
  .join("\n")}

Ctrl-C stops it; ${dataDir === undefined ? "nothing is saved" : `the cluster is saved in ${dataDir}`}.${controller ? " What Karpenter does and why:" : ""}
`;
}

function suggestedCommands({ controller, controllerNamespace, nodes, demo, filename }: UpOptions): readonly string[] {
  if (!controller) {
    return [
      `kubectl get ${nodes > 0 ? "nodes" : "namespaces"}`,
      "kubectl api-resources --api-group=karpenter.sh",
      "kubectl explain nodepool.spec.disruption",
    ];
  }
  const isEmpty = demo !== true && filename === undefined;
  return [
    ...(isEmpty ? ["kubectl apply -f examples/quick-start.yaml   # a NodePool and fifty pods"] : []),
    "kubectl get nodeclaims,nodes",
    "kubectl get pods -A -o wide",
    `kubectl logs -n ${controllerNamespace} deploy/karpenter -f`,
  ];
}
