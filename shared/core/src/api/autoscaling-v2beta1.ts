import { field, int32, quantity, ref, string, struct } from '../description/define.ts'
import { inVersion } from '../description/in-version.ts'
import { autoscalingV2beta2 } from './autoscaling-v2beta2.ts'

const {
  HPAScalingPolicy: _policy,
  HPAScalingPolicyType: _policyType,
  HPAScalingRules: _rules,
  HorizontalPodAutoscalerBehavior: _behavior,
  MetricIdentifier: _identifier,
  MetricTarget: _target,
  MetricTargetType: _targetType,
  MetricValueStatus: _value,
  ScalingPolicySelect: _select,
  ...shared
} = autoscalingV2beta2

/** The types of autoscaling/v2beta1: every target and every measured value of a metric has a separate field, and `behavior` is missing. */
export const autoscalingV2beta1 = inVersion(
  {
    ...shared,
    ContainerResourceMetricSource: () =>
      struct(
        {
          name: field(ref('core/v1.ResourceName'), { tag: 1, required: true, doc: 'Name of the resource.' }),
          targetAverageUtilization: field(int32(), {
            tag: 2,
            pointer: true,
            doc: 'Wanted average over the pods, in percent of what they request.',
          }),
          targetAverageValue: field(quantity(), { tag: 3, pointer: true, doc: 'Wanted average over the pods, as an amount.' }),
          container: field(string(), { tag: 4, required: true, doc: 'Name of the container.' }),
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
            doc: 'Measured average over the pods, in percent of what they request.',
          }),
          currentAverageValue: field(quantity(), { tag: 3, required: true, doc: 'Measured average over the pods, as an amount.' }),
          container: field(string(), { tag: 4, required: true, doc: 'Name of the container.' }),
        },
        { doc: 'The measured use of a resource by one container of each pod.' },
      ),
    ExternalMetricSource: () =>
      struct(
        {
          metricName: field(string(), { tag: 1, required: true, doc: 'Name of the metric.' }),
          metricSelector: field(ref('meta/v1.LabelSelector'), {
            tag: 2,
            pointer: true,
            doc: 'Selector of one of the values of the metric.',
          }),
          targetValue: field(quantity(), { tag: 3, pointer: true, doc: 'Wanted value.' }),
          targetAverageValue: field(quantity(), { tag: 4, pointer: true, doc: 'Wanted average over the pods, as an amount.' }),
        },
        { doc: 'The wanted value of a metric from outside the cluster.' },
      ),
    ExternalMetricStatus: () =>
      struct(
        {
          metricName: field(string(), { tag: 1, required: true, doc: 'Name of the metric.' }),
          metricSelector: field(ref('meta/v1.LabelSelector'), {
            tag: 2,
            pointer: true,
            doc: 'Selector of one of the values of the metric.',
          }),
          currentValue: field(quantity(), { tag: 3, required: true, doc: 'Measured value.' }),
          currentAverageValue: field(quantity(), { tag: 4, pointer: true, doc: 'Measured average over the pods, as an amount.' }),
        },
        { doc: 'The measured value of a metric from outside the cluster.' },
      ),
    HorizontalPodAutoscalerSpec: () => {
      const { members, facets } = autoscalingV2beta2.HorizontalPodAutoscalerSpec()
      const { behavior: _behavior, ...others } = members
      return struct(others, facets)
    },
    ObjectMetricSource: () =>
      struct(
        {
          target: field(ref('autoscaling/v2beta2.CrossVersionObjectReference'), {
            tag: 1,
            required: true,
            doc: 'Object that the metric is about.',
          }),
          metricName: field(string(), { tag: 2, required: true, doc: 'Name of the metric.' }),
          targetValue: field(quantity(), { tag: 3, required: true, doc: 'Wanted value.' }),
          selector: field(ref('meta/v1.LabelSelector'), { tag: 4, pointer: true, doc: 'Selector of one of the values of the metric.' }),
          averageValue: field(quantity(), { tag: 5, pointer: true, doc: 'Average over the pods, as an amount.' }),
        },
        { doc: 'The wanted value of a metric of one object.' },
      ),
    ObjectMetricStatus: () =>
      struct(
        {
          target: field(ref('autoscaling/v2beta2.CrossVersionObjectReference'), {
            tag: 1,
            required: true,
            doc: 'Object that the metric is about.',
          }),
          metricName: field(string(), { tag: 2, required: true, doc: 'Name of the metric.' }),
          currentValue: field(quantity(), { tag: 3, required: true, doc: 'Measured value.' }),
          selector: field(ref('meta/v1.LabelSelector'), { tag: 4, pointer: true, doc: 'Selector of one of the values of the metric.' }),
          averageValue: field(quantity(), { tag: 5, pointer: true, doc: 'Average over the pods, as an amount.' }),
        },
        { doc: 'The measured value of a metric of one object.' },
      ),
    PodsMetricSource: () =>
      struct(
        {
          metricName: field(string(), { tag: 1, required: true, doc: 'Name of the metric.' }),
          targetAverageValue: field(quantity(), { tag: 2, required: true, doc: 'Wanted average over the pods, as an amount.' }),
          selector: field(ref('meta/v1.LabelSelector'), { tag: 3, pointer: true, doc: 'Selector of one of the values of the metric.' }),
        },
        { doc: 'The wanted average of a metric of the pods.' },
      ),
    PodsMetricStatus: () =>
      struct(
        {
          metricName: field(string(), { tag: 1, required: true, doc: 'Name of the metric.' }),
          currentAverageValue: field(quantity(), { tag: 2, required: true, doc: 'Measured average over the pods, as an amount.' }),
          selector: field(ref('meta/v1.LabelSelector'), { tag: 3, pointer: true, doc: 'Selector of one of the values of the metric.' }),
        },
        { doc: 'The measured average of a metric of the pods.' },
      ),
    ResourceMetricSource: () =>
      struct(
        {
          name: field(ref('core/v1.ResourceName'), { tag: 1, required: true, doc: 'Name of the resource.' }),
          targetAverageUtilization: field(int32(), {
            tag: 2,
            pointer: true,
            doc: 'Wanted average over the pods, in percent of what they request.',
          }),
          targetAverageValue: field(quantity(), { tag: 3, pointer: true, doc: 'Wanted average over the pods, as an amount.' }),
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
            doc: 'Measured average over the pods, in percent of what they request.',
          }),
          currentAverageValue: field(quantity(), { tag: 3, required: true, doc: 'Measured average over the pods, as an amount.' }),
        },
        { doc: 'The measured use of a resource by the pods.' },
      ),
  },
  { from: 'autoscaling/v2beta2', to: 'autoscaling/v2beta1' },
)
