import { type JsonMeasure, measureJson } from "../store/json-measure.ts";
import { apiError, badRequest } from "./api-errors.ts";

/** Of a request body and of everything a patch may copy, as in Kubernetes. (05:CP-S3) */
export const maxRequestBytes = 3 * 1024 * 1024;
/** Fields and items of a request body: large CRDs have 30,000. Each takes microseconds, whatever its size. */
export const maxRequestValues = 50_000;
/** Of a stored object: what etcd accepts in one request. (05:CP-S3) */
const maxStoredBytes = 1.5 * 1024 * 1024;
export const maxNesting = 256;

/** Refuses a request body, or the result of a patch, that is nested too deeply or too large. */
export function assertWithinLimits(body: unknown): JsonMeasure {
  const measure = measureJson(body, { maxDepth: maxNesting });
  if (measure.isTooDeep) throw badRequest(`the object is nested too deeply: the limit is ${maxNesting} levels`);
  if (measure.bytes > maxRequestBytes)
    throw apiError("too-large", `Request entity too large: limit is ${maxRequestBytes}`);
  if (measure.values > maxRequestValues) throw tooManyValues();
  return measure;
}

export function tooManyValues(): Error {
  return apiError("too-large", `Request entity too large: limit is ${maxRequestValues} fields and items`);
}

export function isStorable({ bytes }: JsonMeasure): boolean {
  return bytes <= maxStoredBytes;
}

/** Refuses an object that etcd would not store. */
export function assertStorable(measure: JsonMeasure): void {
  if (isStorable(measure)) return;
  const found = `the object has about ${measure.bytes} bytes, the limit is ${maxStoredBytes}`;
  throw apiError("too-large", `etcdserver: request is too large: ${found}`);
}
