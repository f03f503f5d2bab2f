import type { ControllerFailure } from "../kube/controller.ts";
import { isKubeError } from "../kube/kube-error.ts";
import type { Logger, LogLevel, LogValues } from "../util/logger.ts";

interface LogLineContent {
  readonly level: LogLevel;
  readonly message: string;
  readonly values: LogValues;
}

/** Logs failures of controllers. */
export function controllerFailureLogger(log: Logger): (failure: ControllerFailure) => void {
  return (failure) => {
    const { level, message, values } = logLineOf(failure);
    log[level](message, values);
  };
}

function logLineOf(failure: ControllerFailure): LogLineContent {
  if (failure.kind === "informer-failed") return watchLogLineOf(failure);
  const values = { controller: failure.controller, error: failure.error };
  switch (failure.kind) {
    case "reconcile-failed": {
      // After a conflict the key is reconciled again: nothing is wrong. (03:S-10)
      const level = isKubeError(failure.error, "conflict") ? "debug" : "error";
      return { level, message: "Reconciler error", values: { name: failure.key, ...values } };
    }
    case "event-lost":
      return { level: "debug", message: "event lost", values };
    case "controller-ended":
      return { level: "error", message: "controller ended", values };
  }
}

function watchLogLineOf({ type, failure }: Extract<ControllerFailure, { kind: "informer-failed" }>): LogLineContent {
  const resource = type.group === "" ? type.plural : `${type.plural}.${type.group}`;
  switch (failure.kind) {
    case "watch-idle":
      return { level: "debug", message: "watch timed out, restarting", values: { resource, ms: failure.idleMs } };
    case "undecodable": {
      const values = { resource, name: failure.key, error: failure.error };
      return { level: "error", message: "skipping an object that cannot be decoded", values };
    }
    case "handler-failed":
      return { level: "error", message: "handling a watch event failed", values: { resource, error: failure.error } };
    case "list-failed":
      return { level: "error", message: "cannot list, trying again", values: { resource, error: failure.error } };
    case "watch-failed":
      return { level: "debug", message: "cannot watch, trying again", values: { resource, error: failure.error } };
  }
}
