import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Workload } from "./workloads.ts";

const execute = promisify(execFile);

/** The totals of one answer of the Go implementation. */
export interface OracleTotals {
  readonly pods: number;
  readonly newNodes: number;
  readonly unschedulable: number;
  readonly pricePerHour: number;
  readonly buildMs: number;
  readonly solveMs: number;
  readonly peakHeapMiB: number;
}

const folder = join(tmpdir(), "karpenter-bench");
const mostMs = 15 * 60_000;

/** Asks the oracle once. */
export async function askOracle(binary: string, { name, objects, onSale }: Workload): Promise<OracleTotals> {
  await mkdir(folder, { recursive: true });
  const scenario = join(folder, `${name}.json`);
  await writeFile(scenario, JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
  const types = onSale.text === undefined ? onSale.name : join(folder, `${name}.types.json`);
  if (onSale.text !== undefined) await writeFile(types, onSale.text);
  const { stdout } = await execute(binary, ["-totals", "-instance-types", types, scenario], {
    timeout: mostMs,
    maxBuffer: 64 * 2 ** 20,
  });
  return JSON.parse(stdout) as OracleTotals;
}
