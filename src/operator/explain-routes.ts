import type { ExplanationReply, Explanations } from "../controllers/explanations.ts";
import { rfc3339 } from "../util/timestamp.ts";
import type { BearerAccess, CheckBearerAccess } from "./bearer-access.ts";
import type { RouteReply, Routes } from "./serve-routes.ts";

const nodePath = "/explain/node/";
const podPath = "/explain/pod/";

/** What an endpoint says when it does not explain; `reason` is of a closed set. */
interface ExplainFailure {
  readonly reason: "unauthorized" | "forbidden" | "too-many-requests" | "not-found" | "not-leading" | "not-synced";
  readonly message: string;
}

const statuses: Readonly<Record<ExplainFailure["reason"], number>> = {
  unauthorized: 401,
  forbidden: 403,
  "too-many-requests": 429,
  "not-found": 404,
  "not-leading": 503,
  "not-synced": 503,
};

export interface ExplainRoutesOptions {
  readonly explanations: Pick<Explanations, "node" | "pod">;
  readonly access: CheckBearerAccess;
}

/** `/explain/node/NAME` and `/explain/pod/NAMESPACE/NAME`: why, as JSON, for those who may get the path. (03 §6.5) */
export function explainRoutes({ explanations, access }: ExplainRoutesOptions): Routes {
  const answered =
    (prefix: string, isName: (name: string) => boolean, explain: (name: string) => Promise<ExplanationReply<object>>) =>
    async (
      { pathname }: URL,
      { authorization }: { readonly authorization?: string | undefined },
    ): Promise<RouteReply> => {
      const refused = failureOf(await access(authorization, pathname));
      if (refused !== undefined) return failureReply(refused);
      const name = decodedName(pathname.slice(prefix.length));
      if (name === undefined || !isName(name)) return failureReply(notFound(pathname));
      return explanationReply(await explain(name), pathname);
    };
  return {
    [nodePath]: answered(nodePath, (name) => /^[^/]+$/.test(name), explanations.node),
    [podPath]: answered(podPath, (name) => /^[^/]+\/[^/]+$/.test(name), explanations.pod),
  };
}

function decodedName(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function failureOf(access: BearerAccess): ExplainFailure | undefined {
  switch (access.kind) {
    case "allowed":
      return undefined;
    case "unauthorized":
      return { reason: "unauthorized", message: "give a bearer token of the cluster" };
    case "forbidden": {
      const because = access.reason === "" ? "" : ` (${access.reason})`;
      const message = `${access.user} may not get this path${because}; a ClusterRole with nonResourceURLs ["/explain/*"] and the verb get allows it`;
      return { reason: "forbidden", message };
    }
    case "too-many":
      return { reason: "too-many-requests", message: "too many questions at once; ask again in a second" };
  }
}

function notFound(pathname: string): ExplainFailure {
  return {
    reason: "not-found",
    message: `there is nothing at ${pathname}: ask for ${nodePath}NAME or ${podPath}NAMESPACE/NAME`,
  };
}

function explanationReply(reply: ExplanationReply<object>, pathname: string): RouteReply {
  switch (reply.kind) {
    case "explained":
      return jsonReply(200, { at: rfc3339(reply.atMs), explanation: reply.explanation });
    case "unknown":
      return failureReply({
        reason: "not-found",
        message: `the controller has not seen an object of that name: ${pathname}`,
      });
    case "not-leading":
      return failureReply({ reason: "not-leading", message: "this replica is not the leader; ask the leader" });
    case "not-synced":
      return failureReply({
        reason: "not-synced",
        message: "the cluster is still being read; ask again in a few seconds",
      });
  }
}

function failureReply(failure: ExplainFailure): RouteReply {
  const headers = failure.reason === "unauthorized" ? { "www-authenticate": "Bearer" } : undefined;
  return { ...jsonReply(statuses[failure.reason], failure), headers };
}

function jsonReply(status: number, body: object): RouteReply {
  return { status, contentType: "application/json", body: `${JSON.stringify(body)}\n` };
}
