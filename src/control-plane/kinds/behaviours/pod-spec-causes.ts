import { type FieldPath, formatPath } from "../../../api/problem.ts";
import { dnsLabelError } from "../../../api/validation/names.ts";
import { Quantity } from "../../../util/quantity.ts";
import {
  duplicateValue,
  invalidValue,
  requiredValue,
  type StatusCause,
  unsupportedValue,
} from "../../api/api-errors.ts";
import { listAt, recordAt, textAt } from "../../object-fields.ts";
import type { JsonObject } from "../object-draft.ts";

const restartPolicies = ["Always", "OnFailure", "Never"];
const pullPolicies = ["Always", "IfNotPresent", "Never"];
const protocols = ["TCP", "UDP", "SCTP"];
const taintEffects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const tolerationOperators = ["Equal", "Exists", "Lt", "Gt"];

const maxInt32 = 2 ** 31 - 1;

/** What is invalid in a pod spec, of a pod or a template. */
export function podSpecCauses(spec: JsonObject, path: FieldPath): readonly StatusCause[] {
  const causes: StatusCause[] = [];
  const containers = listAt(spec, "containers");
  if (containers.length === 0) causes.push(requiredValue([...path, "containers"]));
  const names = new Set<string>();
  for (const field of ["initContainers", "containers"] as const) {
    for (const [index, container] of listAt(spec, field).entries()) {
      causes.push(...containerCauses(container, [...path, field, index]));
      const name = textAt(container, "name");
      if (names.has(name)) causes.push(duplicateValue([...path, field, index, "name"], name));
      names.add(name);
    }
  }
  causes.push(...choiceCauses(spec, "restartPolicy", { path, choices: restartPolicies }));
  const grace = spec["terminationGracePeriodSeconds"];
  if (typeof grace === "number" && grace < 0) {
    causes.push(invalidValue([...path, "terminationGracePeriodSeconds"], grace, "must be greater than or equal to 0"));
  }
  const deadline = spec["activeDeadlineSeconds"];
  if (typeof deadline === "number" && (deadline < 1 || deadline > maxInt32)) {
    const because = `must be between 1 and ${maxInt32}, inclusive`;
    causes.push(invalidValue([...path, "activeDeadlineSeconds"], deadline, because));
  }
  causes.push(...volumeCauses(spec, path), ...tolerationCauses(spec, path), ...spreadCauses(spec, path));
  return causes;
}

function containerCauses(container: JsonObject, path: FieldPath): readonly StatusCause[] {
  const causes: StatusCause[] = [];
  const name = textAt(container, "name");
  if (name === "") causes.push(requiredValue([...path, "name"]));
  else {
    const error = dnsLabelError(name);
    if (error !== undefined) causes.push(invalidValue([...path, "name"], name, error));
  }
  if (textAt(container, "image") === "") causes.push(requiredValue([...path, "image"]));
  causes.push(...choiceCauses(container, "imagePullPolicy", { path, choices: pullPolicies }));
  const portNames = new Set<string>();
  for (const [index, port] of listAt(container, "ports").entries()) {
    const at = [...path, "ports", index];
    const portName = textAt(port, "name");
    if (portNames.has(portName)) causes.push(duplicateValue([...at, "name"], portName));
    if (portName !== "") portNames.add(portName);
    const number = port["containerPort"];
    if (typeof number !== "number" || number === 0) causes.push(requiredValue([...at, "containerPort"]));
    else if (number < 0 || number > 65_535) {
      causes.push(invalidValue([...at, "containerPort"], number, "must be between 1 and 65535, inclusive"));
    }
    causes.push(...choiceCauses(port, "protocol", { path: at, choices: protocols }));
  }
  return [...causes, ...resourceCauses(recordAt(container, "resources"), [...path, "resources"])];
}

/** Not negative, and no request above its limit. */
function resourceCauses(resources: JsonObject | undefined, path: FieldPath): readonly StatusCause[] {
  const causes: StatusCause[] = [];
  for (const field of ["limits", "requests"]) {
    for (const [name, text] of Object.entries(recordAt(resources, field) ?? {})) {
      const amount = Quantity.tryParse(String(text));
      if (amount !== undefined && amount.sign() < 0) {
        causes.push(invalidValue([...path, field, name], text, "must be greater than or equal to 0"));
      }
    }
  }
  const limits = recordAt(resources, "limits") ?? {};
  for (const [name, text] of Object.entries(recordAt(resources, "requests") ?? {})) {
    if (!Object.hasOwn(limits, name)) continue;
    const [request, limit] = [Quantity.tryParse(String(text)), Quantity.tryParse(String(limits[name]))];
    if (request !== undefined && limit !== undefined && request.cmp(limit) > 0) {
      const because = `must be less than or equal to ${name} limit of ${limits[name]}`;
      causes.push(invalidValue([...path, "requests"], text, because));
    }
  }
  return causes;
}

function volumeCauses(spec: JsonObject, path: FieldPath): readonly StatusCause[] {
  const causes: StatusCause[] = [];
  const volumes = new Set<string>();
  for (const [index, volume] of listAt(spec, "volumes").entries()) {
    const name = textAt(volume, "name");
    const at = [...path, "volumes", index, "name"];
    if (name === "") causes.push(requiredValue(at));
    else if (volumes.has(name)) causes.push(duplicateValue(at, name));
    volumes.add(name);
  }
  for (const field of ["initContainers", "containers"]) {
    for (const [index, container] of listAt(spec, field).entries()) {
      for (const [at, mount] of listAt(container, "volumeMounts").entries()) {
        const name = textAt(mount, "name");
        if (volumes.has(name)) continue;
        const place = [...path, field, index, "volumeMounts", at, "name"];
        causes.push({
          reason: "FieldValueNotFound",
          message: `Not found: ${JSON.stringify(name)}`,
          field: formatPath(place),
        });
      }
    }
  }
  return causes;
}

function tolerationCauses(spec: JsonObject, path: FieldPath): readonly StatusCause[] {
  return listAt(spec, "tolerations").flatMap((toleration, index) => {
    const at = [...path, "tolerations", index];
    return [
      ...choiceCauses(toleration, "operator", { path: at, choices: tolerationOperators }),
      ...choiceCauses(toleration, "effect", { path: at, choices: taintEffects }),
    ];
  });
}

function spreadCauses(spec: JsonObject, path: FieldPath): readonly StatusCause[] {
  return listAt(spec, "topologySpreadConstraints").flatMap((constraint, index): StatusCause[] => {
    const at = [...path, "topologySpreadConstraints", index];
    const causes: StatusCause[] = [];
    const skew = constraint["maxSkew"];
    if (typeof skew !== "number" || skew <= 0) {
      causes.push(invalidValue([...at, "maxSkew"], skew ?? 0, "must be greater than zero"));
    }
    if (textAt(constraint, "topologyKey") === "")
      causes.push(requiredValue([...at, "topologyKey"], "can not be empty"));
    const when = textAt(constraint, "whenUnsatisfiable");
    if (when !== "DoNotSchedule" && when !== "ScheduleAnyway") {
      causes.push(unsupportedValue([...at, "whenUnsatisfiable"], when, ["DoNotSchedule", "ScheduleAnyway"]));
    }
    return causes;
  });
}

function choiceCauses(
  parent: JsonObject,
  field: string,
  { path, choices }: { readonly path: FieldPath; readonly choices: readonly string[] },
): readonly StatusCause[] {
  const value = textAt(parent, field);
  return value === "" || choices.includes(value) ? [] : [unsupportedValue([...path, field], value, choices)];
}
