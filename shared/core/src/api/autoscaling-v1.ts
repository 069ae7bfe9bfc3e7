import { field, pointer, required } from '../description/fields.ts'
import { inVersion } from '../description/in-version.ts'
import { atomicStruct, defineTypes, object, struct } from '../description/structs.ts'
import { closed, string } from '../description/texts.ts'
import { int32, int64, quantity, ref, time } from '../description/values.ts'
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
    name: required(ref('core/v1.ResourceName'), 1, 'Name of the resource.'),
    targetAverageUtilization: pointer(int32(), 2, 'Wanted use, in percent of what the containers request.'),
    targetAverageValue: pointer(quantity(), 3, 'Wanted use for each pod.'),
    container: required(string(), 5, 'Name of the container.'),
  })),
  ContainerResourceMetricStatus: struct('The measured use of a resource by one container of each pod.', () => ({
    name: required(ref('core/v1.ResourceName'), 1, 'Name of the resource.'),
    currentAverageUtilization: pointer(int32(), 2, {
      doc: 'Measured use, in percent of what the containers request. Only set if a wanted percentage is.',
    }),
    currentAverageValue: required(quantity(), 3, 'Measured use for each pod.'),
    container: required(string(), 4, 'Name of the container.'),
  })),
  CrossVersionObjectReference: atomicStruct('Names an object in the same namespace.', () => ({
    kind: required(string(), 1, 'Kind of the object.'),
    name: required(string(), 2, 'Name of the object.'),
    apiVersion: field(string(), 3, 'Group version of the object.'),
  })),
  ExternalMetricSource: struct('The wanted value of a metric from outside the cluster.', () => ({
    metricName: required(string(), 1, 'Name of the metric.'),
    metricSelector: pointer(ref('meta/v1.LabelSelector'), 2, 'Labels that narrow the metric down.'),
    targetValue: pointer(quantity(), 3, 'Wanted value as a whole. Not together with targetAverageValue.'),
    targetAverageValue: pointer(quantity(), 4, 'Wanted value for each pod. Not together with targetValue.'),
  })),
  ExternalMetricStatus: struct('The measured value of a metric from outside the cluster.', () => ({
    metricName: required(string(), 1, 'Name of the metric.'),
    metricSelector: pointer(ref('meta/v1.LabelSelector'), 2, 'Labels that narrow the metric down.'),
    currentValue: required(quantity(), 3, 'Measured value as a whole.'),
    currentAverageValue: pointer(quantity(), 4, 'Measured value for each pod.'),
  })),
  HorizontalPodAutoscaler: object('Sets the number of pods of another object from the CPU they use.', () => ({
    metadata,
    spec: field(ref('autoscaling/v1.HorizontalPodAutoscalerSpec'), 2, {
      changes: { 36: { listedAsRequired: true } },
      doc: 'Target of scaling, and its bounds.',
    }),
    status: field(ref('autoscaling/v1.HorizontalPodAutoscalerStatus'), 3, 'Observed state of the autoscaler.'),
  })),
  HorizontalPodAutoscalerList: objectList('autoscaling/v1.HorizontalPodAutoscaler'),
  HorizontalPodAutoscalerSpec: struct('Target of scaling, and its limits.', () => ({
    scaleTargetRef: required(ref('autoscaling/v1.CrossVersionObjectReference'), 1, {
      doc: 'Object that is scaled. It must have a scale subresource.',
    }),
    minReplicas: pointer(int32(), 2, {
      doc: 'Least number of pods. Default: 1. Zero only where the cluster allows it and an Object or External metric is used.',
    }),
    maxReplicas: required(int32(), 3, 'Greatest number of pods. Not less than minReplicas.'),
    targetCPUUtilizationPercentage: pointer(int32(), 4, 'Wanted average use of CPU, in percent of what the pods request. Default: 80.'),
  })),
  HorizontalPodAutoscalerStatus: struct('Observed state of an autoscaler.', () => ({
    observedGeneration: pointer(int64(), 1, 'The metadata.generation that the status was derived from.'),
    lastScaleTime: pointer(time(), 2, 'Time of the last change of the number of pods.'),
    currentReplicas: required(int32(), 3, 'Number of pods when the autoscaler last read it.'),
    desiredReplicas: required(int32(), 4, 'Number of pods that the autoscaler last computed.'),
    currentCPUUtilizationPercentage: pointer(int32(), 5, 'Average use of CPU, in percent of what the pods request.'),
  })),
  MetricSourceType: () => closed('Object', 'Pods', 'Resource', 'ContainerResource', 'External'),
  MetricSpec: struct('A metric and its target value. The type decides which field is set.', () => ({
    type: required(ref('autoscaling/v1.MetricSourceType'), 1, 'Object, Pods, Resource, ContainerResource or External.'),
    object: pointer(ref('autoscaling/v1.ObjectMetricSource'), 2, 'A metric of one object, such as requests at an ingress.'),
    pods: pointer(ref('autoscaling/v1.PodsMetricSource'), 3, 'A metric of each pod, averaged.'),
    resource: pointer(ref('autoscaling/v1.ResourceMetricSource'), 4, 'A resource of the pods, such as CPU, averaged.'),
    containerResource: pointer(ref('autoscaling/v1.ContainerResourceMetricSource'), 7, {
      doc: 'A resource of one container of each pod, averaged.',
    }),
    external: pointer(ref('autoscaling/v1.ExternalMetricSource'), 5, 'A metric from outside the cluster.'),
  })),
  ObjectMetricSource: struct('The wanted value of a metric of one object.', () => ({
    target: required(ref('autoscaling/v1.CrossVersionObjectReference'), 1, 'The object.'),
    metricName: required(string(), 2, 'Name of the metric.'),
    targetValue: required(quantity(), 3, 'Wanted value as a whole.'),
    selector: pointer(ref('meta/v1.LabelSelector'), 4, 'Labels that narrow the metric down.'),
    averageValue: pointer(quantity(), 5, 'Wanted value for each pod.'),
  })),
  ObjectMetricStatus: struct('The measured value of a metric of one object.', () => ({
    target: required(ref('autoscaling/v1.CrossVersionObjectReference'), 1, 'The object.'),
    metricName: required(string(), 2, 'Name of the metric.'),
    currentValue: required(quantity(), 3, 'Measured value as a whole.'),
    selector: pointer(ref('meta/v1.LabelSelector'), 4, 'Labels that narrow the metric down.'),
    averageValue: pointer(quantity(), 5, 'Measured value for each pod.'),
  })),
  PodsMetricSource: struct('The wanted value of a metric of the pods.', () => ({
    metricName: required(string(), 1, 'Name of the metric.'),
    targetAverageValue: required(quantity(), 2, 'Wanted value for each pod.'),
    selector: pointer(ref('meta/v1.LabelSelector'), 3, 'Labels that narrow the metric down.'),
  })),
  PodsMetricStatus: struct('The measured value of a metric of the pods.', () => ({
    metricName: required(string(), 1, 'Name of the metric.'),
    currentAverageValue: required(quantity(), 2, 'Measured value for each pod.'),
    selector: pointer(ref('meta/v1.LabelSelector'), 3, 'Labels that narrow the metric down.'),
  })),
  ResourceMetricSource: struct('The wanted use of a resource by the pods.', () => ({
    name: required(ref('core/v1.ResourceName'), 1, 'Name of the resource.'),
    targetAverageUtilization: pointer(int32(), 2, 'Wanted use, in percent of what the pods request.'),
    targetAverageValue: pointer(quantity(), 3, 'Wanted use for each pod.'),
  })),
  ResourceMetricStatus: struct('The measured use of a resource by the pods.', () => ({
    name: required(ref('core/v1.ResourceName'), 1, 'Name of the resource.'),
    currentAverageUtilization: pointer(int32(), 2, {
      doc: 'Measured use, in percent of what the pods request. Only set if a wanted percentage is.',
    }),
    currentAverageValue: required(quantity(), 3, 'Measured use for each pod.'),
  })),
  Scale: object('The number of pods of another object. It can be read and set here.', () => ({
    metadata,
    spec: field(ref('autoscaling/v1.ScaleSpec'), 2, 'Desired number of pods.'),
    status: field(ref('autoscaling/v1.ScaleStatus'), 3, 'Current number of pods.'),
  })),
  ScaleSpec: struct('The desired number of pods.', () => ({
    replicas: field(int32(), 1, { changes: { 34: { default: 0 } }, doc: 'Number of pods.' }),
  })),
  ScaleStatus: struct('The current number of pods.', () => ({
    replicas: required(int32(), 1, 'Number of pods when the autoscaler last read it.'),
    selector: field(string(), 2, 'Labels of the pods, as the text of a label selector.'),
  })),
})
