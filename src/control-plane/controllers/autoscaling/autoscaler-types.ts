import type { KubeObject } from "../../../api/object.ts";
import type { WorkloadCondition } from "../workloads/types.ts";

/** A HorizontalPodAutoscaler of autoscaling/v2. */
export interface HorizontalPodAutoscaler extends KubeObject {
  readonly spec: AutoscalerSpec;
  readonly status?: AutoscalerStatus | undefined;
}

interface AutoscalerSpec {
  readonly scaleTargetRef: { readonly apiVersion?: string | undefined; readonly kind: string; readonly name: string };
  readonly minReplicas?: number | undefined;
  readonly maxReplicas: number;
  readonly metrics?: readonly MetricSpec[] | undefined;
  readonly behavior?: {
    readonly scaleUp?: ScalingRules | undefined;
    readonly scaleDown?: ScalingRules | undefined;
  };
}

export interface MetricSpec {
  readonly type: string;
  readonly resource?: ResourceMetric | undefined;
  readonly containerResource?: (ResourceMetric & { readonly container: string }) | undefined;
}

export interface ResourceMetric {
  readonly name: string;
  readonly target: {
    readonly type: string;
    readonly averageUtilization?: number | undefined;
    readonly averageValue?: string | undefined;
  };
}

export interface ScalingRules {
  readonly stabilizationWindowSeconds?: number | undefined;
  readonly selectPolicy?: "Max" | "Min" | "Disabled" | undefined;
  readonly policies?: readonly ScalingPolicy[] | undefined;
  readonly tolerance?: string | undefined;
}

export interface ScalingPolicy {
  readonly type: "Pods" | "Percent";
  readonly value: number;
  readonly periodSeconds: number;
}

export interface AutoscalerStatus {
  readonly observedGeneration?: number | undefined;
  readonly lastScaleTime?: string | undefined;
  readonly currentReplicas?: number | undefined;
  readonly desiredReplicas?: number | undefined;
  readonly currentMetrics?: readonly object[] | undefined;
  readonly conditions?: readonly WorkloadCondition[] | undefined;
}
