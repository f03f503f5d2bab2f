import { awsLabels, resources } from "../../api/labels.ts";
import type { InstanceType } from "../../core/instance-type.ts";
import { amountOf } from "../../core/resources.ts";

/** How large a machine is, as its vendor counts it. */
export interface MachineSize {
  readonly vcpu: number;
  readonly memoryGiB: number;
  readonly gpus?: number;
  /** Devices that compute but are not called GPU, such as AWS's Neuron. */
  readonly accelerators?: number;
  /** `a100` or `trainium`, if it is known. */
  readonly acceleratorName?: string;
}

/** The size of an instance type. EC2 sells memory of which a node sees less; the label has what is sold. */
export function machineSizeOf({ capacity, requirements }: InstanceType): MachineSize {
  const soldMiB = Number(requirements.get(awsLabels.instanceMemory).singleValue);
  const memoryGiB = soldMiB > 0 ? soldMiB / 1024 : amountOf(capacity, resources.memory).toNumber() / 2 ** 30;
  const most = (isMeant: (name: string) => boolean): number =>
    Math.max(0, ...Object.keys(capacity).flatMap((name) => (isMeant(name) ? amountOf(capacity, name).toNumber() : [])));
  const gpus = most((name) => name.includes("/") && /gpu/i.test(name));
  const accelerators = most((name) => otherAccelerators.has(name));
  const name =
    requirements.get(awsLabels.instanceGpuName).singleValue ??
    requirements.get(awsLabels.instanceAcceleratorName).singleValue;
  return {
    vcpu: amountOf(capacity, resources.cpu).toNumber(),
    memoryGiB: Math.round(memoryGiB * 100) / 100,
    ...(gpus > 0 && { gpus }),
    ...(accelerators > 0 && { accelerators }),
    ...(gpus + accelerators > 0 && name !== undefined && name !== "" && { acceleratorName: name }),
  };
}

const otherAccelerators: ReadonlySet<string> = new Set([resources.neuron, resources.gaudi]);

/** `8 vCPU, 32Gi, 1 GPU (t4)`. */
export function machineText({ vcpu, memoryGiB, gpus, accelerators, acceleratorName }: MachineSize): string {
  const count = (number: number | undefined, noun: string): readonly string[] =>
    number === undefined ? [] : [`${number} ${noun}${number === 1 ? "" : "s"}`];
  const parts = [`${vcpu} vCPU`, `${memoryGiB}Gi`, ...count(gpus, "GPU"), ...count(accelerators, "accelerator")];
  return `${parts.join(", ")}${acceleratorName === undefined ? "" : ` (${acceleratorName})`}`;
}
