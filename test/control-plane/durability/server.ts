// A control plane to be killed: says where it listens, and goes on until somebody ends it.

import { startControlPlane } from "../../../src/control-plane/control-plane.ts";
import { systemClock } from "../../../src/util/clock.ts";

const [folder = "", compactAfterBytes = "0"] = process.argv.slice(2);
const { url, token } = await startControlPlane({
  realClock: systemClock(),
  token: "token",
  host: "127.0.0.1",
  port: 0,
  isPlainHttp: true,
  speed: 1,
  nodes: 0,
  folder,
  data: { folder, recover: false, compactAfterBytes: Number(compactAfterBytes) },
  onInternalError: (error) => process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`),
});
process.stdout.write(`${JSON.stringify({ url, token })}\n`);
