import { field, known, required, struct } from '../description/define.ts'
import { inVersion } from '../description/in-version.ts'
import { autoscalingV2 } from './autoscaling-v2.ts'

/** The types of autoscaling/v2beta2, which are those of v2 without list types. */
export const autoscalingV2beta2 = inVersion(
  {
    ...autoscalingV2,
    HPAScalingRules: () => {
      const { members, facets } = autoscalingV2.HPAScalingRules()
      const { stabilizationWindowSeconds, selectPolicy, policies } = members
      const { needed: _needed, listType: _type, ...plain } = policies
      return struct({ stabilizationWindowSeconds, selectPolicy, policies: plain }, facets)
    },
    HorizontalPodAutoscalerConditionType: () => known('ScalingActive', 'AbleToScale', 'ScalingLimited'),
    HorizontalPodAutoscalerSpec: () => {
      const { members, facets } = autoscalingV2.HorizontalPodAutoscalerSpec()
      const { listType: _type, ...metrics } = members.metrics
      return struct({ ...members, metrics }, facets)
    },
    HorizontalPodAutoscalerStatus: () => {
      const { members, facets } = autoscalingV2.HorizontalPodAutoscalerStatus()
      const { listType: _type, ...currentMetrics } = members.currentMetrics
      const currentReplicas = required(members.currentReplicas.node, { ...members.currentReplicas })
      const conditions = field(members.conditions.node, {
        tag: 6,
        keepEmpty: true,
        doc: 'State of the autoscaler by aspect: it can measure, it can scale, its bounds limit it.',
      })
      return struct({ ...members, currentReplicas, currentMetrics, conditions }, facets)
    },
  },
  { from: 'autoscaling/v2', to: 'autoscaling/v2beta2' },
)
