import { InProcessClient } from "../../../control-plane/in-process-client.ts";
import { Random } from "../../../util/random.ts";
import type { Sandbox } from "../sandbox.ts";
import { DemoActions, DemoTimeout } from "./demo-actions.ts";
import { demoDeployment, demoInfrastructure, oversizedPod } from "./manifests.ts";

export interface DemoOptions {
  /** What the demo is about to show, a line each; the narrator tells what comes of it. */
  readonly print: (line: string) => void;
  /** Aborted when the user has had enough. */
  readonly signal: AbortSignal;
}

interface DemoRun {
  readonly actions: DemoActions;
  readonly print: (line: string) => void;
  /** How many pods the day brings: by seed, so that it is the same day every time. */
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

/** A day in the life of a cluster, on the live sandbox; it ends by itself with a cluster as quiet as before. */
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
  print(
    `Demo: a shop opens. ${podCounts.web} web pods and ${podCounts.api} larger api pods arrive; there is no node for them.`,
  );
  await actions.apply(
    ...demoInfrastructure,
    demoDeployment("api", { replicas: podCounts.api, cpu: "2", memory: "8Gi" }),
    demoDeployment("web", { replicas: podCounts.web, cpu: "1", memory: "2Gi" }),
  );
  await actions.untilRunning(podCounts.web + podCounts.api);
  print(`${await actions.summary()}. Look: kubectl get nodeclaims; kubectl get pods -n demo -o wide`);
}

async function loadRises({ actions, print, podCounts }: DemoRun): Promise<void> {
  print(`Demo: load rises, web grows from ${podCounts.web} to ${podCounts.peak} pods.`);
  await actions.scale("web", podCounts.peak);
  await actions.untilRunning(podCounts.peak + podCounts.api);
  print(`${await actions.summary()}.`);
}

async function tooLarge({ actions, print }: DemoRun): Promise<void> {
  print("Demo: somebody asks for a pod of 1000 cores.");
  await actions.apply(oversizedPod);
  await actions.untilRefused(oversizedPod);
  print("It says why in its events, as kubectl describe pod -n demo giant shows; now it is deleted.");
  await actions.remove(oversizedPod);
}

async function spotInterrupted({ actions, print, podCounts }: DemoRun): Promise<void> {
  const spotInstance = await actions.busiestSpot();
  if (spotInstance === undefined) return;
  print(`Demo: the cloud wants a spot machine back, ${spotInstance.claimName}. Its pods move before it goes.`);
  actions.interrupt(spotInstance);
  await actions.untilGone(spotInstance);
  await actions.untilRunning(podCounts.peak + podCounts.api);
  print(`${await actions.summary()}.`);
}

async function loadFalls({ actions, print, podCounts }: DemoRun): Promise<void> {
  print("Demo: load falls, web goes to 0.");
  await actions.scale("web", 0);
  await actions.untilRunning(podCounts.api);
  print("Empty nodes are not consolidated yet, so the demo deletes their NodeClaims.");
  await actions.removeEmpty();
  print(`${await actions.summary()}.`);
}

async function closeDown({ actions, print }: DemoRun): Promise<void> {
  print("Demo: the shop closes.");
  await actions.scale("api", 0);
  await actions.untilRunning(0);
  await actions.removeEmpty();
  await actions.remove(...[...demoInfrastructure].reverse());
  print("Demo: over. All nodes are given back; the sandbox stays up for you.");
}
