import type { KubeObject } from "../../api/object.ts";
import type { CloudProvider } from "../../cloud/cloud-provider.ts";
import type { KubeClient } from "../../kube/client.ts";
import { builtInTypes } from "../../kube/resources.ts";
import { errorMessage } from "../../util/error-text.ts";
import type { Logger } from "../../util/logger.ts";
import type { AwsApi, CallOptions } from "./api/aws-api.ts";
import { isAwsError } from "./api/aws-error.ts";
import { awsProvider } from "./aws-provider.ts";
import type { AwsServicesOptions } from "./aws-services.ts";
import { InstanceTypeDiscovery } from "./instance-types/instance-type-discovery.ts";
import { KubernetesVersion } from "./kubernetes-version.ts";
import { ZonalShifts } from "./zonal-shifts.ts";

export interface StartAwsOptions
  extends Pick<
    AwsServicesOptions,
    "aws" | "client" | "clock" | "random" | "log" | "metrics" | "settings" | "usesReservations" | "usesOverlays"
  > {
  /** The certificate authority of our own connection, as PEM. */
  readonly connectionCa: string | undefined;
  /** `major.minor` of the API server. */
  readonly serverVersion: () => Promise<string>;
  readonly signal: AbortSignal;
}

/** Checks that AWS can be reached and learns what launches need. Throws what a person has to mend. (04 §5.2) */
export async function startAwsProvider(options: StartAwsOptions): Promise<CloudProvider> {
  const { aws, client, log, settings, signal } = options;
  await assertEc2Answers(aws, { signal });
  const endpoint = settings.clusterEndpoint ?? (await clusterEndpoint(aws, settings.clusterName, { signal }));
  const dnsIp = await clusterDnsIp(client, log);
  const zonalShifts = settings.hasZonalShift
    ? await startZonalShifts(aws, settings.clusterName, { signal })
    : undefined;
  const version = new KubernetesVersion({
    log,
    read: settings.hasEksControlPlane ? () => eksVersion(aws, settings.clusterName) : options.serverVersion,
  });
  await version.refresh();
  const caBundle = settings.clusterCaBundle ?? caOfConnection(options.connectionCa);
  const discovery = new InstanceTypeDiscovery({ aws, log });
  await discovery.start({ signal });
  return awsProvider({
    ...options,
    cluster: { name: settings.clusterName, endpoint, caBundle, dnsIp },
    discovery,
    zonalShifts,
    kubernetesVersion: () => version.current,
    refreshVersion: () => version.refresh(),
  });
}

/** A dry run that is allowed is refused with a code of its own; mocks answer it. */
async function assertEc2Answers({ ec2, region }: AwsApi, options: CallOptions): Promise<void> {
  try {
    await ec2.describeInstanceTypes({ DryRun: true }, options);
  } catch (error) {
    if (isAwsError(error, "DryRunOperation")) return;
    const hint = "check the region, the credentials and the network of the controller";
    throw new Error(`cannot reach EC2 in region ${region}: ${errorMessage(error)}; ${hint}`, { cause: error });
  }
}

async function clusterEndpoint({ eks }: AwsApi, name: string, options: CallOptions): Promise<string> {
  try {
    const { endpoint } = await eks.describeCluster(name, options);
    if (endpoint) return endpoint;
    throw new Error("EKS returned none");
  } catch (error) {
    throw new Error(
      `the endpoint of cluster ${name} is not known: ${errorMessage(error)}; set --cluster-endpoint, or allow eks:DescribeCluster`,
      { cause: error },
    );
  }
}

type ServiceObject = KubeObject & { readonly spec?: { readonly clusterIP?: string } };

/** Nodes can do without: they then use the default of their image. */
async function clusterDnsIp(client: KubeClient, log: Logger): Promise<string | undefined> {
  try {
    const service = await client.get<ServiceObject>(builtInTypes.Service, {
      namespace: "kube-system",
      name: "kube-dns",
    });
    return service.spec?.clusterIP;
  } catch (error) {
    log.error("cannot read the address of kube-dns: nodes use the default of their image", {
      error: errorMessage(error),
    });
    return undefined;
  }
}

async function startZonalShifts(aws: AwsApi, clusterName: string, options: CallOptions): Promise<ZonalShifts> {
  try {
    const { arn = "" } = await aws.eks.describeCluster(clusterName, options);
    const shifts = new ZonalShifts({ aws, clusterArn: arn });
    await shifts.refresh();
    return shifts;
  } catch (error) {
    const hint = "enable zonal shift for the EKS cluster, or run without --enable-zonal-shift";
    throw new Error(`cluster ${clusterName} is not registered for zonal shift: ${errorMessage(error)}; ${hint}`, {
      cause: error,
    });
  }
}

async function eksVersion({ eks }: AwsApi, name: string): Promise<string> {
  const { version } = await eks.describeCluster(name);
  if (version === undefined) throw new Error(`EKS returned no version for cluster ${name}`);
  return version;
}

function caOfConnection(pem: string | undefined): string {
  if (pem !== undefined) return Buffer.from(pem).toString("base64");
  throw new Error("the certificate authority of the cluster is not known: set --cluster-ca-bundle");
}
