import { knownReleases, printRelease } from './gate-releases.ts'
import { actingSteps, otherSteps } from './gate-steps.ts'
import { memo } from './memo.ts'

export { knownReleases, printRelease } from './gate-releases.ts'

type FeatureStage = 'alpha' | 'beta' | 'ga' | 'deprecated'

export interface FeatureGate {
  readonly name: string
  readonly stage: FeatureStage
  readonly isOnByDefault: boolean
  /** True if the gate can no longer be switched. */
  readonly isLocked: boolean
  /** True if the release does not have the gate yet. */
  readonly isAbsent?: true
  /** The name of the missing feature, if this server does not implement it. */
  readonly missing?: string
}

/** Gates that this server implements. Switching another gate is refused, since it would have no effect. */
export const actingGates: readonly string[] = Object.keys(actingSteps)

const gateSteps: Readonly<Record<string, readonly string[]>> = { ...actingSteps, ...otherSteps }

const named = (names: string): ReadonlySet<string> => new Set(names.split(' '))

/** Gates about internals of kube-apiserver that change no answer. They may be switched, and the log states that this has no effect. */
const inner = named(
  'APIServingWithRoutine ConcurrentWatchObjectDecode ConsistentListFromCacheSkipTimeoutFallback EtcdRangeStream SeparateCacheWatchRPC WatchCacheInitializationPostStartHook',
)

/** Gates of features that this server lacks, with the name of each feature. They are off, whatever kube-apiserver's default. */
const missing: ReadonlyMap<string, string> = new Map([
  ['StructuredAuthenticationConfigurationEgressSelector', 'egress selectors'],
  ['UnknownVersionInteroperabilityProxy', 'proxy between servers of different versions'],
])

/** Gates of features that this server always has, or has for the versions that `--runtime-config` serves. They may be switched on. */
const present = named(
  'ClusterTrustBundle ConsistentListFromCache KMSv2 ListFromCacheSnapshot MultiCIDRServiceAllocator MutatingAdmissionPolicy RetryGenerateName ValidatingAdmissionPolicy',
)

/** Features that this server has from earlier releases on than kube-apiserver. Their gates have the state of the newest release. */
const ahead = named(
  'APIServerWebhookAuthenticationToken APIServingWithRoutine AggregatedDiscoveryRemoveBetaType ConcurrentWatchObjectDecode ConsistentListFromCacheSkipTimeoutFallback CoordinatedLeaderElection DeclarativeValidation DeclarativeValidationBeta DeclarativeValidationTakeover DetectCacheInconsistency EtcdRangeStream KMSv1 ListFromCacheSnapshot MutatingAdmissionPolicy SeparateCacheWatchRPC ShardedListAndWatch SizeBasedListCostEstimate StructuredAuthenticationConfigurationEgressSelector StructuredAuthenticationConfigurationJWKSMetrics UnknownVersionInteroperabilityProxy WatchCacheInitializationPostStartHook WatchListCompression WebhookRoundTripLoadBalancing',
)

/** True if a feature is on. */
export type IsGateOn = (name: string) => boolean

/** Every gate at its default of the described release. */
export const gatesByDefault: IsGateOn = (name) => isOnByDefault(name, knownReleases.own)

export interface FeatureGates {
  readonly kind: 'gates'
  /** True if a feature is on. Locked gates have their defaults, unknown gates are off. */
  readonly isOn: IsGateOn
  /** Warnings about the given gates, for the log. */
  readonly warnings: readonly string[]
}

/** The gates cannot be applied; the message is for the user. */
export interface RefusedGates {
  readonly kind: 'refused'
  readonly message: string
  /** The unknown name, for a suggestion. */
  readonly unknown?: string
}

/** Gates that switch all gates of a stage. */
const stagesSwitched: ReadonlyMap<string, FeatureStage> = new Map([
  ['AllAlpha', 'alpha'],
  ['AllBeta', 'beta'],
])

/** Parses gates such as `APIListChunking=false` for a release. The last setting of a gate applies, whatever its stage has. */
export function parseFeatureGates(words: readonly string[], minor: number = knownReleases.own): FeatureGates | RefusedGates {
  const on = new Map<string, boolean>(actingGates.map((name) => [name, isOnByDefault(name, minor)]))
  const given = new Map<string, boolean>()
  const warnings: string[] = []
  for (const word of words) {
    const [name = '', text = ''] = word.split('=')
    const value = text === 'true' ? true : text === 'false' ? false : undefined
    const gate = gateOf(name, minor)
    if (gate === undefined) return { kind: 'refused', message: `unknown feature gate ${name}`, unknown: name }
    if (value === undefined) return { kind: 'refused', message: `feature gate ${name}=${text}: must be true or false` }
    given.set(name, value)
    const refusal = stagesSwitched.has(name) ? undefined : refuse(gate, value, minor)
    if (refusal !== undefined) return { kind: 'refused', message: refusal }
    if (inner.has(name)) warnings.push(`feature gate ${name} has no effect in this server`)
    if (gate.stage === 'ga' || gate.stage === 'deprecated')
      warnings.push(`feature gate ${name} is ${gate.stage === 'ga' ? 'settled' : 'deprecated'} and will be removed`)
    if (on.has(name)) on.set(name, value)
  }
  for (const [name, stage] of stagesSwitched) {
    const value = given.get(name)
    if (value === undefined) continue
    const others = featureGates(minor).filter((gate) => gate.stage === stage && gate.isOnByDefault !== value)
    const switched = others.map((gate) => gate.name).filter((gate) => !given.has(gate) && !stagesSwitched.has(gate))
    for (const gate of switched) if (on.has(gate)) on.set(gate, value)
    const idle = switched.filter((gate) => !on.has(gate))
    if (idle.length > 0) warnings.push(`feature gate ${name}=${value} has no effect in this server on ${idle.join(', ')}`)
  }
  return { kind: 'gates', isOn: (name) => on.get(name) ?? isOnByDefault(name, minor), warnings }
}

/** A gate at a release; undefined if no release up to it has the gate, or the release has removed it. */
export function gateOf(name: string, minor: number = knownReleases.own): FeatureGate | undefined {
  const state = stateAt(name, minor)
  if (state === undefined || state.isGone) return undefined
  if (state.text === undefined) return { name, stage: 'alpha', isOnByDefault: false, isLocked: true, isAbsent: true }
  const [stage, value, lock] = state.text.split(' ')
  const lacks = missing.get(name)
  if (lacks !== undefined) return { name, stage: stage as FeatureStage, isOnByDefault: false, isLocked: true, missing: lacks }
  return { name, stage: stage as FeatureStage, isOnByDefault: value === 'on', isLocked: lock === 'locked' }
}

/** The state of a gate at a release, from its last step. Undefined before the first step. */
interface GateState {
  readonly text: string | undefined
  readonly isGone: boolean
}

/** The steps of a gate, parsed. */
const readSteps = memo((steps: readonly string[]) =>
  steps.map((step) => ({ from: Number.parseInt(step, 10), text: step.slice(step.indexOf(' ') + 1) })),
)

function stateAt(name: string, minor: number): GateState | undefined {
  if (!Object.hasOwn(gateSteps, name)) return undefined
  const steps = readSteps(gateSteps[name]!)
  const gone = steps.find(({ text }) => text === 'gone')
  const states = steps.filter((step) => step !== gone)
  const reached = states.findLast(({ from }) => from <= minor) ?? (ahead.has(name) ? states.at(-1) : undefined)
  return { text: reached?.text, isGone: gone !== undefined && gone.from <= minor }
}

/** The default of a feature at a release. A removed gate keeps its last state. */
function isOnByDefault(name: string, minor: number): boolean {
  return !missing.has(name) && stateAt(name, minor)?.text?.split(' ')[1] === 'on'
}

export function featureGates(minor: number = knownReleases.own): FeatureGate[] {
  const gates = Object.keys(gateSteps)
    .sort()
    .map((name) => gateOf(name, minor))
  return gates.filter((gate): gate is FeatureGate => gate !== undefined && !gate.isAbsent)
}

function refuse(gate: FeatureGate, value: boolean, minor: number): string | undefined {
  if (gate.isAbsent) return `feature gate ${gate.name}: the feature does not exist at version ${printRelease(minor)}`
  if (value === gate.isOnByDefault) return undefined
  if (gate.missing !== undefined) return `feature gate ${gate.name}: this server has no ${gate.missing}, so it cannot be switched on`
  const acts = actingGates.includes(gate.name) || inner.has(gate.name)
  if (gate.isLocked || (gate.stage === 'ga' && !acts))
    return `feature gate ${gate.name}: the feature is settled and cannot be switched ${value ? 'on' : 'off'}`
  if (acts || (value && present.has(gate.name))) return undefined
  return `feature gate ${gate.name} is known but has no effect in this server, so it cannot be switched ${value ? 'on' : 'off'}`
}
