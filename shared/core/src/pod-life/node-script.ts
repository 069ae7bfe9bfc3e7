import { type ApiObject, durationToMs, parseDuration } from '../meta/index.ts'
import { type LabelSelector, matchesLabels, toLabelRequirements } from '../selectors/labels.ts'
import type { Node } from '../workloads/pods.ts'
import { healthy, type NodeHealth, type PressureType, shuttingDown } from './node-status.ts'

type Taint = NonNullable<Node['spec']['taints']>[number]

/** A NodeScript; `scriptKinds` has its schema. */
export interface NodeScriptObject extends ApiObject {
  readonly spec: {
    readonly selector?: LabelSelector
    readonly capacity?: Readonly<Record<string, string | number>>
    readonly labels?: Readonly<Record<string, string>>
    readonly taints?: readonly Taint[]
    readonly at?: readonly {
      readonly after: string
      readonly kubelet?: 'Running' | 'Stopped'
      readonly pressures?: readonly PressureType[]
      readonly notReady?: string
      readonly shutdown?: readonly { readonly priority?: number; readonly gracePeriod: string }[]
    }[]
  }
  readonly status?: { readonly matchedNodes?: number; readonly problem?: string }
}

/** The state of a node from a time on. */
export interface NodeStep {
  readonly atMs: number
  readonly isRunning: boolean
  readonly health: NodeHealth
  /** The node ends its Pods whose priority is in a range. */
  readonly shutdown?: { readonly from: number; readonly below: number; readonly graceMs: number }
}

export interface CompiledNodeScript {
  /** The number of requirements. Among matching scripts, the one with the most applies. */
  readonly specificity: number
  /** The script's error, if any. A script with an error matches no Node. */
  readonly problem?: string
  readonly capacity: Readonly<Record<string, string>>
  /** In order of time; a member that a step omits is unchanged. */
  readonly steps: readonly NodeStep[]
  matches(labels: Readonly<Record<string, string>> | undefined): boolean
}

/** Time from the last grace period of a shutdown until the machine is off. */
const lastReportMs = 1_000

/** Compiles a script once for all Nodes. */
export function compileNodeScript({ spec }: NodeScriptObject): CompiledNodeScript {
  const reading = toLabelRequirements(spec.selector ?? {})
  const requirements = reading.kind === 'selector' ? reading.requirements : []
  const toMs = (text: string) => durationToMs(parseDuration(text) ?? 0n)
  const times = (spec.at ?? []).map((entry) => ({ ...entry, atMs: toMs(entry.after) }))
  let [isRunning, health] = [true, healthy]
  const steps = times
    .sort((one, other) => one.atMs - other.atMs)
    .flatMap(({ atMs, kubelet, pressures, notReady, shutdown = [] }): NodeStep[] => {
      if (kubelet !== undefined) isRunning = kubelet === 'Running'
      if (pressures !== undefined) health = { ...health, pressures }
      if (notReady !== undefined) health = { ...health, problems: notReady === '' ? [] : [notReady] }
      if (shutdown.length === 0) return [{ atMs, isRunning, health }]
      // Each group of priorities has its whole period, the lowest first. The machine is off when the last ends are reported.
      const groups = shutdown.toSorted((one, other) => (one.priority ?? 0) - (other.priority ?? 0))
      const ending = { ...health, problems: [shuttingDown] }
      let endMs = atMs
      const stages = groups.map(({ priority = 0, gracePeriod }, index): NodeStep => {
        const [from, below, graceMs] = [index === 0 ? -Infinity : priority, groups[index + 1]?.priority ?? Infinity, toMs(gracePeriod)]
        const stage = { atMs: endMs, isRunning: true, health: ending, shutdown: { from, below, graceMs } }
        endMs += graceMs
        return stage
      })
      isRunning = false
      return [...stages, { atMs: endMs + lastReportMs, isRunning, health: ending }]
    })
  return {
    specificity: requirements.length,
    ...(reading.kind === 'malformed' && { problem: `spec.selector: ${reading.message}` }),
    capacity: Object.fromEntries(Object.entries(spec.capacity ?? {}).map(([name, amount]) => [name, String(amount)])),
    steps,
    matches: (labels) => reading.kind === 'selector' && matchesLabels(requirements, labels),
  }
}

/** The labels and taints of a script that a Node lacks; undefined if it has all. */
export function nodeScriptPatch(
  { spec: wanted }: NodeScriptObject,
  { metadata, spec }: Pick<Node, 'metadata' | 'spec'>,
): object | undefined {
  const labels = Object.entries(wanted.labels ?? {}).filter(([key, value]) => metadata.labels?.[key] !== value)
  const own = spec.taints ?? []
  const taints = (wanted.taints ?? []).filter(
    (taint) => !own.some(({ key, effect, value = '' }) => key === taint.key && effect === taint.effect && value === (taint.value ?? '')),
  )
  if (labels.length === 0 && taints.length === 0) return undefined
  const replaced = own.filter((taint) => !taints.some(({ key, effect }) => key === taint.key && effect === taint.effect))
  const { resourceVersion } = metadata
  return {
    metadata: { resourceVersion, ...(labels.length > 0 && { labels: Object.fromEntries(labels) }) },
    ...(taints.length > 0 && { spec: { taints: [...replaced, ...taints] } }),
  }
}
