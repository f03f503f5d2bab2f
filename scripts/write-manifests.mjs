// Writes what deploy/ has from one source: the CustomResourceDefinitions of both charts, and plain manifests rendered from the chart.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const run = (command, ...args) =>
  execFileSync(command, args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
const karpenter = (...args) => run("node", "bin/karpenter.js", ...args);

karpenter("crds", "--provider", "aws", "--output-dir", "deploy/crds");
karpenter("crds", "--provider", "kwok", "--output-dir", "deploy/crds", "KWOKNodeClass");

const helm = run("scripts/setup-helm.sh").trimEnd().split("\n").at(-1);
const values = {
  aws: ["settings.clusterName=CLUSTER_NAME"],
  kwok: ["settings.provider=kwok"],
};
for (const [provider, set] of Object.entries(values)) {
  const rendered = run(
    helm,
    "template",
    "karpenter",
    "deploy/chart",
    "--namespace",
    "karpenter",
    ...set.flatMap((one) => ["--set", one]),
  );
  const head = `# Made by \`npm run manifests\` from deploy/chart with --set ${set.join(" --set ")}\n`;
  writeFileSync(new URL(`../deploy/manifests/${provider}.yaml`, import.meta.url), head + rendered);
}
