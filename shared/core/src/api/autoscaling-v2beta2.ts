import { defineTypes, field, int32, int64, known, list, object, quantity, ref, string, struct, time } from '../schema/define.ts'

/** The types of autoscaling/v2beta2: one definition each, read by everything that knows a type. */
export const autoscalingV2beta2 = defineTypes({
  ContainerResourceMetricSource: () =>
    struct({
      name: field(ref('core/v1.ResourceName'), { tag: 1, required: true }),
      target: field(ref('autoscaling/v2beta2.MetricTarget'), { tag: 2, required: true }),
      container: field(string(), { tag: 3, required: true }),
    }),
  ContainerResourceMetricStatus: () =>
    struct({
      name: field(ref('core/v1.ResourceName'), { tag: 1, required: true }),
      current: field(ref('autoscaling/v2beta2.MetricValueStatus'), { tag: 2, required: true }),
      container: field(string(), { tag: 3, required: true }),
    }),
  CrossVersionObjectReference: () =>
    struct({
      kind: field(string(), { tag: 1, required: true }),
      name: field(string(), { tag: 2, required: true }),
      apiVersion: field(string(), { tag: 3 }),
    }),
  ExternalMetricSource: () =>
    struct({
      metric: field(ref('autoscaling/v2beta2.MetricIdentifier'), { tag: 1, required: true }),
      target: field(ref('autoscaling/v2beta2.MetricTarget'), { tag: 2, required: true }),
    }),
  ExternalMetricStatus: () =>
    struct({
      metric: field(ref('autoscaling/v2beta2.MetricIdentifier'), { tag: 1, required: true }),
      current: field(ref('autoscaling/v2beta2.MetricValueStatus'), { tag: 2, required: true }),
    }),
  HPAScalingPolicy: () =>
    struct({
      type: field(ref('autoscaling/v2beta2.HPAScalingPolicyType'), { tag: 1, required: true }),
      value: field(int32(), { tag: 2, required: true }),
      periodSeconds: field(int32(), { tag: 3, required: true }),
    }),
  HPAScalingPolicyType: () => known('Pods', 'Percent'),
  HPAScalingRules: () =>
    struct({
      stabilizationWindowSeconds: field(int32(), { tag: 3, pointer: true }),
      selectPolicy: field(ref('autoscaling/v2beta2.ScalingPolicySelect'), { tag: 1, pointer: true }),
      policies: field(list(ref('autoscaling/v2beta2.HPAScalingPolicy')), { tag: 2 }),
    }),
  HorizontalPodAutoscaler: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('autoscaling/v2beta2.HorizontalPodAutoscalerSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
      status: field(ref('autoscaling/v2beta2.HorizontalPodAutoscalerStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  HorizontalPodAutoscalerBehavior: () =>
    struct({
      scaleUp: field(ref('autoscaling/v2beta2.HPAScalingRules'), { tag: 1, pointer: true }),
      scaleDown: field(ref('autoscaling/v2beta2.HPAScalingRules'), { tag: 2, pointer: true }),
    }),
  HorizontalPodAutoscalerCondition: () =>
    struct({
      type: field(ref('autoscaling/v2beta2.HorizontalPodAutoscalerConditionType'), {
        tag: 1,
        required: true,
        doc: 'What the condition is about.',
      }),
      status: field(ref('core/v1.ConditionStatus'), { tag: 2, required: true, doc: 'True, False or Unknown.' }),
      lastTransitionTime: field(time(), { tag: 3, doc: 'When the status last changed from one value to another.' }),
      reason: field(string(), { tag: 4, doc: 'One word in CamelCase that says why the condition has this status, for programs.' }),
      message: field(string(), { tag: 5, doc: 'Details of the last change, for people.' }),
    }),
  HorizontalPodAutoscalerConditionType: () => known('ScalingActive', 'AbleToScale', 'ScalingLimited'),
  HorizontalPodAutoscalerList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('autoscaling/v2beta2.HorizontalPodAutoscaler')), {
          tag: 2,
          required: true,
          doc: 'The HorizontalPodAutoscaler objects of the list.',
        }),
      },
      { doc: 'A list of HorizontalPodAutoscaler objects.' },
    ),
  HorizontalPodAutoscalerSpec: () =>
    struct({
      scaleTargetRef: field(ref('autoscaling/v2beta2.CrossVersionObjectReference'), { tag: 1, required: true }),
      minReplicas: field(int32(), { tag: 2, pointer: true }),
      maxReplicas: field(int32(), { tag: 3, required: true }),
      metrics: field(list(ref('autoscaling/v2beta2.MetricSpec')), { tag: 4 }),
      behavior: field(ref('autoscaling/v2beta2.HorizontalPodAutoscalerBehavior'), { tag: 5, pointer: true }),
    }),
  HorizontalPodAutoscalerStatus: () =>
    struct({
      observedGeneration: field(int64(), { tag: 1, pointer: true }),
      lastScaleTime: field(time(), { tag: 2, pointer: true }),
      currentReplicas: field(int32(), { tag: 3, required: true }),
      desiredReplicas: field(int32(), { tag: 4, required: true }),
      currentMetrics: field(list(ref('autoscaling/v2beta2.MetricStatus')), { tag: 5, keepEmpty: true }),
      conditions: field(list(ref('autoscaling/v2beta2.HorizontalPodAutoscalerCondition')), { tag: 6, keepEmpty: true }),
    }),
  MetricIdentifier: () =>
    struct({
      name: field(string(), { tag: 1, required: true }),
      selector: field(ref('meta/v1.LabelSelector'), { tag: 2, pointer: true }),
    }),
  MetricSourceType: () => known('Object', 'Pods', 'Resource', 'ContainerResource', 'External'),
  MetricSpec: () =>
    struct({
      type: field(ref('autoscaling/v2beta2.MetricSourceType'), { tag: 1, required: true }),
      object: field(ref('autoscaling/v2beta2.ObjectMetricSource'), { tag: 2, pointer: true }),
      pods: field(ref('autoscaling/v2beta2.PodsMetricSource'), { tag: 3, pointer: true }),
      resource: field(ref('autoscaling/v2beta2.ResourceMetricSource'), { tag: 4, pointer: true }),
      containerResource: field(ref('autoscaling/v2beta2.ContainerResourceMetricSource'), { tag: 7, pointer: true }),
      external: field(ref('autoscaling/v2beta2.ExternalMetricSource'), { tag: 5, pointer: true }),
    }),
  MetricStatus: () =>
    struct({
      type: field(ref('autoscaling/v2beta2.MetricSourceType'), { tag: 1, required: true }),
      object: field(ref('autoscaling/v2beta2.ObjectMetricStatus'), { tag: 2, pointer: true }),
      pods: field(ref('autoscaling/v2beta2.PodsMetricStatus'), { tag: 3, pointer: true }),
      resource: field(ref('autoscaling/v2beta2.ResourceMetricStatus'), { tag: 4, pointer: true }),
      containerResource: field(ref('autoscaling/v2beta2.ContainerResourceMetricStatus'), { tag: 7, pointer: true }),
      external: field(ref('autoscaling/v2beta2.ExternalMetricStatus'), { tag: 5, pointer: true }),
    }),
  MetricTarget: () =>
    struct({
      type: field(ref('autoscaling/v2beta2.MetricTargetType'), { tag: 1, required: true }),
      value: field(quantity(), { tag: 2, pointer: true }),
      averageValue: field(quantity(), { tag: 3, pointer: true }),
      averageUtilization: field(int32(), { tag: 4, pointer: true }),
    }),
  MetricTargetType: () => known('Utilization', 'Value', 'AverageValue'),
  MetricValueStatus: () =>
    struct({
      value: field(quantity(), { tag: 1, pointer: true }),
      averageValue: field(quantity(), { tag: 2, pointer: true }),
      averageUtilization: field(int32(), { tag: 3, pointer: true }),
    }),
  ObjectMetricSource: () =>
    struct({
      describedObject: field(ref('autoscaling/v2beta2.CrossVersionObjectReference'), { tag: 1, required: true }),
      target: field(ref('autoscaling/v2beta2.MetricTarget'), { tag: 2, required: true }),
      metric: field(ref('autoscaling/v2beta2.MetricIdentifier'), { tag: 3, required: true }),
    }),
  ObjectMetricStatus: () =>
    struct({
      metric: field(ref('autoscaling/v2beta2.MetricIdentifier'), { tag: 1, required: true }),
      current: field(ref('autoscaling/v2beta2.MetricValueStatus'), { tag: 2, required: true }),
      describedObject: field(ref('autoscaling/v2beta2.CrossVersionObjectReference'), { tag: 3, required: true }),
    }),
  PodsMetricSource: () =>
    struct({
      metric: field(ref('autoscaling/v2beta2.MetricIdentifier'), { tag: 1, required: true }),
      target: field(ref('autoscaling/v2beta2.MetricTarget'), { tag: 2, required: true }),
    }),
  PodsMetricStatus: () =>
    struct({
      metric: field(ref('autoscaling/v2beta2.MetricIdentifier'), { tag: 1, required: true }),
      current: field(ref('autoscaling/v2beta2.MetricValueStatus'), { tag: 2, required: true }),
    }),
  ResourceMetricSource: () =>
    struct({
      name: field(ref('core/v1.ResourceName'), { tag: 1, required: true }),
      target: field(ref('autoscaling/v2beta2.MetricTarget'), { tag: 2, required: true }),
    }),
  ResourceMetricStatus: () =>
    struct({
      name: field(ref('core/v1.ResourceName'), { tag: 1, required: true }),
      current: field(ref('autoscaling/v2beta2.MetricValueStatus'), { tag: 2, required: true }),
    }),
  ScalingPolicySelect: () => known('Max', 'Min', 'Disabled'),
})
