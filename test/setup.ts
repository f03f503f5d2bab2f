import fc from "fast-check";

// CI names a seed, so that a run that was green stays green; everywhere else each run tries other cases.
const seed = process.env["FC_SEED"];
if (seed !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });
