import type { Clock } from "../../../util/clock.ts";
import type { AwsMetrics } from "../aws-metrics.ts";
import type { AwsApi } from "./aws-api.ts";
import { isAwsError } from "./aws-error.ts";

export interface MeasuredAwsOptions {
  readonly metrics: Pick<AwsMetrics, "count" | "observe">;
  readonly clock: Pick<Clock, "now">;
}

/** The services with their calls timed and counted, each by the error AWS gave. (04 §5.5) */
export function measuredAws(api: AwsApi, options: MeasuredAwsOptions): AwsApi {
  return {
    region: api.region,
    ec2: measured("ec2", api.ec2, options),
    iam: measured("iam", api.iam, options),
    ssm: measured("ssm", api.ssm, options),
    eks: measured("eks", api.eks, options),
    pricing: measured("pricing", api.pricing, options),
    sqs: measured("sqs", api.sqs, options),
    zonalShift: measured("arc-zonal-shift", api.zonalShift, options),
  };
}

type Call = (...args: never[]) => Promise<unknown>;

/** Every call of a service, by the name AWS has for it: `describeSubnets` is `DescribeSubnets`. */
function measured<Service extends object>(
  service: string,
  calls: Service,
  { metrics, clock }: MeasuredAwsOptions,
): Service {
  const timed = (name: string, call: Call): Call => {
    const operation = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    return async (...args) => {
      const startedAt = clock.now();
      let code = "OK";
      try {
        return await call.apply(calls, args);
      } catch (error) {
        code = isAwsError(error) ? error.code : "Unknown";
        throw error;
      } finally {
        metrics.count("aws_requests_total", { service, operation, code });
        metrics.observe("aws_request_duration_seconds", { service, operation }, (clock.now() - startedAt) / 1_000);
      }
    };
  };
  return new Proxy(calls, {
    get: (target, property) => {
      const value: unknown = Reflect.get(target, property);
      return typeof value === "function" && typeof property === "string" ? timed(property, value as Call) : value;
    },
  });
}
