#!/usr/bin/env node
// Starts the program that the package for this platform brings. Agents do not come by here: `crosier install` writes
// the path of the program itself into their configuration, so that no event waits for Node to start.
"use strict";
const { spawnSync } = require("node:child_process");
const { constants } = require("node:os");

const name = `@crosier-hooks/${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/crosier`);
} catch {
  console.error(
    `crosier: the package ${name} is not installed. Either there is no build for this platform, or optional ` +
      "dependencies were left out: install again without --omit=optional.",
  );
  process.exit(1);
}
const { status, signal, error } = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (error) {
  console.error(`crosier: ${program} cannot be started: ${error.message}`);
  process.exit(1);
}
process.exit(signal ? 128 + (constants.signals[signal] ?? 0) : status);
