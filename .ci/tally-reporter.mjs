import { appendFileSync } from "node:fs";

/**
 * Writes one line for each test when it ends, and for each error outside a test, to the file TALLY names: its state, and
 * for a failure where and why. Vitest's JSON report comes only at the end of a run; this one also counts for a run that
 * was cut short.
 */
// biome-ignore lint/style/noDefaultExport: vitest loads a reporter by its default export
export default class TallyReporter {
  onTestCaseResult(test) {
    const { state, errors } = test.result();
    if (state === "failed") failed(`${test.module.relativeModuleId} > ${test.fullName}`, errors[0]);
    else note(state);
  }

  onTestSuiteResult(suite) {
    for (const error of suite.errors()) failed(`${suite.module.relativeModuleId} > ${suite.fullName}`, error);
  }

  onTestModuleEnd(module) {
    for (const error of module.errors()) failed(module.relativeModuleId, error);
  }

  onTestRunEnd(_modules, unhandledErrors) {
    for (const error of unhandledErrors) failed("outside the tests", error);
  }
}

function failed(where, error) {
  note(`failed ${where}: ${String(error?.message).split("\n")[0]}`);
}

function note(line) {
  appendFileSync(process.env.TALLY, `${line}\n`);
}
