// Writes src/providers/aws/families-data.ts from a file of EC2 families (one JSON document: meta and families).
// Usage: node scripts/import-aws-families.mjs FILE
import { readFileSync, writeFileSync } from "node:fs";

const columns = "vcpu memMiB usdHr eni ipv4PerEni branchEni netMbps ebsMbps nvmeGB accel efa use1 usw2";
const target = new URL("../src/providers/aws/families-data.ts", import.meta.url);

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error("usage: node scripts/import-aws-families.mjs FILE");
const { meta, families } = JSON.parse(readFileSync(file, "utf8"));
if (meta.cols.join(" ") !== columns) throw new Error(`expected columns ${columns}, found ${meta.cols.join(" ")}`);
for (const [name, family] of Object.entries(families)) checkDerivable(name, family);

const flags = (family) => ["core", "retired", "eit"].filter((flag) => family[flag] === 1);
const kept = ({ arch, mfr, mhz, hv, spot, gpu, neuron, accel, cards, types, ...rest }) => ({
  arch,
  mfr,
  mhz,
  hv,
  ...Object.fromEntries(flags(rest).map((flag) => [flag, true])),
  ...(spot && { spot }),
  ...(gpu && { gpu }),
  ...(neuron && { neuron }),
  ...(accel && { accel }),
  ...(cards && { cards }),
  types,
});

writeFileSync(
  target,
  `// Made by scripts/import-aws-families.mjs. Columns of a type: ${columns.replaceAll(" ", ", ")}.
import type { Ec2FamilyRow } from "./family-rows.ts";

${Object.entries(meta.sources)
  .map(([what, source]) => `// ${what}: ${source}`)
  .join("\n")}
export const familyRows: Readonly<Record<string, Ec2FamilyRow>> = {
${Object.entries(families)
  .map(([name, family]) => `${JSON.stringify(name)}:${JSON.stringify(kept(family))},`)
  .join("\n")}
};
`,
);

/** Category and generation are read off the name, and so not kept: they must be what the file says. */
function checkDerivable(name, { cat, gen }) {
  const match = /^([a-z]+)(-[0-9]+tb)?([0-9]+).*\./.exec(`${name}.large`);
  if (match?.[1] !== cat || Number(match?.[3]) !== gen)
    throw new Error(`${name}: expected category ${cat}, generation ${gen}`);
}
