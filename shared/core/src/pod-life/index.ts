/** The life of a Pod on a node: states of containers, phases, conditions, events. */
export { refusalOf, refusedStatus } from './admission.ts'
export type { PodEvent } from './container-life.ts'
export { type Advance, PodLife, type PodStatus, statusPatch } from './pod-life.ts'
