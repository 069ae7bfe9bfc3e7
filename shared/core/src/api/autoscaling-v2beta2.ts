import { field, int32, int64, known, list, ref, struct, time } from '../description/define.ts'
import { inVersion } from '../description/in-version.ts'
import { autoscalingV2 } from './autoscaling-v2.ts'

const {
  ContainerResourceMetricSource,
  ContainerResourceMetricStatus,
  CrossVersionObjectReference,
  ExternalMetricSource,
  ExternalMetricStatus,
  HPAScalingPolicy,
  HPAScalingPolicyType,
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerBehavior,
  HorizontalPodAutoscalerCondition,
  HorizontalPodAutoscalerList,
  MetricIdentifier,
  MetricSourceType,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricTargetType,
  MetricValueStatus,
  ObjectMetricSource,
  ObjectMetricStatus,
  PodsMetricSource,
  PodsMetricStatus,
  ResourceMetricSource,
  ResourceMetricStatus,
  ScalingPolicySelect,
} = autoscalingV2

/** The types of autoscaling/v2beta2, which are those of v2 without list types. */
export const autoscalingV2beta2 = inVersion(
  {
    ContainerResourceMetricSource,
    ContainerResourceMetricStatus,
    CrossVersionObjectReference,
    ExternalMetricSource,
    ExternalMetricStatus,
    HPAScalingPolicy,
    HPAScalingPolicyType,
    HorizontalPodAutoscaler,
    HorizontalPodAutoscalerBehavior,
    HorizontalPodAutoscalerCondition,
    HorizontalPodAutoscalerList,
    MetricIdentifier,
    MetricSourceType,
    MetricSpec,
    MetricStatus,
    MetricTarget,
    MetricTargetType,
    MetricValueStatus,
    ObjectMetricSource,
    ObjectMetricStatus,
    PodsMetricSource,
    PodsMetricStatus,
    ResourceMetricSource,
    ResourceMetricStatus,
    ScalingPolicySelect,
    HPAScalingRules: () =>
      struct(
        {
          stabilizationWindowSeconds: field(int32(), {
            tag: 3,
            pointer: true,
            doc: 'Length of the stabilization window in seconds, from 0 to 3600: the most cautious result in it applies. Default: 0 for up, 300 for down.',
          }),
          selectPolicy: field(ref('autoscaling/v2beta2.ScalingPolicySelect'), {
            tag: 1,
            pointer: true,
            doc: 'Choice among the policies: Max (the default), Min, or Disabled, which does not scale in this direction.',
          }),
          policies: field(list(ref('autoscaling/v2beta2.HPAScalingPolicy')), {
            tag: 2,
            doc: 'Bounds on the change. At least one, or all are ignored.',
          }),
        },
        { doc: 'Limits on the speed of scaling in one direction.' },
      ),
    HorizontalPodAutoscalerConditionType: () => known('ScalingActive', 'AbleToScale', 'ScalingLimited'),
    HorizontalPodAutoscalerSpec: () =>
      struct(
        {
          scaleTargetRef: field(ref('autoscaling/v2beta2.CrossVersionObjectReference'), {
            tag: 1,
            required: true,
            doc: 'Object that is scaled. It must have a scale subresource.',
          }),
          minReplicas: field(int32(), {
            tag: 2,
            pointer: true,
            doc: 'Least number of pods. Default: 1. Zero only where the cluster allows it and an Object or External metric is used.',
          }),
          maxReplicas: field(int32(), { tag: 3, required: true, doc: 'Greatest number of pods. Not less than minReplicas.' }),
          metrics: field(list(ref('autoscaling/v2beta2.MetricSpec')), {
            tag: 4,
            doc: 'Measurements. Each gives a number of pods and the highest wins. Default: 80% of the CPU that the pods request.',
          }),
          behavior: field(ref('autoscaling/v2beta2.HorizontalPodAutoscalerBehavior'), {
            tag: 5,
            pointer: true,
            doc: 'Limits on the speed of scaling up and down.',
          }),
        },
        { doc: 'Target of scaling, and its limits.' },
      ),
    HorizontalPodAutoscalerStatus: () =>
      struct(
        {
          observedGeneration: field(int64(), { tag: 1, pointer: true, doc: 'The metadata.generation that the status was derived from.' }),
          lastScaleTime: field(time(), { tag: 2, pointer: true, doc: 'Time of the last change of the number of pods.' }),
          currentReplicas: field(int32(), { tag: 3, required: true, doc: 'Number of pods when the autoscaler last read it.' }),
          desiredReplicas: field(int32(), { tag: 4, required: true, doc: 'Number of pods that the autoscaler last computed.' }),
          currentMetrics: field(list(ref('autoscaling/v2beta2.MetricStatus')), { tag: 5, keepEmpty: true, doc: 'Last measured value.' }),
          conditions: field(list(ref('autoscaling/v2beta2.HorizontalPodAutoscalerCondition')), {
            tag: 6,
            keepEmpty: true,
            doc: 'State of the autoscaler by aspect: it can measure, it can scale, its bounds limit it.',
          }),
        },
        { doc: 'Observed state of an autoscaler.' },
      ),
  },
  { from: 'autoscaling/v2', to: 'autoscaling/v2beta2' },
)
