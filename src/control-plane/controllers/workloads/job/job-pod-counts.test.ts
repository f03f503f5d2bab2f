import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../../../test/runs.ts";
import type { ApiPod } from "../../api-pod-and-node.ts";
import type { Job, JobStatus } from "../types.ts";
import { jobTrackingFinalizer } from "../workload-labels.ts";
import { countJobPods } from "./job-pod-counts.ts";

const template = { spec: {} };

function job(status: JobStatus): Job {
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "work", uid: "job" },
    spec: { template, completions: 9 },
    status,
  };
}

function pod(uid: string, phase: string): ApiPod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: uid, uid, finalizers: [jobTrackingFinalizer] },
    spec: { nodeName: "n1" },
    status: { phase },
  };
}

describe("counting finished pods", () => {
  it("05:CP-L5 counts every pod once, wherever it crashes between its writes and whenever pods vanish", () => {
    const step = fc.constantFrom("write", "release-one", "release-all", "vanish", "crash");
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("Succeeded", "Failed", "Running"), { maxLength: 6 }),
        fc.array(step, { minLength: 1, maxLength: 20 }),
        (phases, steps) => {
          let pods: readonly ApiPod[] = phases.map((phase, at) => pod(`p${at}`, phase));
          let status: JobStatus = {};
          // The order of the loop: a note is written before any pod it is about is released.
          let written = countJobPods(job(status), pods);
          let mayRelease = false;
          const podsToRelease = (uids: readonly string[]) => {
            pods = pods.map((one) =>
              uids.includes(one.metadata.uid ?? "") ? { ...one, metadata: { ...one.metadata, finalizers: [] } } : one,
            );
          };
          for (const one of [...steps, "write", "release-all", "write", "write"]) {
            if (one === "crash") mayRelease = false;
            if (one === "vanish")
              pods = pods.filter(
                ({ metadata, status: is }) => (metadata.finalizers ?? []).length > 0 || is?.phase === "Running",
              );
            if (one === "write") {
              written = countJobPods(job(status), pods);
              status = written.status;
              mayRelease = true;
            }
            const uids = written.podsToRelease.map(({ metadata }) => metadata.uid ?? "");
            if (mayRelease && one === "release-one") podsToRelease(uids.slice(0, 1));
            if (mayRelease && one === "release-all") podsToRelease(uids);
          }
          const of = (phase: string) => phases.filter((is) => is === phase).length;
          expect(status.succeeded ?? 0).toBe(of("Succeeded"));
          expect(status.failed ?? 0).toBe(of("Failed"));
          expect(status.uncountedTerminatedPods).toEqual({});
        },
      ),
      { numRuns: runs(20_000) },
    );
  });
});
