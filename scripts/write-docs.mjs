// Writes the pages that are made from the code. Run through `npm run docs`, which builds first.
import { writeFileSync } from "node:fs";
import { systemIo } from "../dist/cli/io.js";
import { program } from "../dist/cli/main.js";
import { cliReference } from "../dist/cli/reference.js";

writeFileSync(new URL("../docs/cli.md", import.meta.url), cliReference(program(systemIo())));
