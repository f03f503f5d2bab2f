import type { DisruptionSnapshot } from "../core/disruption/snapshot.ts";
import type { ClusterChange, ClusterProjection } from "../core/repack/cluster-projection.ts";
import type { ClusterState } from "./cluster-state.ts";
import { type DisruptionSources, disruptionSnapshotOf } from "./disruption-snapshot.ts";
import { ProjectedCluster, type ProjectionSources } from "./projected-cluster.ts";

/**
 * A projected cluster in which disruption commands are carried out. Between two changes so much time passes that every
 * consolidateAfter is over.
 */
export class DisruptionProjection implements ClusterProjection {
  readonly #cluster: ClusterState;
  readonly #sources: DisruptionSources;
  readonly #projected: ProjectedCluster;

  constructor(cluster: ClusterState, sources: DisruptionSources & Pick<ProjectionSources, "chooseOffers">) {
    this.#cluster = cluster;
    this.#sources = sources;
    this.#projected = new ProjectedCluster(cluster, sources);
  }

  snapshot(): DisruptionSnapshot {
    return disruptionSnapshotOf(this.#cluster, { ...this.#sources, pendingPods: this.#projected.pendingPods });
  }

  carryOut(change: ClusterChange): readonly (string | undefined)[] {
    return this.#projected.carryOut(change).map((node) => node?.name);
  }
}
