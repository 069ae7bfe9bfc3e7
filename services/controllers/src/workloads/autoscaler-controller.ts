import { type DiscoveredResource, unlessRefused } from '@orch/client'
import type { Catalogue } from '@orch/core/catalogue'
import type { LabelRequirement } from '@orch/core/contracts'
import { type ApiObject, parseApiVersion, StatusError } from '@orch/core/meta'
import { matchesLabels, parseLabelSelector } from '@orch/core/selectors'
import {
  type Autoscaler,
  type AutoscalerMemory,
  type AutoscalerRules,
  decideAutoscaler,
  evaluateMetric,
  lookAtReplicas,
  type Measured,
  noMemory,
  type Pod,
  type ScaleOutcome,
  toleranceOf,
  unscalableStatus,
  type WorkloadEvent,
} from '@orch/core/workloads'
import { messageOf } from '@orch/platform'
import { aboutObject, type Controller, done, keyOf, mapped, own, reconciler, requeueAfter, type World } from '../reconciler/index.ts'
import { noMatchMessage, resourceOfKind, rootOf } from './kind-resources.ts'
import { MetricsReader } from './metrics-reader.ts'

/** The intervals and the tolerances of autoscaling. */
export interface AutoscalingOptions {
  /** Interval between evaluations of an autoscaler. */
  readonly periodMs: number
  /** Tolerated deviation from the target: 0.1 is ten percent. */
  readonly tolerance: number
  /** Time after the start of a Pod during which its CPU usage may be caused by its start. */
  readonly initializationMs: number
  /** Time after the start during which an unready Pod counts as never ready. */
  readonly readinessDelayMs: number
  /** Default window of the highest recommendation. */
  readonly downWindowMs: number
}

interface Scale extends ApiObject {
  readonly spec?: { readonly replicas?: number }
  readonly status?: { readonly replicas?: number; readonly selector?: string }
}

/** A scale with its path. */
interface FoundScale {
  readonly path: string
  readonly scale: Scale
}

/** Selectors of autoscalers by key; undefined before they are known. */
type Selectors = Map<string, readonly LabelRequirement[] | undefined>

const pods = mapped<Pod>('v1', 'pods', () => [], { isLazy: true })
/** First level at which the first evaluation, and one after a change of the spec, does not wait for the period. */
const atOnceSince = 37
/** First level that refuses two autoscalers of the same Pods. */
const ambiguitySince = 26
/** Maximum number of attempts to write a scale with conflicts. */
const attemptsMax = 5

/** Sets the replicas of scalable objects by the usage of their Pods. */
export function autoscalerController({ level, isGateOn }: Pick<Catalogue, 'level' | 'isGateOn'>, options: AutoscalingOptions): Controller {
  const hasGeneration = isGateOn('HPAGeneration')
  const rules = { level, scalesToZero: isGateOn('HPAScaleToZero'), hasGeneration, downWindowMs: options.downWindowMs }
  const { periodMs } = options
  const watched = own<Autoscaler>('autoscaling/v2', 'horizontalpodautoscalers', {
    isDue: (event) => event.kind !== 'updated' || (hasGeneration && event.before.metadata.generation !== event.object.metadata.generation),
    delayMs: ({ kind }) => (level < atOnceSince && kind !== 'deleted' ? periodMs : 0),
  })
  return reconciler<Autoscaler>('horizontalpodautoscaling', ({ names }) => {
    const memories = new Map<string, { readonly uid: string | undefined; memory: AutoscalerMemory }>()
    const selectors: Selectors = new Map()
    return {
      watches: [watched, pods],
      component: 'horizontal-pod-autoscaler',
      absent: async ({ key }) => {
        memories.delete(key)
        selectors.delete(key)
        return done
      },
      reconcile: async ({ key, object: autoscaler, world, clock, signal }) => {
        const { uid } = autoscaler.metadata
        const found = memories.get(key)
        const held = found?.uid === uid && found !== undefined ? found : { uid, memory: noMemory }
        memories.set(key, held)
        if (!selectors.has(key)) selectors.set(key, undefined)
        const reader = new MetricsReader(world.client, names, signal)
        const parts = { autoscaler, world, reader, selectors, signal, rules, options, hasPodRequests: isGateOn('PodLevelResources') }
        held.memory = await runPass({ ...parts, hasTolerances: isGateOn('HPAConfigurableTolerance') }, held.memory, clock.now())
        return requeueAfter(periodMs, { background: true })
      },
    }
  })
}

interface PassParts {
  readonly autoscaler: Autoscaler
  readonly world: World
  readonly reader: MetricsReader
  readonly selectors: Selectors
  readonly signal: AbortSignal
  readonly rules: AutoscalerRules
  readonly options: AutoscalingOptions
  readonly hasPodRequests: boolean
  readonly hasTolerances: boolean
}

async function runPass(parts: PassParts, memory: AutoscalerMemory, nowMs: number): Promise<AutoscalerMemory> {
  const { autoscaler, rules } = parts
  const found = await findScale(parts)
  if (typeof found === 'string') {
    record(parts, { type: 'Warning', reason: 'FailedGetScale', message: found })
    await writeStatus(parts, unscalableStatus(autoscaler, found, nowMs))
    return memory
  }
  const currentReplicas = found.scale.spec?.replicas ?? 0
  const look = lookAtReplicas(autoscaler, currentReplicas, rules)
  const measured = look.kind === 'measure' ? await measure(parts, found.scale, nowMs) : undefined
  const plan = decideAutoscaler({ autoscaler, currentReplicas, look, measured, memory, rules }, nowMs)
  for (const event of plan.events) record(parts, event)
  const outcome = plan.target && (await rescale(parts, found, plan.target))
  const after = plan.after(outcome)
  await writeStatus(parts, after.status)
  if (after.event !== undefined) record(parts, after.event)
  return after.memory
}

/** After a conflict the pass of the next period writes the status: what this pass has scaled must stay in the memory. */
async function writeStatus({ autoscaler, world }: PassParts, status: object): Promise<void> {
  await unlessRefused(['Conflict'], () => world.writeStatus(autoscaler, status))
}

function record({ autoscaler, world }: PassParts, event: WorkloadEvent): void {
  world.record(aboutObject({ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler' }, autoscaler), event)
}

/** A text is the reason for a missing one. */
async function findScale({ autoscaler, world, signal }: PassParts): Promise<FoundScale | string> {
  const { apiVersion = '', kind, name } = autoscaler.spec.scaleTargetRef
  const version = parseApiVersion(apiVersion)
  if (version === undefined) return `unexpected GroupVersion string: ${apiVersion}`
  try {
    const wanted = { group: version.group, kind }
    const resource = await resourceOfKind(world.client, wanted, signal)
    if (resource === undefined) return noMatchMessage(wanted)
    const path = scalePath(resource, autoscaler.metadata.namespace, name)
    return { path, scale: await world.client.request<Scale>({ method: 'GET', path, signal }) }
  } catch (error) {
    if (signal.aborted) throw error
    return messageOf(error)
  }
}

async function rescale(
  parts: PassParts,
  found: FoundScale,
  { replicas, reason }: { readonly replicas: number; readonly reason: string },
): Promise<ScaleOutcome> {
  const { world, signal } = parts
  const { path } = found
  let { scale } = found
  for (let attempt = 1; ; attempt++) {
    try {
      await world.client.request({ method: 'PUT', path, body: { ...scale, spec: { ...scale.spec, replicas } }, signal })
      record(parts, { type: 'Normal', reason: 'SuccessfulRescale', message: `New size: ${replicas}; reason: ${reason}` })
      return { kind: 'scaled' }
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      const { message } = error
      if (error.reason === 'Conflict' && attempt < attemptsMax) {
        scale = await world.client.request<Scale>({ method: 'GET', path, signal })
        continue
      }
      record(parts, { type: 'Warning', reason: 'FailedRescale', message: `New size: ${replicas}; reason: ${reason}; error: ${message}` })
      return { kind: 'refused', message }
    }
  }
}

async function measure(parts: PassParts, { spec, status }: Scale, nowMs: number): Promise<Measured> {
  const { autoscaler, reader, world, rules, options, hasPodRequests, hasTolerances } = parts
  const { namespace = '' } = autoscaler.metadata
  const text = status?.selector ?? ''
  if (text === '') {
    const condition = "the HPA target's scale is missing a selector"
    return refusal('InvalidSelector', { reason: 'SelectorRequired', message: 'selector is required', condition })
  }
  const reading = parseLabelSelector(text)
  if (reading.kind === 'malformed') {
    const message = `couldn't convert selector into a corresponding internal selector object: ${reading.message}`
    return refusal('InvalidSelector', { reason: 'InvalidSelector', message, condition: message })
  }
  const selected = [...world.read(pods).inNamespace(namespace)].filter((pod) => matchesLabels(reading.requirements, pod.metadata.labels))
  const ambiguity = findAmbiguity(parts, text, reading.requirements, selected)
  if (ambiguity !== undefined) return ambiguity
  const use = {
    namespace,
    pods: selected,
    currentReplicas: spec?.replicas ?? 0,
    statusReplicas: status?.replicas ?? 0,
    tolerance: toleranceOf(hasTolerances ? autoscaler.spec.behavior : undefined, options.tolerance),
    level: rules.level,
    hasPodRequests,
    initializationMs: options.initializationMs,
    readinessDelayMs: options.readinessDelayMs,
  }
  const results = []
  for (const metric of autoscaler.spec.metrics ?? []) {
    const answer = await reader.read(metric, { namespace, selector: text })
    results.push(evaluateMetric(metric, answer, use, nowMs))
  }
  return { kind: 'metrics', results }
}

/** Two autoscalers of the same Pods would conflict. */
function findAmbiguity(
  { autoscaler, selectors, rules }: PassParts,
  text: string,
  own: readonly LabelRequirement[],
  selected: readonly Pod[],
): Measured | undefined {
  if (rules.level < ambiguitySince) return undefined
  const key = keyOf(autoscaler)
  selectors.set(key, own)
  const prefix = key.slice(0, key.indexOf('/') + 1)
  const labels = distinctLabels(selected)
  const matching = [...selectors].flatMap(([other, requirements]) =>
    requirements !== undefined && other.startsWith(prefix) && labels.some((one) => matchesLabels(requirements, one)) ? [other] : [],
  )
  if (matching.length < 2) return undefined
  const message = `pods by selector ${text} are controlled by more than one HPA (e.g. [${matching.slice(0, 2).join(' ')}])`
  return refusal('AmbiguousSelector', { reason: 'AmbiguousSelector', message, condition: message })
}

function refusal(reason: string, event: { readonly reason: string; readonly message: string; readonly condition: string }): Measured {
  const { condition, message } = event
  return { kind: 'refused', reason, condition, event: { type: 'Warning', reason: event.reason, message } }
}

/** Pods of one owner have the same labels. */
function distinctLabels(selected: readonly Pod[]): readonly Readonly<Record<string, string>>[] {
  const found = new Map<string, Readonly<Record<string, string>>>()
  for (const { metadata } of selected) found.set(JSON.stringify(metadata.labels ?? {}), metadata.labels ?? {})
  return [...found.values()]
}

function scalePath(resource: DiscoveredResource, namespace: string | undefined, name: string): string {
  const scope = resource.namespaced ? `/namespaces/${namespace}` : ''
  return `${rootOf(resource)}${scope}/${resource.plural}/${encodeURIComponent(name)}/scale`
}
