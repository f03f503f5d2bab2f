import { isDeepStrictEqual } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { Admission } from "../../src/api/admission.ts";
import { customResourceDefinition } from "../../src/api/crd.ts";
import { type KarpenterKind, karpenterKindOf, karpenterKindsOf } from "../../src/api/kinds/karpenter-kinds.ts";
import { type Provider, providers } from "../../src/api/label-policy.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { type Case, casesFor, change, getAt, storedBefore, updatesStatus } from "../corpus/case.ts";
import { corpus, holdsUnder } from "../corpus/corpus.ts";
import { eventually } from "./eventually.ts";
import { applyCrds, connect, type Kube, type Reply } from "./kube.ts";
import { describeOnCluster } from "./shared.ts";

interface Verdict {
  readonly one: Case;
  readonly reply: Reply;
}

describeOnCluster("the corpus on a real kube-apiserver", (cluster) => {
  const kube = connect(cluster);

  describe.each(providers)("with the CRDs of provider %s", (provider) => {
    const cases = corpus.filter((one) => holdsUnder(one, provider));
    let verdicts: readonly Verdict[] = [];
    beforeAll(async () => {
      await install(provider);
      verdicts = await inBatches(cases, async (one, index) => ({
        one,
        reply: await ask(kube, one, `case-${provider}-${index}`),
      }));
    });

    it("agrees with our admission on every object", () => {
      const disagreements = verdicts.filter(
        ({ one, reply }) => (reply.status < 300 ? "accept" : "refuse") !== one.verdict,
      );
      const refusedOddly = verdicts.filter(
        ({ reply }) => reply.status >= 300 && reply.status !== 422 && reply.status !== 400,
      );
      console.log(`provider ${provider}: ${verdicts.length} objects compared, ${disagreements.length} disagreements`);
      expect(verdicts.length).toBeGreaterThanOrEqual(400);
      expect(disagreements.map(brief)).toEqual([]);
      expect(refusedOddly.map(brief)).toEqual([]);
    });

    it("stores what our admission would store", () => {
      const admission = new Admission(provider);
      const accepted = verdicts.filter(({ reply }) => reply.status < 300);
      const odd = accepted.filter(
        ({ one, reply }) => !isDeepStrictEqual(content(reply.body), content(admission.admit(one.object).object)),
      );
      expect(odd.map(({ one, reply }) => `${one.title}: stored as ${JSON.stringify(content(reply.body))}`)).toEqual([]);
      for (const { one, reply } of accepted) {
        for (const [path, value] of Object.entries(one.stored ?? {})) {
          expect(getAt(reply.body, path), `${one.title}: ${path}`).toEqual(value);
        }
      }
    });
  });

  async function install(provider: Provider): Promise<void> {
    await applyCrds(
      cluster,
      karpenterKindsOf("all").map((kind) => customResourceDefinition(kind, provider)),
    );
    await eventually(
      `the rules of ${provider} are in force`,
      async () => (await servedRules(kube)) === expectedRules(provider) || undefined,
    );
  }
});

/** A schema change takes the server a moment: these keys tell whose rules it applies now. */
const probes: readonly (readonly [domain: string, owner: Provider])[] = [
  ["karpenter.k8s.aws", "aws"],
  ["karpenter.kwok.sh", "kwok"],
  ["karpenter.azure.com", "azure"],
];
const probedKinds = ["NodePool", "NodeClaim", "NodeOverlay"] as const;

async function servedRules(kube: Kube): Promise<string> {
  const answers: string[] = [];
  for (const kind of probedKinds) {
    for (const [domain] of probes) {
      const list = kind === "NodePool" ? "spec.template.spec.requirements" : "spec.requirements";
      const probe = casesFor(kind).refuse("probe", { [list]: [{ key: `${domain}/unknown`, operator: "Exists" }] });
      answers.push((await ask(kube, probe, "probe")).status < 300 ? "open" : "closed");
    }
  }
  return answers.join();
}

function expectedRules(provider: Provider): string {
  return probedKinds
    .flatMap(() => probes.map(([, owner]) => (provider === "all" || provider === owner ? "closed" : "open")))
    .join();
}

/** A few at a time: the server answers them side by side. */
async function inBatches<T, R>(
  items: readonly T[],
  work: (item: T, index: number) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += 16) {
    const batch = items.slice(start, start + 16);
    results.push(...(await Promise.all(batch.map((item, offset) => work(item, start + offset)))));
  }
  return results;
}

/** Creates, or updates after creating the old form, without storing the answer. */
async function ask(kube: Kube, one: Case, name: string): Promise<Reply> {
  const { object } = one;
  const kind = karpenterKindOf(object.apiVersion, object.kind);
  if (kind === undefined) throw new Error(`${object.kind} is no kind of ours`);
  const path = collection(kind, object);
  const dryRun = { query: { dryRun: "All" } };
  const named = renamed(object, name);
  const before = storedBefore(one);
  if (before === undefined) return kube.request("POST", path, named, dryRun);
  const created = await kube.request("POST", path, renamed(before, name));
  if (created.status !== 201)
    throw new Error(`${one.title}: the old object was refused: ${JSON.stringify(created.body)}`);
  const resourceVersion = getAt(created.body, "metadata.resourceVersion");
  const target = updatesStatus(object) ? `${path}/${name}/status` : `${path}/${name}`;
  const reply = await kube.request(
    "PUT",
    target,
    change(named, { "metadata.resourceVersion": resourceVersion }),
    dryRun,
  );
  await kube.request("DELETE", `${path}/${name}`);
  return reply;
}

function content(object: unknown): unknown {
  const { spec, status } = object as KubeObject;
  return { spec, status };
}

/** Cases about names keep theirs. */
function renamed(object: KubeObject, name: string): KubeObject {
  return object.metadata.name === "case" ? change(object, { "metadata.name": name }) : object;
}

function collection(kind: KarpenterKind, object: KubeObject): string {
  const namespace = kind.scope === "Namespaced" ? `/namespaces/${object.metadata.namespace ?? "default"}` : "";
  return `/apis/${kind.group}/${kind.version}${namespace}/${kind.plural}`;
}

function brief({ one, reply }: Verdict): string {
  return `${one.title}: expected ${one.verdict}, got ${reply.status} ${String(getAt(reply.body, "message") ?? "")}`;
}
