import {
  checked,
  defineTypes,
  field,
  int32,
  int64,
  known,
  list,
  needed,
  object,
  only,
  quantity,
  ref,
  string,
  struct,
  text,
  time,
  valuesByLevel,
} from '../description/define.ts'

import { aboveZero } from './bounds.ts'
import { metadata, objectList } from './common.ts'

/** The types of autoscaling/v2. */
export const autoscalingV2 = defineTypes({
  ContainerResourceMetricSource: () =>
    struct(
      {
        name: field(ref('core/v1.ResourceName'), {
          tag: 1,
          needed: 'must specify a resource name',
          required: true,
          doc: 'Name of the resource.',
        }),
        target: field(ref('autoscaling/v2.MetricTarget'), { tag: 2, required: true, doc: 'Target value.' }),
        container: field(text('label'), { tag: 3, needed: 'must specify a container', required: true, doc: 'Name of the container.' }),
      },
      { doc: 'The wanted use of a resource by one container of each pod.' },
    ),
  ContainerResourceMetricStatus: () =>
    struct(
      {
        name: field(ref('core/v1.ResourceName'), { tag: 1, required: true, doc: 'Name of the resource.' }),
        current: field(ref('autoscaling/v2.MetricValueStatus'), { tag: 2, required: true, doc: 'Value that was measured.' }),
        container: field(string(), { tag: 3, required: true, doc: 'Name of the container.' }),
      },
      { doc: 'The measured use of a resource by one container of each pod.' },
    ),
  CrossVersionObjectReference: () =>
    struct(
      {
        kind: needed(text('pathSegment'), { tag: 1, required: true, doc: 'Kind of the object.' }),
        name: needed(text('pathSegment'), { tag: 2, required: true, doc: 'Name of the object.' }),
        apiVersion: field(string(), { tag: 3, doc: 'Group version of the object.' }),
      },
      { doc: 'Names an object in the same namespace.' },
    ),
  ExternalMetricSource: () =>
    struct(
      {
        metric: field(ref('autoscaling/v2.MetricIdentifier'), { tag: 1, required: true, doc: 'The metric.' }),
        target: field(ref('autoscaling/v2.MetricTarget'), { tag: 2, required: true, doc: 'Target value.' }),
      },
      { doc: 'The wanted value of a metric from outside the cluster.' },
    ),
  ExternalMetricStatus: () =>
    struct(
      {
        metric: field(ref('autoscaling/v2.MetricIdentifier'), { tag: 1, required: true, doc: 'The metric.' }),
        current: field(ref('autoscaling/v2.MetricValueStatus'), { tag: 2, required: true, doc: 'Value that was measured.' }),
      },
      { doc: 'The measured value of a metric from outside the cluster.' },
    ),
  HPAScalingPolicy: () =>
    struct(
      {
        type: checked(ref('autoscaling/v2.HPAScalingPolicyType'), { tag: 1, required: true, doc: 'Pods or Percent.' }),
        value: field(int32(aboveZero), {
          tag: 2,
          required: true,
          doc: 'Maximum change, as a number of pods or in percent. Above zero.',
        }),
        periodSeconds: field(int32(aboveZero), { tag: 3, required: true, doc: 'Period of the bound in seconds, from 1 to 1800.' }),
      },
      { doc: 'A bound on the change within some time.' },
    ),
  HPAScalingPolicyType: () => only(known('Percent', 'Pods')),
  HPAScalingRules: () =>
    struct(
      {
        stabilizationWindowSeconds: field(int32(), {
          tag: 3,
          pointer: true,
          doc: 'Length of the stabilization window in seconds, from 0 to 3600: the most cautious result in it applies. Default: 0 for up, 300 for down.',
        }),
        selectPolicy: field(ref('autoscaling/v2.ScalingPolicySelect'), {
          tag: 1,
          pointer: true,
          doc: 'Choice among the policies: Max (the default), Min, or Disabled, which does not scale in this direction.',
        }),
        policies: field(list(ref('autoscaling/v2.HPAScalingPolicy')), {
          tag: 2,
          needed: 'must specify at least one Policy',
          listType: 'atomic',
          doc: 'Bounds on the change. At least one, or all are ignored.',
        }),
        tolerance: field(quantity({ sign: 'notNegative' }), {
          tag: 4,
          pointer: true,
          featureGate: 'HPAConfigurableTolerance',
          since: 33,
          doc: 'Deviation from the target, as a share, below which nothing is scaled. Unset: the tolerance of the cluster, usually 0.1.',
        }),
      },
      { doc: 'Limits on the speed of scaling in one direction.' },
    ),
  HorizontalPodAutoscaler: () =>
    object(
      {
        metadata,
        spec: field(ref('autoscaling/v2.HorizontalPodAutoscalerSpec'), {
          tag: 2,
          changes: { 36: { listedAsRequired: true } },
          doc: 'Target of scaling, its metrics and its bounds.',
        }),
        status: field(ref('autoscaling/v2.HorizontalPodAutoscalerStatus'), {
          tag: 3,
          doc: 'Observed state of the autoscaler.',
        }),
      },
      { doc: 'Sets the number of pods of another object by metrics.' },
    ),
  HorizontalPodAutoscalerBehavior: () =>
    struct(
      {
        scaleUp: field(ref('autoscaling/v2.HPAScalingRules'), {
          tag: 1,
          pointer: true,
          doc: 'Rules for more pods. Default: at most doubling or 4 more, whichever is more, every 15 seconds, without waiting.',
        }),
        scaleDown: field(ref('autoscaling/v2.HPAScalingRules'), {
          tag: 2,
          pointer: true,
          doc: 'Rules for fewer pods. Default: down to the least number, to the highest value of the last 300 seconds.',
        }),
      },
      { doc: 'Limits on the speed of scaling up and down.' },
    ),
  HorizontalPodAutoscalerCondition: () =>
    struct(
      {
        type: field(ref('autoscaling/v2.HorizontalPodAutoscalerConditionType'), {
          tag: 1,
          required: true,
          doc: 'Aspect that the condition describes: ScalingActive, AbleToScale or ScalingLimited.',
        }),
        status: field(ref('core/v1.ConditionStatus'), { tag: 2, required: true, doc: 'True, False or Unknown.' }),
        lastTransitionTime: field(time(), { tag: 3, doc: 'Time of the last change of the status from one value to another.' }),
        reason: field(string(), { tag: 4, doc: 'Reason of the status in one CamelCase word, for programs.' }),
        message: field(string(), { tag: 5, doc: 'Details of the last change, for people.' }),
        observedGeneration: field(int64(), {
          tag: 6,
          pointer: true,
          featureGate: 'HPAGeneration',
          since: 37,
          doc: 'Generation of the autoscaler when the condition was set.',
        }),
      },
      { doc: "One aspect of an autoscaler's state." },
    ),
  HorizontalPodAutoscalerConditionType: () =>
    valuesByLevel(known('ScalingActive', 'AbleToScale', 'ScalingLimited', 'ScaledToZero'), { since: { ScaledToZero: 36 } }),
  HorizontalPodAutoscalerList: () => objectList('autoscaling/v2.HorizontalPodAutoscaler'),
  HorizontalPodAutoscalerSpec: () =>
    struct(
      {
        scaleTargetRef: field(ref('autoscaling/v2.CrossVersionObjectReference'), {
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
        metrics: field(list(ref('autoscaling/v2.MetricSpec')), {
          tag: 4,
          listType: 'atomic',
          doc: 'Measurements. Each gives a number of pods and the highest wins. Default: 80% of the CPU that the pods request.',
        }),
        behavior: field(ref('autoscaling/v2.HorizontalPodAutoscalerBehavior'), {
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
        currentReplicas: field(int32({ min: 0 }), { tag: 3, doc: 'Number of pods when the autoscaler last read it.' }),
        desiredReplicas: field(int32({ min: 0 }), { tag: 4, required: true, doc: 'Number of pods that the autoscaler last computed.' }),
        currentMetrics: field(list(ref('autoscaling/v2.MetricStatus')), {
          tag: 5,
          keepEmpty: true,
          listType: 'atomic',
          doc: 'Last measured value.',
        }),
        conditions: field(list(ref('autoscaling/v2.HorizontalPodAutoscalerCondition')), {
          tag: 6,
          patchStrategy: 'merge',
          patchMergeKey: 'type',
          listType: 'map',
          listMapKeys: ['type'],
          doc: 'State of the autoscaler by aspect: it can measure, it can scale, its bounds limit it.',
        }),
      },
      { doc: 'Observed state of an autoscaler.' },
    ),
  MetricIdentifier: () =>
    struct(
      {
        name: field(text('pathSegment'), { tag: 1, needed: 'must specify a metric name', required: true, doc: 'Name of the metric.' }),
        selector: field(ref('meta/v1.LabelSelector'), {
          tag: 2,
          pointer: true,
          doc: 'Labels that narrow the metric down. Unset uses only its name.',
        }),
      },
      { doc: 'Names a metric.' },
    ),
  MetricSourceType: () => only(known('ContainerResource', 'External', 'Object', 'Pods', 'Resource')),
  MetricSpec: () =>
    struct(
      {
        type: field(ref('autoscaling/v2.MetricSourceType'), {
          tag: 1,
          needed: 'must specify a metric source type',
          required: true,
          doc: 'Object, Pods, Resource, ContainerResource or External.',
        }),
        object: field(ref('autoscaling/v2.ObjectMetricSource'), {
          tag: 2,
          pointer: true,
          doc: 'A metric of one object, such as requests at an ingress.',
        }),
        pods: field(ref('autoscaling/v2.PodsMetricSource'), { tag: 3, pointer: true, doc: 'A metric of each pod, averaged.' }),
        resource: field(ref('autoscaling/v2.ResourceMetricSource'), {
          tag: 4,
          pointer: true,
          doc: 'A resource of the pods, such as CPU, averaged.',
        }),
        containerResource: field(ref('autoscaling/v2.ContainerResourceMetricSource'), {
          tag: 7,
          pointer: true,
          featureGate: 'HPAContainerMetrics',
          doc: 'A resource of one container of each pod, averaged.',
        }),
        external: field(ref('autoscaling/v2.ExternalMetricSource'), { tag: 5, pointer: true, doc: 'A metric from outside the cluster.' }),
      },
      { doc: 'A metric and its target value. The type decides which field is set.' },
    ),
  MetricStatus: () =>
    struct(
      {
        type: field(ref('autoscaling/v2.MetricSourceType'), {
          tag: 1,
          required: true,
          doc: 'Object, Pods, Resource, ContainerResource or External.',
        }),
        object: field(ref('autoscaling/v2.ObjectMetricStatus'), { tag: 2, pointer: true, doc: 'A metric of one object.' }),
        pods: field(ref('autoscaling/v2.PodsMetricStatus'), { tag: 3, pointer: true, doc: 'A metric of each pod, averaged.' }),
        resource: field(ref('autoscaling/v2.ResourceMetricStatus'), { tag: 4, pointer: true, doc: 'A resource of the pods, averaged.' }),
        containerResource: field(ref('autoscaling/v2.ContainerResourceMetricStatus'), {
          tag: 7,
          pointer: true,
          doc: 'A resource of one container of each pod, averaged.',
        }),
        external: field(ref('autoscaling/v2.ExternalMetricStatus'), { tag: 5, pointer: true, doc: 'A metric from outside the cluster.' }),
      },
      { doc: 'A measured metric. The type decides which field is set.' },
    ),
  MetricTarget: () =>
    struct(
      {
        type: field(ref('autoscaling/v2.MetricTargetType'), {
          tag: 1,
          needed: 'must specify a metric target type',
          required: true,
          doc: 'Utilization, Value or AverageValue.',
        }),
        value: field(quantity({ sign: 'positive', detail: 'must be positive' }), { tag: 2, pointer: true, doc: 'The value as a whole.' }),
        averageValue: field(quantity({ sign: 'positive', detail: 'must be positive' }), {
          tag: 3,
          pointer: true,
          doc: 'The value for each pod.',
        }),
        averageUtilization: field(int32({ min: 1 }), {
          tag: 4,
          pointer: true,
          doc: 'Percent of what the pods request. For resources only.',
        }),
      },
      { doc: 'The target value of a metric.' },
    ),
  MetricTargetType: () => known('Utilization', 'Value', 'AverageValue'),
  MetricValueStatus: () =>
    struct(
      {
        value: field(quantity(), { tag: 1, pointer: true, doc: 'The value as a whole.' }),
        averageValue: field(quantity(), { tag: 2, pointer: true, doc: 'The value for each pod.' }),
        averageUtilization: field(int32(), { tag: 3, pointer: true, doc: 'Percent of what the pods request. For resources only.' }),
      },
      { doc: 'The measured value of a metric.' },
    ),
  ObjectMetricSource: () =>
    struct(
      {
        describedObject: field(ref('autoscaling/v2.CrossVersionObjectReference'), { tag: 1, required: true, doc: 'The object.' }),
        target: field(ref('autoscaling/v2.MetricTarget'), { tag: 2, required: true, doc: 'Target value.' }),
        metric: field(ref('autoscaling/v2.MetricIdentifier'), { tag: 3, required: true, doc: 'The metric.' }),
      },
      { doc: 'The wanted value of a metric of one object.' },
    ),
  ObjectMetricStatus: () =>
    struct(
      {
        metric: field(ref('autoscaling/v2.MetricIdentifier'), { tag: 1, required: true, doc: 'The metric.' }),
        current: field(ref('autoscaling/v2.MetricValueStatus'), { tag: 2, required: true, doc: 'Value that was measured.' }),
        describedObject: field(ref('autoscaling/v2.CrossVersionObjectReference'), { tag: 3, required: true, doc: 'The object.' }),
      },
      { doc: 'The measured value of a metric of one object.' },
    ),
  PodsMetricSource: () =>
    struct(
      {
        metric: field(ref('autoscaling/v2.MetricIdentifier'), { tag: 1, required: true, doc: 'The metric.' }),
        target: field(ref('autoscaling/v2.MetricTarget'), { tag: 2, required: true, doc: 'Target value as an average.' }),
      },
      { doc: 'The wanted value of a metric of the pods.' },
    ),
  PodsMetricStatus: () =>
    struct(
      {
        metric: field(ref('autoscaling/v2.MetricIdentifier'), { tag: 1, required: true, doc: 'The metric.' }),
        current: field(ref('autoscaling/v2.MetricValueStatus'), { tag: 2, required: true, doc: 'Value that was measured.' }),
      },
      { doc: 'The measured value of a metric of the pods.' },
    ),
  ResourceMetricSource: () =>
    struct(
      {
        name: field(ref('core/v1.ResourceName'), {
          tag: 1,
          needed: 'must specify a resource name',
          required: true,
          doc: 'Name of the resource.',
        }),
        target: field(ref('autoscaling/v2.MetricTarget'), { tag: 2, required: true, doc: 'Target value.' }),
      },
      { doc: 'The wanted use of a resource by the pods.' },
    ),
  ResourceMetricStatus: () =>
    struct(
      {
        name: field(ref('core/v1.ResourceName'), { tag: 1, required: true, doc: 'Name of the resource.' }),
        current: field(ref('autoscaling/v2.MetricValueStatus'), { tag: 2, required: true, doc: 'Value that was measured.' }),
      },
      { doc: 'The measured use of a resource by the pods.' },
    ),
  ScalingPolicySelect: () => only(known('Disabled', 'Max', 'Min')),
})
