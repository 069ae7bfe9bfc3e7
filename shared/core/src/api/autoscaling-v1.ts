import {
  atomicStruct,
  closed,
  defineTypes,
  field,
  int32,
  int64,
  object,
  pointer,
  quantity,
  ref,
  required,
  string,
  struct,
  time,
} from '../description/define.ts'
import { inVersion } from '../description/in-version.ts'
import { autoscalingV2 } from './autoscaling-v2.ts'
import { metadata, objectList } from './common.ts'

const { HorizontalPodAutoscalerCondition, HorizontalPodAutoscalerConditionType, MetricStatus } = inVersion(autoscalingV2, {
  from: 'autoscaling/v2',
  to: 'autoscaling/v1',
})

/** The types of autoscaling/v1. */
export const autoscalingV1 = defineTypes({
  HorizontalPodAutoscalerCondition,
  HorizontalPodAutoscalerConditionType,
  MetricStatus,
  ContainerResourceMetricSource: struct('The wanted use of a resource by one container of each pod.', () => ({
    name: required(ref('core/v1.ResourceName'), { tag: 1, doc: 'Name of the resource.' }),
    targetAverageUtilization: pointer(int32(), { tag: 2, doc: 'Wanted use, in percent of what the containers request.' }),
    targetAverageValue: pointer(quantity(), { tag: 3, doc: 'Wanted use for each pod.' }),
    container: required(string(), { tag: 5, doc: 'Name of the container.' }),
  })),
  ContainerResourceMetricStatus: struct('The measured use of a resource by one container of each pod.', () => ({
    name: required(ref('core/v1.ResourceName'), { tag: 1, doc: 'Name of the resource.' }),
    currentAverageUtilization: pointer(int32(), {
      tag: 2,
      doc: 'Measured use, in percent of what the containers request. Only set if a wanted percentage is.',
    }),
    currentAverageValue: required(quantity(), { tag: 3, doc: 'Measured use for each pod.' }),
    container: required(string(), { tag: 4, doc: 'Name of the container.' }),
  })),
  CrossVersionObjectReference: atomicStruct('Names an object in the same namespace.', () => ({
    kind: required(string(), { tag: 1, doc: 'Kind of the object.' }),
    name: required(string(), { tag: 2, doc: 'Name of the object.' }),
    apiVersion: field(string(), { tag: 3, doc: 'Group version of the object.' }),
  })),
  ExternalMetricSource: struct('The wanted value of a metric from outside the cluster.', () => ({
    metricName: required(string(), { tag: 1, doc: 'Name of the metric.' }),
    metricSelector: pointer(ref('meta/v1.LabelSelector'), { tag: 2, doc: 'Labels that narrow the metric down.' }),
    targetValue: pointer(quantity(), { tag: 3, doc: 'Wanted value as a whole. Not together with targetAverageValue.' }),
    targetAverageValue: pointer(quantity(), { tag: 4, doc: 'Wanted value for each pod. Not together with targetValue.' }),
  })),
  ExternalMetricStatus: struct('The measured value of a metric from outside the cluster.', () => ({
    metricName: required(string(), { tag: 1, doc: 'Name of the metric.' }),
    metricSelector: pointer(ref('meta/v1.LabelSelector'), { tag: 2, doc: 'Labels that narrow the metric down.' }),
    currentValue: required(quantity(), { tag: 3, doc: 'Measured value as a whole.' }),
    currentAverageValue: pointer(quantity(), { tag: 4, doc: 'Measured value for each pod.' }),
  })),
  HorizontalPodAutoscaler: object('Sets the number of pods of another object from the CPU they use.', () => ({
    metadata,
    spec: field(ref('autoscaling/v1.HorizontalPodAutoscalerSpec'), {
      tag: 2,
      changes: { 36: { listedAsRequired: true } },
      doc: 'Target of scaling, and its bounds.',
    }),
    status: field(ref('autoscaling/v1.HorizontalPodAutoscalerStatus'), { tag: 3, doc: 'Observed state of the autoscaler.' }),
  })),
  HorizontalPodAutoscalerList: objectList('autoscaling/v1.HorizontalPodAutoscaler'),
  HorizontalPodAutoscalerSpec: struct('Target of scaling, and its limits.', () => ({
    scaleTargetRef: required(ref('autoscaling/v1.CrossVersionObjectReference'), {
      tag: 1,
      doc: 'Object that is scaled. It must have a scale subresource.',
    }),
    minReplicas: pointer(int32(), {
      tag: 2,
      doc: 'Least number of pods. Default: 1. Zero only where the cluster allows it and an Object or External metric is used.',
    }),
    maxReplicas: required(int32(), { tag: 3, doc: 'Greatest number of pods. Not less than minReplicas.' }),
    targetCPUUtilizationPercentage: pointer(int32(), {
      tag: 4,
      doc: 'Wanted average use of CPU, in percent of what the pods request. Default: 80.',
    }),
  })),
  HorizontalPodAutoscalerStatus: struct('Observed state of an autoscaler.', () => ({
    observedGeneration: pointer(int64(), { tag: 1, doc: 'The metadata.generation that the status was derived from.' }),
    lastScaleTime: pointer(time(), { tag: 2, doc: 'Time of the last change of the number of pods.' }),
    currentReplicas: required(int32(), { tag: 3, doc: 'Number of pods when the autoscaler last read it.' }),
    desiredReplicas: required(int32(), { tag: 4, doc: 'Number of pods that the autoscaler last computed.' }),
    currentCPUUtilizationPercentage: pointer(int32(), { tag: 5, doc: 'Average use of CPU, in percent of what the pods request.' }),
  })),
  MetricSourceType: () => closed('Object', 'Pods', 'Resource', 'ContainerResource', 'External'),
  MetricSpec: struct('A metric and its target value. The type decides which field is set.', () => ({
    type: required(ref('autoscaling/v1.MetricSourceType'), { tag: 1, doc: 'Object, Pods, Resource, ContainerResource or External.' }),
    object: pointer(ref('autoscaling/v1.ObjectMetricSource'), { tag: 2, doc: 'A metric of one object, such as requests at an ingress.' }),
    pods: pointer(ref('autoscaling/v1.PodsMetricSource'), { tag: 3, doc: 'A metric of each pod, averaged.' }),
    resource: pointer(ref('autoscaling/v1.ResourceMetricSource'), { tag: 4, doc: 'A resource of the pods, such as CPU, averaged.' }),
    containerResource: pointer(ref('autoscaling/v1.ContainerResourceMetricSource'), {
      tag: 7,
      doc: 'A resource of one container of each pod, averaged.',
    }),
    external: pointer(ref('autoscaling/v1.ExternalMetricSource'), { tag: 5, doc: 'A metric from outside the cluster.' }),
  })),
  ObjectMetricSource: struct('The wanted value of a metric of one object.', () => ({
    target: required(ref('autoscaling/v1.CrossVersionObjectReference'), { tag: 1, doc: 'The object.' }),
    metricName: required(string(), { tag: 2, doc: 'Name of the metric.' }),
    targetValue: required(quantity(), { tag: 3, doc: 'Wanted value as a whole.' }),
    selector: pointer(ref('meta/v1.LabelSelector'), { tag: 4, doc: 'Labels that narrow the metric down.' }),
    averageValue: pointer(quantity(), { tag: 5, doc: 'Wanted value for each pod.' }),
  })),
  ObjectMetricStatus: struct('The measured value of a metric of one object.', () => ({
    target: required(ref('autoscaling/v1.CrossVersionObjectReference'), { tag: 1, doc: 'The object.' }),
    metricName: required(string(), { tag: 2, doc: 'Name of the metric.' }),
    currentValue: required(quantity(), { tag: 3, doc: 'Measured value as a whole.' }),
    selector: pointer(ref('meta/v1.LabelSelector'), { tag: 4, doc: 'Labels that narrow the metric down.' }),
    averageValue: pointer(quantity(), { tag: 5, doc: 'Measured value for each pod.' }),
  })),
  PodsMetricSource: struct('The wanted value of a metric of the pods.', () => ({
    metricName: required(string(), { tag: 1, doc: 'Name of the metric.' }),
    targetAverageValue: required(quantity(), { tag: 2, doc: 'Wanted value for each pod.' }),
    selector: pointer(ref('meta/v1.LabelSelector'), { tag: 3, doc: 'Labels that narrow the metric down.' }),
  })),
  PodsMetricStatus: struct('The measured value of a metric of the pods.', () => ({
    metricName: required(string(), { tag: 1, doc: 'Name of the metric.' }),
    currentAverageValue: required(quantity(), { tag: 2, doc: 'Measured value for each pod.' }),
    selector: pointer(ref('meta/v1.LabelSelector'), { tag: 3, doc: 'Labels that narrow the metric down.' }),
  })),
  ResourceMetricSource: struct('The wanted use of a resource by the pods.', () => ({
    name: required(ref('core/v1.ResourceName'), { tag: 1, doc: 'Name of the resource.' }),
    targetAverageUtilization: pointer(int32(), { tag: 2, doc: 'Wanted use, in percent of what the pods request.' }),
    targetAverageValue: pointer(quantity(), { tag: 3, doc: 'Wanted use for each pod.' }),
  })),
  ResourceMetricStatus: struct('The measured use of a resource by the pods.', () => ({
    name: required(ref('core/v1.ResourceName'), { tag: 1, doc: 'Name of the resource.' }),
    currentAverageUtilization: pointer(int32(), {
      tag: 2,
      doc: 'Measured use, in percent of what the pods request. Only set if a wanted percentage is.',
    }),
    currentAverageValue: required(quantity(), { tag: 3, doc: 'Measured use for each pod.' }),
  })),
  Scale: object('The number of pods of another object. It can be read and set here.', () => ({
    metadata,
    spec: field(ref('autoscaling/v1.ScaleSpec'), { tag: 2, doc: 'Desired number of pods.' }),
    status: field(ref('autoscaling/v1.ScaleStatus'), { tag: 3, doc: 'Current number of pods.' }),
  })),
  ScaleSpec: struct('The desired number of pods.', () => ({
    replicas: field(int32(), { tag: 1, changes: { 34: { default: 0 } }, doc: 'Number of pods.' }),
  })),
  ScaleStatus: struct('The current number of pods.', () => ({
    replicas: required(int32(), { tag: 1, doc: 'Number of pods when the autoscaler last read it.' }),
    selector: field(string(), { tag: 2, doc: 'Labels of the pods, as the text of a label selector.' }),
  })),
})
