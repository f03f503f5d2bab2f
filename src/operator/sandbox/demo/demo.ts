import { InProcessClient } from "../../../control-plane/in-process-client.ts";
import { Random } from "../../../util/random.ts";
import type { Sandbox } from "../sandbox.ts";
import { deployment, giant, supply } from "./manifests.ts";
import { DemoStage, NeverHappened } from "./stage.ts";

export interface DemoOptions {
  /** What the demo is about to show, a line each; the narrator tells what comes of it. */
  readonly tell: (line: string) => void;
  /** Aborted when the user has had enough. */
  readonly signal: AbortSignal;
}

interface Play {
  readonly stage: DemoStage;
  readonly tell: (line: string) => void;
  /** How many pods the day brings: by seed, so that it is the same day every time. */
  readonly cast: Cast;
}

interface Cast {
  readonly web: number;
  readonly peak: number;
  readonly api: number;
}

const acts: readonly ((play: Play) => Promise<void>)[] = [
  podsArrive,
  loadRises,
  tooLarge,
  spotIsTaken,
  loadFalls,
  night,
];

/** A day in the life of a cluster, on the live sandbox; it ends by itself with a cluster as quiet as before. */
export async function playDemo(
  { api, cloud }: Pick<Sandbox, "api" | "cloud">,
  { tell, signal }: DemoOptions,
): Promise<void> {
  const client = new InProcessClient(api, { fieldManager: "demo" });
  const stage = new DemoStage({ client, cloud, clock: api.clock, signal });
  const dice = new Random("demo");
  const web = 10 + dice.int(6);
  const play: Play = { stage, tell, cast: { web, peak: 4 * web, api: 4 + dice.int(3) } };
  try {
    for (const act of acts) await act(play);
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof NeverHappened)) throw error;
    tell(`The demo stops here: ${error.message}.`);
  }
}

async function podsArrive({ stage, tell, cast }: Play): Promise<void> {
  tell(`Demo: a shop opens. ${cast.web} web pods and ${cast.api} larger api pods arrive; there is no node for them.`);
  await stage.apply(
    ...supply,
    deployment("api", { replicas: cast.api, cpu: "2", memory: "8Gi" }),
    deployment("web", { replicas: cast.web, cpu: "1", memory: "2Gi" }),
  );
  await stage.untilRunning(cast.web + cast.api);
  tell(`${await stage.summary()}. Look: kubectl get nodeclaims; kubectl get pods -n demo -o wide`);
}

async function loadRises({ stage, tell, cast }: Play): Promise<void> {
  tell(`Demo: load rises, web grows from ${cast.web} to ${cast.peak} pods.`);
  await stage.scale("web", cast.peak);
  await stage.untilRunning(cast.peak + cast.api);
  tell(`${await stage.summary()}.`);
}

async function tooLarge({ stage, tell }: Play): Promise<void> {
  tell("Demo: somebody asks for a pod of 1000 cores.");
  await stage.apply(giant);
  await stage.untilRefused(giant);
  tell("It says why in its events, as kubectl describe pod -n demo giant shows; now it is deleted.");
  await stage.remove(giant);
}

async function spotIsTaken({ stage, tell, cast }: Play): Promise<void> {
  const machine = await stage.busiestSpot();
  if (machine === undefined) return;
  tell(`Demo: the cloud wants a spot machine back, ${machine.claimName}. Its pods move before it goes.`);
  stage.interrupt(machine);
  await stage.untilGone(machine);
  await stage.untilRunning(cast.peak + cast.api);
  tell(`${await stage.summary()}.`);
}

async function loadFalls({ stage, tell, cast }: Play): Promise<void> {
  tell("Demo: load falls, web goes to 0.");
  await stage.scale("web", 0);
  await stage.untilRunning(cast.api);
  tell("Empty nodes are not consolidated yet, so the demo deletes their NodeClaims.");
  await stage.removeEmpty();
  tell(`${await stage.summary()}.`);
}

async function night({ stage, tell }: Play): Promise<void> {
  tell("Demo: the shop closes.");
  await stage.scale("api", 0);
  await stage.untilRunning(0);
  await stage.removeEmpty();
  await stage.remove(...[...supply].reverse());
  tell("Demo: over. All nodes are given back; the sandbox stays up for you.");
}
