/** Simulated nodes: clients that run Pods like kubelets, without containers. */
export { startAttacher } from './attacher.ts'
export type { CodeScript, CommandProgram, ContainerProgram, ContainerRun, PodMatch } from './code-scripts.ts'
export type { ContainerSample, Measurements } from './measurements.ts'
export type { NodeSettings } from './node-object.ts'
export type { PortHandler, PortSocket } from './programs/program.ts'
export { installScriptKinds } from './script-kinds.ts'
export { startNodes } from './simulated-nodes.ts'
export type { NodeHandle, NodesOptions, SimulatedNodes } from './stand-in.ts'
