/** The scheduler's rules, shared with the server and `orchctl`. Loaded on demand by the page Scheduling. */

export { parseFeatureGates } from '@orch/core/feature-gates'
export { namesOf } from '@orch/core/names'
export { explainScheduling, schedulingRules, withRuleTaints } from '@orch/core/scheduling'
