import { atomic, checked, field, merged, needed, pointer, required } from '../description/fields.ts'
import { defineTypes, object, struct } from '../description/structs.ts'
import { known, only, string, text, valuesByLevel } from '../description/texts.ts'
import { int32, int64, list, quantity, ref, time } from '../description/values.ts'

import { aboveZero } from './bounds.ts'
import { gated, lastChange, metadata, objectList } from './common.ts'

/** The types of autoscaling/v2. */
export const autoscalingV2 = defineTypes({
  ContainerResourceMetricSource: struct('The wanted use of a resource by one container of each pod.', () => ({
    name: required(ref('core/v1.ResourceName'), 1, { needed: 'must specify a resource name', doc: 'Name of the resource.' }),
    target: required(ref('autoscaling/v2.MetricTarget'), 2, 'Target value.'),
    container: required(text('label'), 3, { needed: 'must specify a container', doc: 'Name of the container.' }),
  })),
  ContainerResourceMetricStatus: struct('The measured use of a resource by one container of each pod.', () => ({
    name: required(ref('core/v1.ResourceName'), 1, 'Name of the resource.'),
    current: required(ref('autoscaling/v2.MetricValueStatus'), 2, 'Value that was measured.'),
    container: required(string(), 3, 'Name of the container.'),
  })),
  CrossVersionObjectReference: struct('Names an object in the same namespace.', () => ({
    kind: needed(text('pathSegment'), 1, { required: true, doc: 'Kind of the object.' }),
    name: needed(text('pathSegment'), 2, { required: true, doc: 'Name of the object.' }),
    apiVersion: field(string(), 3, 'Group version of the object.'),
  })),
  ExternalMetricSource: struct('The wanted value of a metric from outside the cluster.', () => ({
    metric: required(ref('autoscaling/v2.MetricIdentifier'), 1, 'The metric.'),
    target: required(ref('autoscaling/v2.MetricTarget'), 2, 'Target value.'),
  })),
  ExternalMetricStatus: struct('The measured value of a metric from outside the cluster.', () => ({
    metric: required(ref('autoscaling/v2.MetricIdentifier'), 1, 'The metric.'),
    current: required(ref('autoscaling/v2.MetricValueStatus'), 2, 'Value that was measured.'),
  })),
  HPAScalingPolicy: struct('A bound on the change within some time.', () => ({
    type: checked(ref('autoscaling/v2.HPAScalingPolicyType'), 1, { required: true, doc: 'Pods or Percent.' }),
    value: required(int32(aboveZero), 2, 'Maximum change, as a number of pods or in percent. Above zero.'),
    periodSeconds: required(int32(aboveZero), 3, 'Period of the bound in seconds, from 1 to 1800.'),
  })),
  HPAScalingPolicyType: () => only(known('Percent', 'Pods')),
  HPAScalingRules: struct('Limits on the speed of scaling in one direction.', () => ({
    stabilizationWindowSeconds: pointer(int32(), 3, {
      doc: 'Length of the stabilization window in seconds, from 0 to 3600: the most cautious result in it applies. Default: 0 for up, 300 for down.',
    }),
    selectPolicy: pointer(ref('autoscaling/v2.ScalingPolicySelect'), 1, {
      doc: 'Choice among the policies: Max (the default), Min, or Disabled, which does not scale in this direction.',
    }),
    policies: atomic(list(ref('autoscaling/v2.HPAScalingPolicy')), 2, {
      needed: 'must specify at least one Policy',
      doc: 'Bounds on the change. At least one, or all are ignored.',
    }),
    tolerance: pointer(quantity({ sign: 'notNegative' }), 4, {
      ...gated('HPAConfigurableTolerance'),
      doc: 'Deviation from the target, as a share, below which nothing is scaled. Unset: the tolerance of the cluster, usually 0.1.',
    }),
  })),
  HorizontalPodAutoscaler: object('Sets the number of pods of another object by metrics.', () => ({
    metadata,
    spec: field(ref('autoscaling/v2.HorizontalPodAutoscalerSpec'), 2, {
      changes: { 36: { listedAsRequired: true } },
      doc: 'Target of scaling, its metrics and its bounds.',
    }),
    status: field(ref('autoscaling/v2.HorizontalPodAutoscalerStatus'), 3, 'Observed state of the autoscaler.'),
  })),
  HorizontalPodAutoscalerBehavior: struct('Limits on the speed of scaling up and down.', () => ({
    scaleUp: pointer(ref('autoscaling/v2.HPAScalingRules'), 1, {
      doc: 'Rules for more pods. Default: at most doubling or 4 more, whichever is more, every 15 seconds, without waiting.',
    }),
    scaleDown: pointer(ref('autoscaling/v2.HPAScalingRules'), 2, {
      doc: 'Rules for fewer pods. Default: down to the least number, to the highest value of the last 300 seconds.',
    }),
  })),
  HorizontalPodAutoscalerCondition: struct("One aspect of an autoscaler's state.", () => ({
    type: required(ref('autoscaling/v2.HorizontalPodAutoscalerConditionType'), 1, {
      doc: 'Aspect that the condition describes: ScalingActive, AbleToScale or ScalingLimited.',
    }),
    status: required(ref('core/v1.ConditionStatus'), 2, 'True, False or Unknown.'),
    ...lastChange(3),
    observedGeneration: pointer(int64(), 6, { ...gated('HPAGeneration'), doc: 'Generation of the autoscaler when the condition was set.' }),
  })),
  HorizontalPodAutoscalerConditionType: () =>
    valuesByLevel(known('ScalingActive', 'AbleToScale', 'ScalingLimited', 'ScaledToZero'), { since: { ScaledToZero: 36 } }),
  HorizontalPodAutoscalerList: objectList('autoscaling/v2.HorizontalPodAutoscaler'),
  HorizontalPodAutoscalerSpec: struct('Target of scaling, and its limits.', () => ({
    scaleTargetRef: required(ref('autoscaling/v2.CrossVersionObjectReference'), 1, {
      doc: 'Object that is scaled. It must have a scale subresource.',
    }),
    minReplicas: pointer(int32(), 2, {
      doc: 'Least number of pods. Default: 1. Zero only where the cluster allows it and an Object or External metric is used.',
    }),
    maxReplicas: required(int32(), 3, 'Greatest number of pods. Not less than minReplicas.'),
    metrics: atomic(list(ref('autoscaling/v2.MetricSpec')), 4, {
      doc: 'Measurements. Each gives a number of pods and the highest wins. Default: 80% of the CPU that the pods request.',
    }),
    behavior: pointer(ref('autoscaling/v2.HorizontalPodAutoscalerBehavior'), 5, 'Limits on the speed of scaling up and down.'),
  })),
  HorizontalPodAutoscalerStatus: struct('Observed state of an autoscaler.', () => ({
    observedGeneration: pointer(int64(), 1, 'The metadata.generation that the status was derived from.'),
    lastScaleTime: pointer(time(), 2, 'Time of the last change of the number of pods.'),
    currentReplicas: field(int32({ min: 0 }), 3, 'Number of pods when the autoscaler last read it.'),
    desiredReplicas: required(int32({ min: 0 }), 4, 'Number of pods that the autoscaler last computed.'),
    currentMetrics: atomic(list(ref('autoscaling/v2.MetricStatus')), 5, { keepEmpty: true, doc: 'Last measured value.' }),
    conditions: merged('type', list(ref('autoscaling/v2.HorizontalPodAutoscalerCondition')), 6, {
      doc: 'State of the autoscaler by aspect: it can measure, it can scale, its bounds limit it.',
    }),
  })),
  MetricIdentifier: struct('Names a metric.', () => ({
    name: required(text('pathSegment'), 1, { needed: 'must specify a metric name', doc: 'Name of the metric.' }),
    selector: pointer(ref('meta/v1.LabelSelector'), 2, 'Labels that narrow the metric down. Unset uses only its name.'),
  })),
  MetricSourceType: () => only(known('ContainerResource', 'External', 'Object', 'Pods', 'Resource')),
  MetricSpec: struct('A metric and its target value. The type decides which field is set.', () => ({
    type: required(ref('autoscaling/v2.MetricSourceType'), 1, {
      needed: 'must specify a metric source type',
      doc: 'Object, Pods, Resource, ContainerResource or External.',
    }),
    object: pointer(ref('autoscaling/v2.ObjectMetricSource'), 2, 'A metric of one object, such as requests at an ingress.'),
    pods: pointer(ref('autoscaling/v2.PodsMetricSource'), 3, 'A metric of each pod, averaged.'),
    resource: pointer(ref('autoscaling/v2.ResourceMetricSource'), 4, 'A resource of the pods, such as CPU, averaged.'),
    containerResource: pointer(ref('autoscaling/v2.ContainerResourceMetricSource'), 7, {
      featureGate: 'HPAContainerMetrics',
      doc: 'A resource of one container of each pod, averaged.',
    }),
    external: pointer(ref('autoscaling/v2.ExternalMetricSource'), 5, 'A metric from outside the cluster.'),
  })),
  MetricStatus: struct('A measured metric. The type decides which field is set.', () => ({
    type: required(ref('autoscaling/v2.MetricSourceType'), 1, 'Object, Pods, Resource, ContainerResource or External.'),
    object: pointer(ref('autoscaling/v2.ObjectMetricStatus'), 2, 'A metric of one object.'),
    pods: pointer(ref('autoscaling/v2.PodsMetricStatus'), 3, 'A metric of each pod, averaged.'),
    resource: pointer(ref('autoscaling/v2.ResourceMetricStatus'), 4, 'A resource of the pods, averaged.'),
    containerResource: pointer(ref('autoscaling/v2.ContainerResourceMetricStatus'), 7, {
      doc: 'A resource of one container of each pod, averaged.',
    }),
    external: pointer(ref('autoscaling/v2.ExternalMetricStatus'), 5, 'A metric from outside the cluster.'),
  })),
  MetricTarget: struct('The target value of a metric.', () => ({
    type: required(ref('autoscaling/v2.MetricTargetType'), 1, {
      needed: 'must specify a metric target type',
      doc: 'Utilization, Value or AverageValue.',
    }),
    value: pointer(quantity({ sign: 'positive', detail: 'must be positive' }), 2, 'The value as a whole.'),
    averageValue: pointer(quantity({ sign: 'positive', detail: 'must be positive' }), 3, 'The value for each pod.'),
    averageUtilization: pointer(int32({ min: 1 }), 4, 'Percent of what the pods request. For resources only.'),
  })),
  MetricTargetType: () => known('Utilization', 'Value', 'AverageValue'),
  MetricValueStatus: struct('The measured value of a metric.', () => ({
    value: pointer(quantity(), 1, 'The value as a whole.'),
    averageValue: pointer(quantity(), 2, 'The value for each pod.'),
    averageUtilization: pointer(int32(), 3, 'Percent of what the pods request. For resources only.'),
  })),
  ObjectMetricSource: struct('The wanted value of a metric of one object.', () => ({
    describedObject: required(ref('autoscaling/v2.CrossVersionObjectReference'), 1, 'The object.'),
    target: required(ref('autoscaling/v2.MetricTarget'), 2, 'Target value.'),
    metric: required(ref('autoscaling/v2.MetricIdentifier'), 3, 'The metric.'),
  })),
  ObjectMetricStatus: struct('The measured value of a metric of one object.', () => ({
    metric: required(ref('autoscaling/v2.MetricIdentifier'), 1, 'The metric.'),
    current: required(ref('autoscaling/v2.MetricValueStatus'), 2, 'Value that was measured.'),
    describedObject: required(ref('autoscaling/v2.CrossVersionObjectReference'), 3, 'The object.'),
  })),
  PodsMetricSource: struct('The wanted value of a metric of the pods.', () => ({
    metric: required(ref('autoscaling/v2.MetricIdentifier'), 1, 'The metric.'),
    target: required(ref('autoscaling/v2.MetricTarget'), 2, 'Target value as an average.'),
  })),
  PodsMetricStatus: struct('The measured value of a metric of the pods.', () => ({
    metric: required(ref('autoscaling/v2.MetricIdentifier'), 1, 'The metric.'),
    current: required(ref('autoscaling/v2.MetricValueStatus'), 2, 'Value that was measured.'),
  })),
  ResourceMetricSource: struct('The wanted use of a resource by the pods.', () => ({
    name: required(ref('core/v1.ResourceName'), 1, { needed: 'must specify a resource name', doc: 'Name of the resource.' }),
    target: required(ref('autoscaling/v2.MetricTarget'), 2, 'Target value.'),
  })),
  ResourceMetricStatus: struct('The measured use of a resource by the pods.', () => ({
    name: required(ref('core/v1.ResourceName'), 1, 'Name of the resource.'),
    current: required(ref('autoscaling/v2.MetricValueStatus'), 2, 'Value that was measured.'),
  })),
  ScalingPolicySelect: () => only(known('Disabled', 'Max', 'Min')),
})
