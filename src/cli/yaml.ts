/** Imported on demand through here: a bundled CommonJS package loses its names when it is imported dynamically itself. */
export { stringify } from "yaml";
