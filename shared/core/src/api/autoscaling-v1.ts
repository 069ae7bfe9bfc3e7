import { closed, defineTypes, field, int32, int64, known, list, object, quantity, ref, string, struct, time } from '../schema/define.ts'

/** The types of autoscaling/v1: one definition each, read by everything that knows a type. */
export const autoscalingV1 = defineTypes({
  ContainerResourceMetricSource: () =>
    struct({
      name: field(ref('core/v1.ResourceName'), { tag: 1, required: true }),
      targetAverageUtilization: field(int32(), { tag: 2, pointer: true }),
      targetAverageValue: field(quantity(), { tag: 3, pointer: true }),
      container: field(string(), { tag: 5, required: true }),
    }),
  ContainerResourceMetricStatus: () =>
    struct({
      name: field(ref('core/v1.ResourceName'), { tag: 1, required: true }),
      currentAverageUtilization: field(int32(), { tag: 2, pointer: true }),
      currentAverageValue: field(quantity(), { tag: 3, required: true }),
      container: field(string(), { tag: 4, required: true }),
    }),
  CrossVersionObjectReference: () =>
    struct(
      {
        kind: field(string(), { tag: 1, required: true }),
        name: field(string(), { tag: 2, required: true }),
        apiVersion: field(string(), { tag: 3 }),
      },
      { structType: 'atomic' },
    ),
  ExternalMetricSource: () =>
    struct({
      metricName: field(string(), { tag: 1, required: true }),
      metricSelector: field(ref('meta/v1.LabelSelector'), { tag: 2, pointer: true }),
      targetValue: field(quantity(), { tag: 3, pointer: true }),
      targetAverageValue: field(quantity(), { tag: 4, pointer: true }),
    }),
  ExternalMetricStatus: () =>
    struct({
      metricName: field(string(), { tag: 1, required: true }),
      metricSelector: field(ref('meta/v1.LabelSelector'), { tag: 2, pointer: true }),
      currentValue: field(quantity(), { tag: 3, required: true }),
      currentAverageValue: field(quantity(), { tag: 4, pointer: true }),
    }),
  HorizontalPodAutoscaler: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('autoscaling/v1.HorizontalPodAutoscalerSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
      status: field(ref('autoscaling/v1.HorizontalPodAutoscalerStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  HorizontalPodAutoscalerCondition: () =>
    struct({
      type: field(ref('autoscaling/v1.HorizontalPodAutoscalerConditionType'), {
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
        items: field(list(ref('autoscaling/v1.HorizontalPodAutoscaler')), {
          tag: 2,
          required: true,
          doc: 'The HorizontalPodAutoscaler objects of the list.',
        }),
      },
      { doc: 'A list of HorizontalPodAutoscaler objects.' },
    ),
  HorizontalPodAutoscalerSpec: () =>
    struct({
      scaleTargetRef: field(ref('autoscaling/v1.CrossVersionObjectReference'), { tag: 1, required: true }),
      minReplicas: field(int32(), { tag: 2, pointer: true }),
      maxReplicas: field(int32(), { tag: 3, required: true }),
      targetCPUUtilizationPercentage: field(int32(), { tag: 4, pointer: true }),
    }),
  HorizontalPodAutoscalerStatus: () =>
    struct({
      observedGeneration: field(int64(), { tag: 1, pointer: true }),
      lastScaleTime: field(time(), { tag: 2, pointer: true }),
      currentReplicas: field(int32(), { tag: 3, required: true }),
      desiredReplicas: field(int32(), { tag: 4, required: true }),
      currentCPUUtilizationPercentage: field(int32(), { tag: 5, pointer: true }),
    }),
  MetricSourceType: () => closed('Object', 'Pods', 'Resource', 'ContainerResource', 'External'),
  MetricSpec: () =>
    struct({
      type: field(ref('autoscaling/v1.MetricSourceType'), { tag: 1, required: true }),
      object: field(ref('autoscaling/v1.ObjectMetricSource'), { tag: 2, pointer: true }),
      pods: field(ref('autoscaling/v1.PodsMetricSource'), { tag: 3, pointer: true }),
      resource: field(ref('autoscaling/v1.ResourceMetricSource'), { tag: 4, pointer: true }),
      containerResource: field(ref('autoscaling/v1.ContainerResourceMetricSource'), { tag: 7, pointer: true }),
      external: field(ref('autoscaling/v1.ExternalMetricSource'), { tag: 5, pointer: true }),
    }),
  MetricStatus: () =>
    struct({
      type: field(ref('autoscaling/v1.MetricSourceType'), { tag: 1, required: true }),
      object: field(ref('autoscaling/v1.ObjectMetricStatus'), { tag: 2, pointer: true }),
      pods: field(ref('autoscaling/v1.PodsMetricStatus'), { tag: 3, pointer: true }),
      resource: field(ref('autoscaling/v1.ResourceMetricStatus'), { tag: 4, pointer: true }),
      containerResource: field(ref('autoscaling/v1.ContainerResourceMetricStatus'), { tag: 7, pointer: true }),
      external: field(ref('autoscaling/v1.ExternalMetricStatus'), { tag: 5, pointer: true }),
    }),
  ObjectMetricSource: () =>
    struct({
      target: field(ref('autoscaling/v1.CrossVersionObjectReference'), { tag: 1, required: true }),
      metricName: field(string(), { tag: 2, required: true }),
      targetValue: field(quantity(), { tag: 3, required: true }),
      selector: field(ref('meta/v1.LabelSelector'), { tag: 4, pointer: true }),
      averageValue: field(quantity(), { tag: 5, pointer: true }),
    }),
  ObjectMetricStatus: () =>
    struct({
      target: field(ref('autoscaling/v1.CrossVersionObjectReference'), { tag: 1, required: true }),
      metricName: field(string(), { tag: 2, required: true }),
      currentValue: field(quantity(), { tag: 3, required: true }),
      selector: field(ref('meta/v1.LabelSelector'), { tag: 4, pointer: true }),
      averageValue: field(quantity(), { tag: 5, pointer: true }),
    }),
  PodsMetricSource: () =>
    struct({
      metricName: field(string(), { tag: 1, required: true }),
      targetAverageValue: field(quantity(), { tag: 2, required: true }),
      selector: field(ref('meta/v1.LabelSelector'), { tag: 3, pointer: true }),
    }),
  PodsMetricStatus: () =>
    struct({
      metricName: field(string(), { tag: 1, required: true }),
      currentAverageValue: field(quantity(), { tag: 2, required: true }),
      selector: field(ref('meta/v1.LabelSelector'), { tag: 3, pointer: true }),
    }),
  ResourceMetricSource: () =>
    struct({
      name: field(ref('core/v1.ResourceName'), { tag: 1, required: true }),
      targetAverageUtilization: field(int32(), { tag: 2, pointer: true }),
      targetAverageValue: field(quantity(), { tag: 3, pointer: true }),
    }),
  ResourceMetricStatus: () =>
    struct({
      name: field(ref('core/v1.ResourceName'), { tag: 1, required: true }),
      currentAverageUtilization: field(int32(), { tag: 2, pointer: true }),
      currentAverageValue: field(quantity(), { tag: 3, required: true }),
    }),
  Scale: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('autoscaling/v1.ScaleSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
      status: field(ref('autoscaling/v1.ScaleStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  ScaleSpec: () =>
    struct({
      replicas: field(int32(), { tag: 1 }),
    }),
  ScaleStatus: () =>
    struct({
      replicas: field(int32(), { tag: 1, required: true }),
      selector: field(string(), { tag: 2 }),
    }),
})
