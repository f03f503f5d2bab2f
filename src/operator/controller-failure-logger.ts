import type { ControllerFailure } from "../kube/controller.ts";
import { isKubeError } from "../kube/kube-error.ts";
import type { Logger, LogLevel, LogValues } from "../util/logger.ts";

interface LogLineContent {
  readonly level: LogLevel;
  readonly message: string;
  readonly values: LogValues;
}

/** What went wrong in loops, as log lines. */
export function controllerFailureLogger(log: Logger): (trouble: ControllerFailure) => void {
  return (trouble) => {
    const { level, message, values } = logLineOf(trouble);
    log[level](message, values);
  };
}

function logLineOf(trouble: ControllerFailure): LogLineContent {
  if (trouble.kind === "watch-trouble") return watchLogLineOf(trouble);
  const values = { controller: trouble.loop, error: trouble.error };
  switch (trouble.kind) {
    case "reconcile-failed": {
      // Somebody else wrote first: it is looked at again, and that is all there is to say. (03:S-10)
      const isUsual = isKubeError(trouble.error, "conflict");
      return {
        level: isUsual ? "debug" : "error",
        message: "Reconciler error",
        values: { name: trouble.key, ...values },
      };
    }
    case "event-lost":
      return { level: "debug", message: "event lost", values };
    case "loop-ended":
      return { level: "error", message: "controller ended", values };
  }
}

function watchLogLineOf({ type, trouble }: Extract<ControllerFailure, { kind: "watch-trouble" }>): LogLineContent {
  const resource = type.group === "" ? type.plural : `${type.plural}.${type.group}`;
  switch (trouble.kind) {
    case "silent":
      return { level: "debug", message: "watch was silent, starting over", values: { resource, ms: trouble.forMs } };
    case "undecodable": {
      const values = { resource, name: trouble.key, error: trouble.error };
      return { level: "error", message: "object cannot be read, leaving it out", values };
    }
    case "handler-failed":
      return { level: "error", message: "news could not be taken in", values: { resource, error: trouble.error } };
    case "list-failed":
      return { level: "error", message: "cannot list, trying again", values: { resource, error: trouble.error } };
    case "watch-failed":
      return { level: "debug", message: "cannot watch, trying again", values: { resource, error: trouble.error } };
  }
}
