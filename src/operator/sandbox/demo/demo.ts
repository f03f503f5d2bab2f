import { InProcessClient } from "../../../control-plane/in-process-client.ts";
import { Random } from "../../../util/random.ts";
import type { Sandbox } from "../sandbox.ts";
import { DemoActions, DemoTimeout } from "./demo-actions.ts";
import { demoDeployment, demoInfrastructure, oversizedPod } from "./manifests.ts";

export interface DemoOptions {
  /** Prints what the demo does next; the activity reporter prints what the controller makes of it. */
  readonly print: (line: string) => void;
  /** Aborted when the user stops the demo. */
  readonly signal: AbortSignal;
}

interface DemoRun {
  readonly actions: DemoActions;
  readonly print: (line: string) => void;
  /** Pod counts by seed: the same every time. */
  readonly podCounts: DemoPodCounts;
}

interface DemoPodCounts {
  readonly web: number;
  readonly peak: number;
  readonly api: number;
}

const demoSteps: readonly ((demoRun: DemoRun) => Promise<void>)[] = [
  podsArrive,
  loadRises,
  tooLarge,
  spotInterrupted,
  loadFalls,
  closeDown,
];

/** Shows scaling up and down on the running sandbox, and leaves it as it was. */
export async function runDemoSteps(
  { api, cloud }: Pick<Sandbox, "api" | "cloud">,
  { print, signal }: DemoOptions,
): Promise<void> {
  const client = new InProcessClient(api, { fieldManager: "demo" });
  const actions = new DemoActions({ client, cloud, clock: api.clock, signal });
  const random = new Random("demo");
  const web = 10 + random.int(6);
  const demoRun: DemoRun = { actions, print, podCounts: { web, peak: 4 * web, api: 4 + random.int(3) } };
  try {
    for (const step of demoSteps) await step(demoRun);
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof DemoTimeout)) throw error;
    print(`The demo stops here: ${error.message}.`);
  }
}

async function podsArrive({ actions, print, podCounts }: DemoRun): Promise<void> {
  print(`Demo: ${podCounts.web} web pods and ${podCounts.api} larger api pods are created; there is no node for them.`);
  await actions.apply(
    ...demoInfrastructure,
    demoDeployment("api", { replicas: podCounts.api, cpu: "2", memory: "8Gi" }),
    demoDeployment("web", { replicas: podCounts.web, cpu: "1", memory: "2Gi" }),
  );
  await actions.untilRunning(podCounts.web + podCounts.api);
  print(`${await actions.summary()}. Try: kubectl get nodeclaims; kubectl get pods -n demo -o wide`);
}

async function loadRises({ actions, print, podCounts }: DemoRun): Promise<void> {
  print(`Demo: load rises, web grows from ${podCounts.web} to ${podCounts.peak} pods.`);
  await actions.scale("web", podCounts.peak);
  await actions.untilRunning(podCounts.peak + podCounts.api);
  print(`${await actions.summary()}.`);
}

async function tooLarge({ actions, print }: DemoRun): Promise<void> {
  print("Demo: a pod requests 1000 cores.");
  await actions.apply(oversizedPod);
  await actions.untilRefused(oversizedPod);
  print("Its events say why it cannot run (kubectl describe pod -n demo giant); now it is deleted.");
  await actions.remove(oversizedPod);
}

async function spotInterrupted({ actions, print, podCounts }: DemoRun): Promise<void> {
  const spotInstance = await actions.busiestSpot();
  if (spotInstance === undefined) return;
  print(`Demo: the cloud interrupts a spot instance, ${spotInstance.claimName}. Its pods move before it terminates.`);
  actions.interrupt(spotInstance);
  await actions.untilGone(spotInstance);
  await actions.untilRunning(podCounts.peak + podCounts.api);
  print(`${await actions.summary()}.`);
}

async function loadFalls({ actions, print, podCounts }: DemoRun): Promise<void> {
  const { web, api, peak } = podCounts;
  print(
    `Demo: load falls, web is scaled from ${peak} to ${web} pods, and the NodePool may be consolidated from now on.`,
  );
  await actions.scale("web", web);
  await actions.untilRunning(web + api);
  await actions.consolidate();
  await actions.untilSettled();
  await actions.untilRunning(web + api);
  print(`${await actions.summary()}. Why a node stays: karpenter explain node NAME --kubeconfig "$KUBECONFIG"`);
}

async function closeDown({ actions, print }: DemoRun): Promise<void> {
  print("Demo: everything is scaled to 0. Nobody deletes the nodes: they are empty, and go by themselves.");
  await actions.scale("web", 0);
  await actions.scale("api", 0);
  await actions.untilRunning(0);
  await actions.untilNoNodes();
  await actions.remove(...[...demoInfrastructure].reverse());
  print("Demo finished. All nodes are terminated; the sandbox keeps running.");
}
