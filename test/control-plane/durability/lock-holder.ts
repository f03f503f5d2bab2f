// Locks a folder, says so, and goes on until somebody ends it.

import { lockFolder } from "../../../src/control-plane/store/folder-lock.ts";

const [folder = ""] = process.argv.slice(2);
const lock = await lockFolder(folder);
process.stdout.write(lock === undefined ? "refused\n" : "locked\n");
if (lock !== undefined) setInterval(() => {}, 1_000);
