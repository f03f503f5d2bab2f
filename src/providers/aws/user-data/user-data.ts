import { managedKubelet } from "../../../api/validation/kubelet-managed.ts";
import type { AmiFamily } from "../../../api/vocabulary.ts";
import { bottlerocketUserData } from "./bottlerocket.ts";
import { eksBootstrapUserData } from "./eks-bootstrap.ts";
import { nodeConfigUserData } from "./node-config.ts";
import type { ParsedUserDataRequest, UserDataRequest, UserDataResult } from "./user-data-request.ts";
import { windowsUserData } from "./windows-bootstrap.ts";

/** The text a node boots with, not yet in base64. The user's part comes first and Karpenter's last. (04 §1.9) */
export function renderUserData(request: UserDataRequest): UserDataResult {
  if (request.amiFamily === "Custom") return { kind: "ok", text: request.custom ?? "", warnings: [] };
  const reading = managedKubelet(request.kubelet);
  if (reading.kind === "error") {
    return { kind: "error", code: "invalid-kubelet", message: reading.problem.message };
  }
  return renderers[request.amiFamily]({ ...request, managed: reading.kubelet });
}

const renderers: Readonly<
  Record<Exclude<AmiFamily, "Custom">, (request: ParsedUserDataRequest) => UserDataResult>
> = {
  AL2: eksBootstrapUserData,
  AL2023: nodeConfigUserData,
  Bottlerocket: bottlerocketUserData,
  Windows2019: windowsUserData,
  Windows2022: windowsUserData,
  Windows2025: windowsUserData,
};
