import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { hostname, networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { afterAll, describe, expect, it } from "vitest";
import { upCommand } from "../../src/cli/up-command.ts";
import { writePrivateFile } from "../../src/control-plane/http/state-folder.ts";
import { fakeIo } from "../conversion/fake-io.ts";

const folder = mkdtempSync(join(tmpdir(), "karpenter-listen-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function statusOf(url: string, { ca, token }: { ca: string; token: string }): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    get(`${url}/api/v1/nodes`, { ca, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    }).on("error", reject);
  });
}

it("05:CP-S1 --listen 0.0.0.0: the kubeconfig works, and the certificate covers every address of the machine", async () => {
  const kubeconfig = join(folder, "kubeconfig");
  const io = fakeIo({ env: { XDG_STATE_HOME: folder } });
  const asked: string[] = [];
  const untilStopped = async () => {
    const { clusters, users } = JSON.parse(readFileSync(kubeconfig, "utf8"));
    const { server, "certificate-authority-data": data } = clusters[0].cluster;
    const access = { ca: Buffer.from(data, "base64").toString(), token: users[0].user.token };
    const { port } = new URL(server);
    const addresses = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
    const own = addresses.filter(({ family }) => family === "IPv4").map(({ address }) => address);
    for (const url of [server, ...own.map((address) => `https://${address}:${port}`), `https://localhost:${port}`]) {
      expect([url, await statusOf(url, access)]).toEqual([url, 200]);
      asked.push(url);
    }
  };
  const command = new Command("karpenter").addCommand(upCommand(io, { untilStopped, version: "0.0.0" }));
  const args = ["up", "--listen", "0.0.0.0", "--no-controller", "--kubeconfig", kubeconfig];
  await command.parseAsync(args, { from: "user" });
  expect([io.err(), io.code()]).toEqual(["", undefined]);
  expect(asked.length).toBeGreaterThan(2);
  expect(asked[0]).toMatch(/^https:\/\/127\.0\.0\.1:/);
  expect(hostname()).not.toBe("");
  expect(statSync(kubeconfig).mode & 0o777).toBe(0o600);
}, 60_000);

it("05:CP-S1 plain HTTP on all addresses is refused with words", async () => {
  const io = fakeIo({ env: { XDG_STATE_HOME: folder } });
  const command = new Command("karpenter").addCommand(
    upCommand(io, { untilStopped: async () => {}, version: "0.0.0" }),
  );
  await command.parseAsync(["up", "--listen", "0.0.0.0", "--plain-http", "--no-controller"], { from: "user" });
  expect(io.code()).toBe(1);
  expect(io.err()).toContain("cannot serve plain HTTP on 0.0.0.0: it is allowed on loopback only");
}, 60_000);

describe("05:CP-S2 private files", () => {
  it("05:CP-S2 do not follow a link, nor keep the mode of a file that was there", async () => {
    const elsewhere = join(folder, "elsewhere");
    writeFileSync(elsewhere, "untouched");
    const link = join(folder, "link");
    symlinkSync(elsewhere, link);
    const open = join(folder, "open");
    writeFileSync(open, "", { mode: 0o666 });
    for (const path of [link, open]) {
      // Where an earlier version wrote its draft.
      symlinkSync(elsewhere, `${path}.${process.pid}.tmp`);
      await writePrivateFile(path, "secret");
      expect(readFileSync(path, "utf8")).toBe("secret");
      expect(statSync(path).mode & 0o777).toBe(0o600);
    }
    expect(readFileSync(elsewhere, "utf8")).toBe("untouched");
  });
});
