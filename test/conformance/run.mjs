// Builds what the conformance run needs, then runs it, bundled (Node 20 does not read TypeScript), in a network of its own.
// In there upstream's controller may listen on every address and on fixed ports, and nobody outside can reach it. The network
// ends with the run. It has a private address besides loopback, because the API server's pod proxy refuses loopback.
import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));
const outfile = fileURLToPath(new URL("../../node_modules/.cache/conformance/main.mjs", import.meta.url));
const address = "10.254.0.1";

/** Runs a script that prints the path of what it made as its last line. */
function made(script) {
  const { status, stdout } = spawnSync(`${root}scripts/${script}`, { stdio: ["ignore", "pipe", "inherit"] });
  if (status !== 0) process.exit(status ?? 1);
  return stdout.toString().trimEnd().split("\n").at(-1);
}

function namespace() {
  const up = `ip link set lo up && ip address add ${address}/32 dev lo && exec "$@"`;
  const user = process.getuid?.() === 0 ? [] : ["--map-root-user"];
  const command = ["unshare", ...user, "--net", "--", "sh", "-c", up, "sh"];
  const { status } = spawnSync(command[0], [...command.slice(1), "true"], { stdio: "ignore" });
  if (status === 0) return command;
  console.error(
    "conformance: cannot make a network namespace, in which the control plane and the controller run.\n" +
      "It takes unshare and ip (Debian: util-linux, iproute2), and root or user namespaces.",
  );
  process.exit(1);
}

await build({
  entryPoints: [fileURLToPath(new URL("main.ts", import.meta.url))],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  sourcemap: "inline",
  logLevel: "warning",
  banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
});
await import("../../scripts/bundle-cli.mjs"); // the controller under test is what users run

const env = { ...process.env, CONFORMANCE_PROGRAMS: made("setup-conformance.sh"), CONFORMANCE_ADDRESS: address };
made("setup-cluster.sh");
const [command, ...args] = [...namespace(), process.execPath, outfile, ...process.argv.slice(2)];
const child = spawn(command, args, { stdio: "inherit", env, cwd: root });
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
