import { defineConfig } from "vitest/config";

/** Generous, because machines are shared: a test that hangs is found all the same. The long tier has a cap of its own. */
const testTimeout = process.env["LONG"] === "1" ? 1_200_000 : 60_000;

/** One project a tier; `npm test` runs the first alone. */
export default defineConfig({
  test: {
    maxWorkers: "100%", // all cores: one less, as is the default, is half of two
    projects: [
      {
        test: {
          name: "tier1",
          testTimeout,
          setupFiles: ["test/setup.ts"],
          include: ["src/**/*.test.ts", "test/**/*.test.ts"],
          exclude: ["test/cluster/**", "test/kubectl/**", "test/aws/wire/**"],
          isolate: false,
        },
      },
      {
        test: {
          name: "kubectl",
          include: ["test/kubectl/**/*.test.ts"],
          globalSetup: ["test/kubectl/global-setup.ts"],
          isolate: false,
          fileParallelism: false,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: "cluster",
          include: ["test/cluster/**/*.test.ts"],
          globalSetup: ["test/cluster/global-setup.ts"],
          setupFiles: ["test/setup.ts"],
          isolate: false,
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 1_800_000,
        },
      },
      {
        test: {
          name: "aws",
          include: ["test/aws/wire/**/*.test.ts"],
          globalSetup: ["test/aws/wire/global-setup.ts"],
          isolate: false,
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
