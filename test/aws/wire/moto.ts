import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Binaries, builtPath } from "../../cluster/binaries.ts";
import { startChild } from "../../cluster/child.ts";
import { onExit } from "../../cluster/exit-hook.ts";
import { freePorts } from "../../cluster/ports.ts";

/** An image that moto knows from its start. */
export interface MotoImage {
  readonly ami_id: string;
  readonly name: string;
  readonly architecture: "x86_64" | "arm64";
  readonly owner_id: string;
}

/** The Python that has moto, installed first when it is not in the cache. */
export function motoPython(): Promise<Binaries> {
  return builtPath("setup-aws.sh");
}

/** Starts moto on a free port and resolves when it answers. */
export async function startMoto(
  python: string,
  images: readonly MotoImage[],
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "karpenter-moto-"));
  const imagesPath = join(folder, "images.json");
  writeFileSync(imagesPath, JSON.stringify(images.map(withDefaults)));
  const [port] = await freePorts(1);
  const child = await startChild(python, {
    args: ["-m", "moto.server", "-H", "127.0.0.1", "-p", String(port)],
    logPath: join(folder, "moto.log"),
    env: { ...process.env, MOTO_AMIS_PATH: imagesPath },
  });
  const forget = onExit(child.kill);
  const url = `http://127.0.0.1:${port}`;
  await answering(url, child);
  return {
    url,
    stop: async () => {
      forget();
      await child.stop(2_000);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function withDefaults(image: MotoImage) {
  return {
    state: "available",
    public: true,
    virtualization_type: "hvm",
    hypervisor: "xen",
    description: image.name,
    image_type: "machine",
    root_device_name: "/dev/xvda",
    root_device_type: "ebs",
    image_location: `amazon/${image.name}`,
    platform: null,
    sriov: "simple",
    ...image,
  };
}

const startMs = 60_000;

async function answering(url: string, child: { hasExited(): boolean; logTail(): string }): Promise<void> {
  const deadline = performance.now() + startMs;
  while (performance.now() < deadline && !child.hasExited()) {
    const isUp = await fetch(`${url}/moto-api/data.json`).then(
      (response) => response.ok,
      () => false,
    );
    if (isUp) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`moto does not answer:\n${child.logTail()}`);
}
