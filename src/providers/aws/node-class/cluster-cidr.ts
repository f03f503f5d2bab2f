import type { EksApi } from "../api/aws-api.ts";

/** The CIDR of the cluster's Services, asked for when it is first needed and kept. (04 §5.2) */
export class ClusterCidr {
  readonly #eks: EksApi;
  readonly #clusterName: string;
  #known: string | undefined;

  constructor({ eks, clusterName }: { readonly eks: EksApi; readonly clusterName: string }) {
    this.#eks = eks;
    this.#clusterName = clusterName;
  }

  get known(): string | undefined {
    return this.#known;
  }

  async resolve(): Promise<string> {
    if (this.#known !== undefined) return this.#known;
    const { kubernetesNetworkConfig: network } = await this.#eks.describeCluster(this.#clusterName);
    const cidr = network?.serviceIpv4Cidr ?? network?.serviceIpv6Cidr;
    if (!cidr) throw new Error(`EKS returned no Service CIDR for cluster ${this.#clusterName}`);
    this.#known = cidr;
    return cidr;
  }
}
