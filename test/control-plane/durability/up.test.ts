import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { runUp } from "../../cli/run-up.ts";
import { type FakeIo, fakeIo } from "../../conversion/fake-io.ts";

const folder = mkdtempSync(join(tmpdir(), "karpenter-data-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const env = { XDG_STATE_HOME: folder };
const kubeconfig = join(folder, "kubeconfig");

async function up(
  data: string,
  args: readonly string[],
  meanwhile: () => Promise<void> = async () => {},
): Promise<FakeIo> {
  const io = fakeIo({ env });
  const usual = ["--plain-http", "--kubeconfig", kubeconfig, "--data-dir", join(folder, data)];
  await runUp(io, [...usual, ...args], meanwhile);
  return io;
}

interface Listed {
  readonly items: readonly { readonly metadata: { readonly name: string; readonly creationTimestamp: string } }[];
}

async function ask<T>(path: string, post?: object): Promise<T> {
  const { clusters, users } = JSON.parse(readFileSync(kubeconfig, "utf8"));
  const headers = { authorization: `Bearer ${users[0].user.token}`, "content-type": "application/json" };
  const options = post === undefined ? { headers } : { headers, method: "POST", body: JSON.stringify(post) };
  return (await (await fetch(`${clusters[0].cluster.server}${path}`, options)).json()) as T;
}

async function names(path: string): Promise<readonly string[]> {
  return (await ask<Listed>(path)).items.map(({ metadata }) => metadata.name);
}

const maps = "/api/v1/namespaces/default/configmaps";
const map = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });

it("05:CP-T5 --data-dir: the next start goes on with the same objects and the same machines", async () => {
  const first = await up("kept", ["--nodes", "2"], async () => void (await ask(maps, map("kept"))));
  expect(first.out()).toContain(`the cluster is saved in ${join(folder, "kept")}`);
  const second = await up("kept", [], async () => {
    expect(await names(maps)).toEqual(["kept"]);
    expect(await names("/api/v1/nodes")).toEqual(["control-plane", "node-1", "node-2"]);
  });
  expect([first.err(), second.err(), second.code()]).toEqual(["", "", undefined]);
});

it("05:CP-T2 --data-dir: time that ran faster goes on from where it was", async () => {
  await up("fast", ["--speed", "86400"], async () => {
    await new Promise((resolve) => setTimeout(resolve, 30));
    await ask(maps, map("then"));
  });
  await up("fast", ["--speed", "1"], async () => {
    await ask(maps, map("now"));
    const [now, then] = (await ask<Listed>(maps)).items.map(({ metadata }) => Date.parse(metadata.creationTimestamp));
    expect(then).toBeGreaterThan(Date.now() + 600_000);
    expect(now).toBeGreaterThanOrEqual(then ?? Number.NaN);
  });
});

it("05:CP-T5 --data-dir: a damaged journal is refused with the line, and --recover is the way out", async () => {
  await up("damaged", [], async () => void (await ask(maps, map("kept"))));
  const path = join(folder, "damaged", "journal.1");
  writeFileSync(path, readFileSync(path, "utf8").replace('"name":"kept"', '"name":"bent"'));
  const refused = await up("damaged", []);
  expect(refused.code()).toBe(1);
  expect(refused.err()).toMatch(/cannot start the control plane: .*journal.1 is damaged at line \d+ .*--recover/);
  const recovered = await up("damaged", ["--recover"], async () => expect(await names(maps)).toEqual([]));
  expect(recovered.err()).toMatch(/^warning: .*kept the \d+ writes before line \d+/);
  expect(recovered.code()).toBeUndefined();
  const files = readdirSync(join(folder, "damaged")).filter((name) => name.startsWith("journal"));
  expect(files).toEqual(["journal.1", "journal.1.damaged-1"]);
});
