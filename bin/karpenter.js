#!/usr/bin/env node
// CommonJS, as all that a command loads: Node's loader of ES modules is a tenth of a short command.
const { loadCli } = require("./load-cli.js");

loadCli()
  .main(process.argv.slice(2))
  .then((code) => {
    process.exitCode = code;
  });
