import { at } from '@orch/cel/at'
import { printAge } from '../age.ts'
import {
  ageOf,
  type Cell,
  conditionOf,
  countOf,
  type Data,
  dataOf,
  has,
  isTerminating,
  listOf,
  momentOf,
  nameOf,
  type ReadCells,
  textOf,
} from '../cell.ts'
import { none } from '../text.ts'

export const podCells: ReadCells = (pod) => {
  const spec = dataOf(pod, 'spec')
  const status = dataOf(pod, 'status')
  const state = stateOf(pod, spec, status)
  const podIPs = listOf(status, 'podIPs')
  return [
    nameOf(pod),
    `${state.ready}/${state.total}`,
    state.text,
    restartsCell(state),
    ageOf(pod),
    podIPs[0] === undefined ? none : textOf(podIPs[0], 'ip', none),
    textOf(spec, 'nodeName', none),
    textOf(status, 'nominatedNodeName', none),
    readinessGatesOf(spec, status),
  ]
}

interface PodState {
  text: string
  ready: number
  /** Number of containers that run as long as the Pod, including sidecars. */
  total: number
  restarts: number
  /** The time of the last termination of a restarted container; 0 if none. */
  lastRestartMs: number
}

function stateOf(pod: Data, spec: Data, status: Data): PodState {
  const isGated = textOf(conditionOf(status, 'PodScheduled') ?? {}, 'reason') === gated
  const text = isGated ? gated : textOf(status, 'reason', textOf(status, 'phase'))
  const sidecars = sidecarsOf(spec)
  const total = listOf(spec, 'containers').length + sidecars.size
  const state: PodState = { text, ready: 0, total, restarts: 0, lastRestartMs: 0 }
  const isInitialized = sidecars.size > 0 && conditionOf(status, 'Initialized')?.['status'] === 'True'
  if (!isInitializing(state, spec, status, sidecars) || isInitialized) readContainers(state, status, sidecars)
  if (isTerminating(pod)) state.text = textOf(status, 'reason') === 'NodeLost' ? 'Unknown' : 'Terminating'
  return state
}

/** The reason in the condition PodScheduled of a gated Pod. */
const gated = 'SchedulingGated'

function sidecarsOf(spec: Data): ReadonlySet<string> {
  const sidecars = listOf(spec, 'initContainers').filter((container) => container['restartPolicy'] === 'Always')
  return sidecars.length === 0 ? noNames : new Set(sidecars.map((container) => textOf(container, 'name')))
}

const noNames: ReadonlySet<string> = new Set()

/** Determines the state by the first init container that has neither succeeded nor started as a sidecar. */
function isInitializing(state: PodState, spec: Data, status: Data, sidecars: ReadonlySet<string>): boolean {
  for (const [index, container] of listOf(status, 'initContainerStatuses').entries()) {
    countRestarts(state, container)
    const { terminated, waiting } = partsOf(container)
    if (terminated !== undefined && countOf(terminated, 'exitCode') === 0) continue
    if (container['started'] === true && sidecars.has(textOf(container, 'name'))) {
      if (container['ready'] === true) state.ready += 1
      continue
    }
    const waitsFor = waiting === undefined ? '' : textOf(waiting, 'reason')
    if (terminated !== undefined) state.text = `Init:${endOf(terminated)}`
    else if (waitsFor !== '' && waitsFor !== 'PodInitializing') state.text = `Init:${waitsFor}`
    else state.text = `Init:${index}/${listOf(spec, 'initContainers').length}`
    return true
  }
  return false
}

/** Reads containers from last to first, so that the first one with a reason wins. */
function readContainers(state: PodState, status: Data, sidecars: ReadonlySet<string>): void {
  state.restarts = 0
  state.lastRestartMs = sidecars.size === 0 ? state.lastRestartMs : 0
  for (const container of listOf(status, 'initContainerStatuses'))
    if (sidecars.has(textOf(container, 'name'))) countRestarts(state, container)
  let isRunning = false
  const containers = listOf(status, 'containerStatuses')
  for (let index = containers.length - 1; index >= 0; index--) {
    const container = at(containers, index)
    countRestarts(state, container)
    const { terminated, waiting, running } = partsOf(container)
    const waitsFor = waiting === undefined ? '' : textOf(waiting, 'reason')
    if (waitsFor !== '') state.text = waitsFor
    else if (terminated !== undefined) state.text = endOf(terminated)
    else if (container['ready'] === true && running !== undefined) {
      isRunning = true
      state.ready += 1
    }
  }
  if (state.text !== 'Completed' || !isRunning) return
  state.text = conditionOf(status, 'Ready')?.['status'] === 'True' ? 'Running' : 'NotReady'
}

type StateName = 'terminated' | 'waiting' | 'running'

/** The parts of a container's state, of which only one is present. */
function partsOf(container: Data): Readonly<Record<StateName, Data | undefined>> {
  const state = dataOf(container, 'state')
  const part = (name: StateName) => (has(state, name) ? dataOf(state, name) : undefined)
  return { terminated: part('terminated'), waiting: part('waiting'), running: part('running') }
}

/** The cause of a container's end: its reason, or else the signal or exit code. */
function endOf(terminated: Data): string {
  const signal = countOf(terminated, 'signal')
  return textOf(terminated, 'reason', signal === 0 ? `ExitCode:${countOf(terminated, 'exitCode')}` : `Signal:${signal}`)
}

function countRestarts(state: PodState, container: Data): void {
  state.restarts += countOf(container, 'restartCount')
  const ended = momentOf(dataOf(dataOf(container, 'lastState'), 'terminated')['finishedAt'])
  if (ended !== undefined && ended > state.lastRestartMs) state.lastRestartMs = ended
}

function restartsCell({ restarts, lastRestartMs }: PodState): Cell {
  if (lastRestartMs === 0) return String(restarts)
  return (nowMs) => `${restarts} (${printAge(nowMs - lastRestartMs)} ago)`
}

function readinessGatesOf(spec: Data, status: Data): string {
  const gates = listOf(spec, 'readinessGates')
  if (gates.length === 0) return none
  const met = gates.filter((gate) => conditionOf(status, textOf(gate, 'conditionType'))?.['status'] === 'True')
  return `${met.length}/${gates.length}`
}

/** A condition of a table row, for clients that show finished objects differently. */
export interface RowCondition {
  readonly type: 'Completed'
  readonly status: 'True'
  readonly reason: string
  readonly message: string
}

const conditions: Readonly<Record<string, readonly RowCondition[]>> = {
  Succeeded: [
    { type: 'Completed', status: 'True', reason: 'Succeeded', message: 'All containers of the pod have ended without an error.' },
  ],
  Failed: [
    { type: 'Completed', status: 'True', reason: 'Failed', message: 'All containers of the pod have ended, one at least with an error.' },
  ],
}

/** The conditions of a Pod's row: one if the Pod has finished. */
export function podConditions(pod: Data): readonly RowCondition[] {
  const status = dataOf(pod, 'status')
  return has(status, 'phase') ? (conditions[textOf(status, 'phase')] ?? []) : []
}
