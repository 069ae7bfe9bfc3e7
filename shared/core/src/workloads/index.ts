/** workloads */

export type { Pod } from './pods.ts'
export { decideReplicas, type ReplicaCondition, type ReplicasObserved, type ReplicasPlan } from './replicas.ts'
