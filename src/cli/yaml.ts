/** Dynamic imports of `yaml` go through this module: esbuild loses the named exports of a bundled CommonJS package otherwise. */
export { stringify } from "yaml";
