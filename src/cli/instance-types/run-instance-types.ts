import type { RequirementItem } from "../../api/kubernetes/pod.ts";
import { didYouMean } from "../../api/manifest/closest-match.ts";
import { sortedFindings } from "../../api/manifest/finding.ts";
import type { NodeClassRef } from "../../api/node-class-ref.ts";
import { nodeClassesByKey } from "../../core/scenario/node-classes.ts";
import { readInput } from "../input.ts";
import { exitCodes, type Io } from "../io.ts";
import type { PlanProvider } from "../plan/plan-choices.ts";
import { convertDocuments } from "../plan/prepare-input.ts";
import { loadCatalogue, type ProviderCatalogue, servedNodeClasses } from "../plan/provider-catalogue.ts";
import { readPriceBook } from "../prices/read-price-book.ts";
import { reportFindings } from "../report-findings.ts";
import { listInstanceTypes } from "./list-instance-types.ts";
import { type InstanceTypesOutput, renderInstanceTypes } from "./render-instance-types.ts";
import { withFullKeys } from "./requirement-keys.ts";

export interface InstanceTypesRequest {
  readonly provider: PlanProvider;
  readonly region?: string | undefined;
  readonly prices?: readonly string[] | undefined;
  readonly instanceTypes?: string | undefined;
  readonly paths: readonly string[];
  readonly recursive: boolean;
  readonly requirements: readonly RequirementItem[];
  readonly includesUnavailable: boolean;
  readonly output: InstanceTypesOutput;
}

/** Prints the list; returns what is wrong with the command line, if anything is. */
export async function runInstanceTypes(request: InstanceTypesRequest, io: Io): Promise<string | undefined> {
  const { provider, paths, recursive } = request;
  const input = await readInput({ paths, recursive }, io);
  const converted = convertDocuments(input.documents);
  const prices = await readPriceBook(request.prices, io);
  const found = [...input.findings, ...converted.findings, ...prices.findings];
  if (reportFindings(sortedFindings(found, input.sources), io) > 0) {
    io.exit(exitCodes.badInput);
    return undefined;
  }
  const objects = converted.objects.map(({ object }) => object);
  const classes = nodeClassesByKey(objects);
  const opened = await loadCatalogue(
    { ...request, providers: [provider], prices },
    { objects, header: input.header, io },
  );
  if ("refused" in opened) {
    if (opened.refused === "usage") return opened.because;
    io.stderr(`error: ${opened.because}\n`);
    io.exit(exitCodes.badInput);
    return undefined;
  }
  const { kind } = servedNodeClasses[provider];
  const names = [...classes.values()].filter((one) => one.kind === kind).map(({ metadata }) => metadata.name ?? "");
  if (names.length > 1)
    return `the files have ${names.length} objects of kind ${kind}: ${names.join(", ")}; give only one of them`;
  return printList(request, { catalogue: opened.catalogue, nodeClass: names[0] ?? "default", io });
}

function printList(
  { requirements, includesUnavailable, output, provider }: InstanceTypesRequest,
  { catalogue, nodeClass, io }: { readonly catalogue: ProviderCatalogue; readonly nodeClass: string; readonly io: Io },
): string | undefined {
  const full = withFullKeys(requirements, catalogue.labelPolicy);
  if ("unknown" in full) {
    const hint = didYouMean(full.unknown, full.known);
    const keys = `give a key with its domain, or one of ${full.known.join(", ")}`;
    return `-l ${full.unknown}: no such label${hint === "" ? `; ${keys}` : hint}`;
  }
  const ref: NodeClassRef = { ...servedNodeClasses[provider], name: nodeClass };
  const listed = listInstanceTypes({
    types: catalogue.typesFor(ref),
    requirements: full.requirements,
    policy: catalogue.labelPolicy,
    includesUnavailable,
  });
  io.stdout(renderInstanceTypes(listed, output));
  return undefined;
}
