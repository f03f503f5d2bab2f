import type { MotoImage } from "./moto.ts";

const amazon = "602401143452";

function image(ami_id: string, name: string, architecture: MotoImage["architecture"]): MotoImage {
  return { ami_id, name, architecture, owner_id: amazon };
}

/** The images of our account's region: two releases of each, to drift from one to the other. */
export const motoImages: readonly MotoImage[] = [
  image("ami-0a00000000000001", "amazon-eks-node-al2023-x86_64-standard-1.33-v20260101", "x86_64"),
  image("ami-0a00000000000002", "amazon-eks-node-al2023-arm64-standard-1.33-v20260101", "arm64"),
  image("ami-0a00000000000003", "amazon-eks-node-al2023-x86_64-nvidia-1.33-v20260101", "x86_64"),
  image("ami-0a00000000000004", "amazon-eks-node-al2023-x86_64-neuron-1.33-v20260101", "x86_64"),
  image("ami-0b00000000000001", "amazon-eks-node-al2023-x86_64-standard-1.33-v20260201", "x86_64"),
  image("ami-0b00000000000002", "amazon-eks-node-al2023-arm64-standard-1.33-v20260201", "arm64"),
  image("ami-0b00000000000003", "amazon-eks-node-al2023-x86_64-nvidia-1.33-v20260201", "x86_64"),
];
