import {
  closed,
  defineTypes,
  field,
  int32,
  int64,
  known,
  object,
  quantity,
  ref,
  string,
  struct,
  time,
  valuesByLevel,
} from '../description/define.ts'
import { metadata, objectList } from './common.ts'

/** The types of autoscaling/v1. */
export const autoscalingV1 = defineTypes({
  ContainerResourceMetricSource: () =>
    struct(
      {
        name: field(ref('core/v1.ResourceName'), { tag: 1, required: true, doc: 'Name of the resource.' }),
        targetAverageUtilization: field(int32(), { tag: 2, pointer: true, doc: 'Wanted use, in percent of what the containers request.' }),
        targetAverageValue: field(quantity(), { tag: 3, pointer: true, doc: 'Wanted use for each pod.' }),
        container: field(string(), { tag: 5, required: true, doc: 'Name of the container.' }),
      },
      { doc: 'The wanted use of a resource by one container of each pod.' },
    ),
  ContainerResourceMetricStatus: () =>
    struct(
      {
        name: field(ref('core/v1.ResourceName'), { tag: 1, required: true, doc: 'Name of the resource.' }),
        currentAverageUtilization: field(int32(), {
          tag: 2,
          pointer: true,
          doc: 'Measured use, in percent of what the containers request. Only set if a wanted percentage is.',
        }),
        currentAverageValue: field(quantity(), { tag: 3, required: true, doc: 'Measured use for each pod.' }),
        container: field(string(), { tag: 4, required: true, doc: 'Name of the container.' }),
      },
      { doc: 'The measured use of a resource by one container of each pod.' },
    ),
  CrossVersionObjectReference: () =>
    struct(
      {
        kind: field(string(), { tag: 1, required: true, doc: 'Kind of the object.' }),
        name: field(string(), { tag: 2, required: true, doc: 'Name of the object.' }),
        apiVersion: field(string(), { tag: 3, doc: 'Group version of the object.' }),
      },
      { structType: 'atomic', doc: 'Names an object in the same namespace.' },
    ),
  ExternalMetricSource: () =>
    struct(
      {
        metricName: field(string(), { tag: 1, required: true, doc: 'Name of the metric.' }),
        metricSelector: field(ref('meta/v1.LabelSelector'), { tag: 2, pointer: true, doc: 'Labels that narrow the metric down.' }),
        targetValue: field(quantity(), { tag: 3, pointer: true, doc: 'Wanted value as a whole. Not together with targetAverageValue.' }),
        targetAverageValue: field(quantity(), { tag: 4, pointer: true, doc: 'Wanted value for each pod. Not together with targetValue.' }),
      },
      { doc: 'The wanted value of a metric from outside the cluster.' },
    ),
  ExternalMetricStatus: () =>
    struct(
      {
        metricName: field(string(), { tag: 1, required: true, doc: 'Name of the metric.' }),
        metricSelector: field(ref('meta/v1.LabelSelector'), { tag: 2, pointer: true, doc: 'Labels that narrow the metric down.' }),
        currentValue: field(quantity(), { tag: 3, required: true, doc: 'Measured value as a whole.' }),
        currentAverageValue: field(quantity(), { tag: 4, pointer: true, doc: 'Measured value for each pod.' }),
      },
      { doc: 'The measured value of a metric from outside the cluster.' },
    ),
  HorizontalPodAutoscaler: () =>
    object(
      {
        metadata,
        spec: field(ref('autoscaling/v1.HorizontalPodAutoscalerSpec'), {
          tag: 2,
          changes: { 36: { listedAsRequired: true } },
          doc: 'Target of scaling, and its bounds.',
        }),
        status: field(ref('autoscaling/v1.HorizontalPodAutoscalerStatus'), {
          tag: 3,
          doc: 'Observed state of the autoscaler.',
        }),
      },
      { doc: 'Sets the number of pods of another object from the CPU they use.' },
    ),
  HorizontalPodAutoscalerCondition: () =>
    struct(
      {
        type: field(ref('autoscaling/v1.HorizontalPodAutoscalerConditionType'), {
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
  HorizontalPodAutoscalerList: () => objectList('autoscaling/v1.HorizontalPodAutoscaler'),
  HorizontalPodAutoscalerSpec: () =>
    struct(
      {
        scaleTargetRef: field(ref('autoscaling/v1.CrossVersionObjectReference'), {
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
        targetCPUUtilizationPercentage: field(int32(), {
          tag: 4,
          pointer: true,
          doc: 'Wanted average use of CPU, in percent of what the pods request. Default: 80.',
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
        currentCPUUtilizationPercentage: field(int32(), {
          tag: 5,
          pointer: true,
          doc: 'Average use of CPU, in percent of what the pods request.',
        }),
      },
      { doc: 'Observed state of an autoscaler.' },
    ),
  MetricSourceType: () => closed('Object', 'Pods', 'Resource', 'ContainerResource', 'External'),
  MetricSpec: () =>
    struct(
      {
        type: field(ref('autoscaling/v1.MetricSourceType'), {
          tag: 1,
          required: true,
          doc: 'Object, Pods, Resource, ContainerResource or External.',
        }),
        object: field(ref('autoscaling/v1.ObjectMetricSource'), {
          tag: 2,
          pointer: true,
          doc: 'A metric of one object, such as requests at an ingress.',
        }),
        pods: field(ref('autoscaling/v1.PodsMetricSource'), { tag: 3, pointer: true, doc: 'A metric of each pod, averaged.' }),
        resource: field(ref('autoscaling/v1.ResourceMetricSource'), {
          tag: 4,
          pointer: true,
          doc: 'A resource of the pods, such as CPU, averaged.',
        }),
        containerResource: field(ref('autoscaling/v1.ContainerResourceMetricSource'), {
          tag: 7,
          pointer: true,
          doc: 'A resource of one container of each pod, averaged.',
        }),
        external: field(ref('autoscaling/v1.ExternalMetricSource'), { tag: 5, pointer: true, doc: 'A metric from outside the cluster.' }),
      },
      { doc: 'A metric and its target value. The type decides which field is set.' },
    ),
  MetricStatus: () =>
    struct(
      {
        type: field(ref('autoscaling/v1.MetricSourceType'), {
          tag: 1,
          required: true,
          doc: 'Object, Pods, Resource, ContainerResource or External.',
        }),
        object: field(ref('autoscaling/v1.ObjectMetricStatus'), { tag: 2, pointer: true, doc: 'A metric of one object.' }),
        pods: field(ref('autoscaling/v1.PodsMetricStatus'), { tag: 3, pointer: true, doc: 'A metric of each pod, averaged.' }),
        resource: field(ref('autoscaling/v1.ResourceMetricStatus'), { tag: 4, pointer: true, doc: 'A resource of the pods, averaged.' }),
        containerResource: field(ref('autoscaling/v1.ContainerResourceMetricStatus'), {
          tag: 7,
          pointer: true,
          doc: 'A resource of one container of each pod, averaged.',
        }),
        external: field(ref('autoscaling/v1.ExternalMetricStatus'), { tag: 5, pointer: true, doc: 'A metric from outside the cluster.' }),
      },
      { doc: 'A measured metric. The type decides which field is set.' },
    ),
  ObjectMetricSource: () =>
    struct(
      {
        target: field(ref('autoscaling/v1.CrossVersionObjectReference'), { tag: 1, required: true, doc: 'The object.' }),
        metricName: field(string(), { tag: 2, required: true, doc: 'Name of the metric.' }),
        targetValue: field(quantity(), { tag: 3, required: true, doc: 'Wanted value as a whole.' }),
        selector: field(ref('meta/v1.LabelSelector'), { tag: 4, pointer: true, doc: 'Labels that narrow the metric down.' }),
        averageValue: field(quantity(), { tag: 5, pointer: true, doc: 'Wanted value for each pod.' }),
      },
      { doc: 'The wanted value of a metric of one object.' },
    ),
  ObjectMetricStatus: () =>
    struct(
      {
        target: field(ref('autoscaling/v1.CrossVersionObjectReference'), { tag: 1, required: true, doc: 'The object.' }),
        metricName: field(string(), { tag: 2, required: true, doc: 'Name of the metric.' }),
        currentValue: field(quantity(), { tag: 3, required: true, doc: 'Measured value as a whole.' }),
        selector: field(ref('meta/v1.LabelSelector'), { tag: 4, pointer: true, doc: 'Labels that narrow the metric down.' }),
        averageValue: field(quantity(), { tag: 5, pointer: true, doc: 'Measured value for each pod.' }),
      },
      { doc: 'The measured value of a metric of one object.' },
    ),
  PodsMetricSource: () =>
    struct(
      {
        metricName: field(string(), { tag: 1, required: true, doc: 'Name of the metric.' }),
        targetAverageValue: field(quantity(), { tag: 2, required: true, doc: 'Wanted value for each pod.' }),
        selector: field(ref('meta/v1.LabelSelector'), { tag: 3, pointer: true, doc: 'Labels that narrow the metric down.' }),
      },
      { doc: 'The wanted value of a metric of the pods.' },
    ),
  PodsMetricStatus: () =>
    struct(
      {
        metricName: field(string(), { tag: 1, required: true, doc: 'Name of the metric.' }),
        currentAverageValue: field(quantity(), { tag: 2, required: true, doc: 'Measured value for each pod.' }),
        selector: field(ref('meta/v1.LabelSelector'), { tag: 3, pointer: true, doc: 'Labels that narrow the metric down.' }),
      },
      { doc: 'The measured value of a metric of the pods.' },
    ),
  ResourceMetricSource: () =>
    struct(
      {
        name: field(ref('core/v1.ResourceName'), { tag: 1, required: true, doc: 'Name of the resource.' }),
        targetAverageUtilization: field(int32(), { tag: 2, pointer: true, doc: 'Wanted use, in percent of what the pods request.' }),
        targetAverageValue: field(quantity(), { tag: 3, pointer: true, doc: 'Wanted use for each pod.' }),
      },
      { doc: 'The wanted use of a resource by the pods.' },
    ),
  ResourceMetricStatus: () =>
    struct(
      {
        name: field(ref('core/v1.ResourceName'), { tag: 1, required: true, doc: 'Name of the resource.' }),
        currentAverageUtilization: field(int32(), {
          tag: 2,
          pointer: true,
          doc: 'Measured use, in percent of what the pods request. Only set if a wanted percentage is.',
        }),
        currentAverageValue: field(quantity(), { tag: 3, required: true, doc: 'Measured use for each pod.' }),
      },
      { doc: 'The measured use of a resource by the pods.' },
    ),
  Scale: () =>
    object(
      {
        metadata,
        spec: field(ref('autoscaling/v1.ScaleSpec'), { tag: 2, doc: 'Desired number of pods.' }),
        status: field(ref('autoscaling/v1.ScaleStatus'), {
          tag: 3,
          doc: 'Current number of pods.',
        }),
      },
      { doc: 'The number of pods of another object. It can be read and set here.' },
    ),
  ScaleSpec: () =>
    struct(
      {
        replicas: field(int32(), { tag: 1, changes: { 34: { default: 0 } }, doc: 'Number of pods.' }),
      },
      { doc: 'The desired number of pods.' },
    ),
  ScaleStatus: () =>
    struct(
      {
        replicas: field(int32(), { tag: 1, required: true, doc: 'Number of pods when the autoscaler last read it.' }),
        selector: field(string(), { tag: 2, doc: 'Labels of the pods, as the text of a label selector.' }),
      },
      { doc: 'The current number of pods.' },
    ),
})
