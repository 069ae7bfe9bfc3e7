import { inVersion } from '../description/in-version.ts'
import { autoscalingV1 } from './autoscaling-v1.ts'
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

const {
  ContainerResourceMetricSource,
  ContainerResourceMetricStatus,
  ExternalMetricSource,
  ExternalMetricStatus,
  ObjectMetricSource,
  ObjectMetricStatus,
  PodsMetricSource,
  PodsMetricStatus,
  ResourceMetricSource,
  ResourceMetricStatus,
} = inVersion(autoscalingV1, { from: 'autoscaling/v1', to: 'autoscaling/v2beta1' })

/** The types of autoscaling/v2beta1: every target and every measured value of a metric has a separate field, and `behavior` is missing. */
export const autoscalingV2beta1 = {
  ...inVersion(
    {
      ...shared,
      HorizontalPodAutoscalerSpec: () => {
        const spec = autoscalingV2beta2.HorizontalPodAutoscalerSpec()
        const { behavior: _behavior, ...members } = spec.members
        return { ...spec, members }
      },
    },
    { from: 'autoscaling/v2beta2', to: 'autoscaling/v2beta1' },
  ),
  ContainerResourceMetricSource: () => {
    const source = ContainerResourceMetricSource()
    return { ...source, members: { ...source.members, container: { ...source.members.container, tag: 4 } } }
  },
  ContainerResourceMetricStatus,
  ExternalMetricSource,
  ExternalMetricStatus,
  ObjectMetricSource,
  ObjectMetricStatus,
  PodsMetricSource,
  PodsMetricStatus,
  ResourceMetricSource,
  ResourceMetricStatus,
}
