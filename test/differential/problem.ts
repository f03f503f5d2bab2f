/** A Kubernetes object as a problem file has it. */
export interface PlainObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string } & Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

/** A problem that both sides can be asked: objects of a cluster, a catalogue, and settings. */
export interface DifferentialProblem {
  readonly seed: number;
  readonly preferences?: "Ignore";
  readonly minValues?: "BestEffort";
  /** A name as `--instance-types` takes it, or the list of a file in the KWOK format. */
  readonly catalogue: string | readonly CatalogueType[];
  readonly objects: readonly PlainObject[];
}

/** The same, asked what would be disrupted. */
export interface DisruptionProblem extends DifferentialProblem {
  readonly command: "disrupt";
  readonly spotToSpot?: true;
  /** Nodes that a round has just nominated, with commas between them. */
  readonly nominated?: string;
  /** RFC 3339. */
  readonly now: string;
}

export interface CatalogueType {
  readonly name: string;
  readonly architecture: string;
  readonly operatingSystems: readonly string[];
  readonly resources: Readonly<Record<string, string>>;
  readonly offerings: readonly CatalogueOffering[];
}

export interface CatalogueOffering {
  readonly Price: number;
  readonly Available: true;
  readonly ReservationCapacity?: number;
  readonly Requirements: readonly RequirementItem[];
}

export interface RequirementItem {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
  readonly minValues?: number;
}
