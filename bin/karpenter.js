#!/usr/bin/env node
import { loadCli } from "./load-cli.js";

process.exitCode = await loadCli().main(process.argv.slice(2));
