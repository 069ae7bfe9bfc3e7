import { field, required } from '../description/fields.ts'
import { inVersion } from '../description/in-version.ts'
import { known } from '../description/texts.ts'
import { autoscalingV2 } from './autoscaling-v2.ts'

/** The types of autoscaling/v2beta2, which are those of v2 without list types. */
export const autoscalingV2beta2 = inVersion(
  {
    ...autoscalingV2,
    HPAScalingRules: () => {
      const { members, ...rules } = autoscalingV2.HPAScalingRules()
      const { stabilizationWindowSeconds, selectPolicy } = members
      const { needed: _needed, listType: _type, ...policies } = members.policies
      return { ...rules, members: { stabilizationWindowSeconds, selectPolicy, policies } }
    },
    HorizontalPodAutoscalerConditionType: () => known('ScalingActive', 'AbleToScale', 'ScalingLimited'),
    HorizontalPodAutoscalerSpec: () => {
      const spec = autoscalingV2.HorizontalPodAutoscalerSpec()
      const { listType: _type, ...metrics } = spec.members.metrics
      return { ...spec, members: { ...spec.members, metrics } }
    },
    HorizontalPodAutoscalerStatus: () => {
      const { members, ...status } = autoscalingV2.HorizontalPodAutoscalerStatus()
      const { listType: _type, ...currentMetrics } = members.currentMetrics
      const currentReplicas = required(members.currentReplicas.node, 3, { ...members.currentReplicas })
      const conditions = field(members.conditions.node, 6, {
        keepEmpty: true,
        doc: 'State of the autoscaler by aspect: it can measure, it can scale, its bounds limit it.',
      })
      return { ...status, members: { ...members, currentReplicas, currentMetrics, conditions } }
    },
  },
  { from: 'autoscaling/v2', to: 'autoscaling/v2beta2' },
)
