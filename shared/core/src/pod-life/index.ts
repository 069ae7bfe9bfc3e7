/** The life of a Pod on a node: container states, phases, conditions and events. */
export { refusalOf, refusedStatus } from './admission.ts'
export type { PodEvent } from './life-step.ts'
export {
  findLogRun,
  type LogEntry,
  type LogLine,
  type LogRun,
  logLines,
  logLinesMax,
  nextLineMs,
  printLines,
  usualLog,
} from './log-lines.ts'
export { type AnsweringNode, nodeDocument, nodeMetrics, podMetrics, type UsedPod, usageOf } from './node-answers.ts'
export {
  addressProblem,
  allocatableOf,
  asksForSimulation,
  hostAddresses,
  hostNetworkAddresses,
  type NodeImage,
  reportedAddresses,
  reportedImages,
} from './node-model.ts'
export { type CompiledNodeScript, compileNodeScript, type NodeScriptObject, type NodeStep, nodeScriptPatch } from './node-script.ts'
export {
  attachAnnotation,
  hasStatusChanged,
  healthy,
  isSimulatedNode,
  type NodeHealth,
  nodeConditions,
  type PressureType,
  registrationPatch,
  simulatedRuntime,
} from './node-status.ts'
export { type Advance, PodLife, type PodSources, type PodStatus, statusPatch } from './pod-life.ts'
export {
  type Environment,
  environmentOf,
  expandReferences,
  type FindSource,
  type MountProblem,
  mountProblems,
  type SourceRef,
  sourcesOf,
} from './pod-sources.ts'
export { scriptOf, unscripted } from './script.ts'
export { scriptKinds, simulationVersion } from './script-kinds.ts'
export type { PodScript, PortAnswer, ScriptLayer } from './script-model.ts'
export { type CompiledScript, chooseScript, compileScript, findAnswer, type ScriptObject } from './script-object.ts'
