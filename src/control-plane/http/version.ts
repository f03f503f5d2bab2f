/** The Kubernetes release whose API we serve; clients choose features by it. */
export const versionInfo = {
  major: "1",
  minor: "36",
  emulationMajor: "1",
  emulationMinor: "36",
  gitVersion: "v1.36.1",
  gitCommit: "",
  gitTreeState: "clean",
  buildDate: "2026-01-01T00:00:00Z",
  goVersion: "",
  compiler: "karpenter-ts",
  platform: "node/any",
} as const;
