import { DescribeInstancesCommand, EC2Client } from "@aws-sdk/client-ec2";
import type { KubeClient } from "../../../src/kube/client.ts";
import type { Clock } from "../../../src/util/clock.ts";
import { AccountInstances } from "../account-instances.ts";

export interface MotoInstancesOptions {
  /** Of moto itself: kubelets are not part of our controller. */
  readonly url: string;
  readonly region: string;
  readonly client: KubeClient;
  readonly clock: Clock;
}

/** moto sometimes does not answer a request on a busy machine: it is asked again, or no machine would join any more. */
const answerMs = 10_000;

/** What runs in moto, as machines whose kubelets join the cluster. */
export function motoInstances({ url, region, client, clock }: MotoInstancesOptions): AccountInstances {
  const credentials = { accessKeyId: "kubelet", secretAccessKey: "kubelet" };
  const ec2 = new EC2Client({ region, endpoint: url, credentials });
  const Filters = [{ Name: "instance-state-name", Values: ["pending", "running", "stopping", "stopped"] }];
  const describe = () => {
    const abortSignal = AbortSignal.timeout(answerMs);
    return ec2.send(new DescribeInstancesCommand({ Filters, MaxResults: 1_000 }), { abortSignal });
  };
  const running = async () => {
    const { Reservations = [] } = await describe().catch(describe).catch(describe);
    return Reservations.flatMap(({ Instances = [] }) => Instances);
  };
  return new AccountInstances({ running, client, clock });
}
