/** scheduling */

export { choose, type Decision, fittingNodes } from './choose.ts'
export { Cluster, type ClusterObjects } from './cluster.ts'
export { type FellowSources, fellowTerms } from './fellows.ts'
export { startFilter } from './filters.ts'
export { noNodesMessage, refusalMessage } from './message.ts'
export type { Labels, Node, Pod } from './objects.ts'
export type { FilterName, Refusal, ScoreName } from './plugin.ts'
export { type PodInfo, podInfoOf } from './pod-info.ts'
export { type Budget, type Preemption, preempt } from './preemption.ts'
export { type SchedulingRules, schedulingRules } from './rules.ts'
export { scoreOf } from './scores.ts'
export { type ClusterChange, wakes } from './wake.ts'
