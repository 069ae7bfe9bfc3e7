/** The rules of the scheduler, as the server and `orchctl` have them. Loaded when the page Scheduling asks. */

export { parseFeatureGates } from '@orch/core/feature-gates'
export { namesOf } from '@orch/core/names'
export { explainScheduling, schedulingRules } from '@orch/core/scheduling'
