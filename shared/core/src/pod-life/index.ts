/** The life of a Pod on a node: states of containers, phases, conditions, events. */
export type { PodEvent } from './container-life.ts'
export { type Advance, PodLife, type PodStatus, statusPatch } from './pod-life.ts'
export { scriptOf } from './script.ts'
