import { isRecord } from "../../../api/object.ts";
import { listAt, recordAt, textAt } from "../../object-fields.ts";
import { ensureRecord, type JsonObject, setDefaults } from "../object-draft.ts";

/** Defaults the API server sets for every pod, also in templates. */
export function podSpecDefaults(spec: JsonObject): void {
  setDefaults(spec, {
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    schedulerName: "default-scheduler",
  });
  ensureRecord(spec, "securityContext");
  const account = textAt(spec, "serviceAccountName") || textAt(spec, "serviceAccount");
  if (account !== "") Object.assign(spec, { serviceAccountName: account, serviceAccount: account });
  for (const field of ["containers", "initContainers", "ephemeralContainers"]) {
    for (const container of listAt(spec, field)) containerDefaults(container, spec["hostNetwork"] === true);
  }
  for (const volume of listAt(spec, "volumes")) volumeDefaults(volume);
}

function containerDefaults(container: JsonObject, hasHostNetwork: boolean): void {
  setDefaults(container, {
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: pullPolicy(textAt(container, "image")),
  });
  ensureRecord(container, "resources");
  for (const port of listAt(container, "ports")) {
    setDefaults(port, { protocol: "TCP" });
    if (hasHostNetwork) setDefaults(port, { hostPort: port["containerPort"] });
  }
  for (const probe of ["livenessProbe", "readinessProbe", "startupProbe"]) probeDefaults(recordAt(container, probe));
  for (const hook of ["postStart", "preStop"]) {
    const get = recordAt(container, "lifecycle", hook, "httpGet");
    if (get !== undefined) setDefaults(get, { scheme: "HTTP", path: "/" });
  }
  for (const variable of listAt(container, "env")) {
    const reference = recordAt(variable, "valueFrom", "fieldRef");
    if (reference !== undefined) setDefaults(reference, { apiVersion: "v1" });
  }
}

/** Images without a fixed tag are always pulled. */
function pullPolicy(image: string): string {
  const name = image.slice(image.lastIndexOf("/") + 1);
  if (name.includes("@")) return "IfNotPresent";
  const colon = name.indexOf(":");
  return colon < 0 || name.slice(colon + 1) === "latest" ? "Always" : "IfNotPresent";
}

/** A missing request defaults to the limit: in pods, not in templates. */
export function requestsFromLimits(resources: JsonObject): void {
  const limits = recordAt(resources, "limits");
  if (limits === undefined) return;
  const requests = ensureRecord(resources, "requests");
  for (const [name, limit] of Object.entries(limits)) if (!Object.hasOwn(requests, name)) requests[name] = limit;
}

function probeDefaults(probe: JsonObject | undefined): void {
  if (probe === undefined) return;
  for (const [field, value] of [
    ["timeoutSeconds", 1],
    ["periodSeconds", 10],
    ["successThreshold", 1],
    ["failureThreshold", 3],
  ] as const) {
    if (probe[field] === undefined || probe[field] === 0) probe[field] = value;
  }
  const get = recordAt(probe, "httpGet");
  if (get !== undefined) setDefaults(get, { scheme: "HTTP", path: "/" });
  const grpc = recordAt(probe, "grpc");
  if (grpc !== undefined && grpc["service"] === undefined) grpc["service"] = "";
}

const readableMode = 0o644;

function volumeDefaults(volume: JsonObject): void {
  if (Object.keys(volume).every((field) => field === "name")) volume["emptyDir"] = {};
  for (const source of ["secret", "configMap", "downwardAPI", "projected"]) {
    const found = recordAt(volume, source);
    if (found !== undefined) setDefaults(found, { defaultMode: readableMode });
  }
  const hostPath = recordAt(volume, "hostPath");
  if (hostPath !== undefined && hostPath["type"] === undefined) hostPath["type"] = "";
  for (const source of listAt(volume, "projected", "sources")) {
    const token = recordAt(source, "serviceAccountToken");
    if (token !== undefined) setDefaults(token, { expirationSeconds: 3600 });
  }
  for (const item of listAt(volume, "downwardAPI", "items")) {
    const reference = recordAt(item, "fieldRef");
    if (reference !== undefined) setDefaults(reference, { apiVersion: "v1" });
  }
  const claim = recordAt(volume, "ephemeral", "volumeClaimTemplate");
  if (claim === undefined) return;
  ensureRecord(claim, "metadata");
  setDefaults(ensureRecord(claim, "spec"), { volumeMode: "Filesystem" });
}

/** Defaults of `spec.template`, wherever a workload keeps one. */
export function templateDefaults(owner: unknown): void {
  if (!isRecord(owner) || !isRecord(owner["template"])) return;
  const template = owner["template"];
  ensureRecord(template, "metadata");
  podSpecDefaults(ensureRecord(template, "spec"));
}
