import type { ControllerNamespace } from "../controller-namespaces.ts";

/** The options of `karpenter up`, as commander reads them. */
export interface UpOptions {
  readonly port: number;
  readonly listen: string;
  readonly plainHttp?: boolean;
  readonly kubeconfig?: string;
  readonly nodes: number;
  readonly speed: number;
  readonly region?: string;
  readonly controller: boolean;
  readonly controllerNamespace: ControllerNamespace;
  readonly demo?: boolean;
  readonly filename?: readonly string[];
  readonly recursive?: boolean;
  readonly dataDir?: string;
  readonly recover?: boolean;
}
