import { homedir } from "node:os";
import { httpClient } from "../kube/http-client.ts";
import { loadConnection } from "../kube/kubeconfig.ts";
import { realMachine } from "../kube/machine.ts";
import { nodeTransport } from "../kube/node-transport.ts";
import { systemClock } from "../util/clock.ts";
import type { Io } from "./io.ts";
import type { Connect } from "./live.ts";

/** As large as a page of pods may be, over a slow line. */
const timeoutMs = 60_000;

/** A cluster of a kubeconfig, as kubectl would find it. Loaded only by commands that talk to one. */
export function connectTo(io: Pick<Io, "env">): Connect {
  return async ({ kubeconfig, context }) => {
    const clock = systemClock();
    const machine = realMachine({ env: io.env, homeDir: homedir() });
    const connection = await loadConnection({ machine, clock, path: kubeconfig, context });
    const transport = nodeTransport(connection);
    return {
      kube: httpClient({ transport, clock, userAgent: "karpenter", timeoutMs }),
      server: connection.server,
      clock,
      close: () => transport.close(),
    };
  };
}
