import type { BuiltIn } from '@orch/core/schema'
import type { RulesOf } from './kind-rules.ts'
import { specAndStatus } from './object-part.ts'
import { fillAppArmorProfiles } from './pod-app-armor.ts'
import { mergeLabelKeys } from './pod-label-keys.ts'

type Resources = BuiltIn<'core/v1.ResourceRequirements'>

/** Pods wait for their node to stop them before they go. */
export const podStrategy: RulesOf<'core/v1.Pod'> = {
  deriveNew: fillAppArmorProfiles,
  prepareCreate(object, _names, _user, level) {
    mergeLabelKeys(object, level)
    object.status = { phase: 'Pending', ...gatedCondition(object), qosClass: qosClassOf(object) }
  },
  graceSeconds({ spec, status: { phase } }, asked) {
    if (!spec.nodeName || phase === 'Succeeded' || phase === 'Failed') return 0
    const seconds = asked ?? spec.terminationGracePeriodSeconds ?? 30
    return seconds < 0 ? 1 : seconds
  },
  hostOf: ({ spec: { nodeName } }) => (nodeName ? { group: '', version: 'v1', plural: 'nodes', name: nodeName } : undefined),
  unmarked: (subresource) => (subresource === 'ephemeralcontainers' ? specAndStatus : undefined),
}

/** A Pod with gates has a condition from the beginning. */
function gatedCondition({ metadata, spec }: BuiltIn<'core/v1.Pod'>): Pick<BuiltIn<'core/v1.PodStatus'>, 'conditions'> {
  if ((spec.schedulingGates ?? []).length === 0) return {}
  const [reason, message] = ['SchedulingGated', 'Scheduling is blocked due to non-empty scheduling gates']
  const lastTransitionTime = metadata.creationTimestamp ?? null
  return { conditions: [{ type: 'PodScheduled', status: 'False', lastProbeTime: null, lastTransitionTime, reason, message }] }
}

const classResources: readonly string[] = ['cpu', 'memory']

/** Guaranteed: limits for everything and requests equal to them. BestEffort: neither. Burstable: the rest. */
function qosClassOf({ spec }: BuiltIn<'core/v1.Pod'>): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const all = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ resources }) => resources)
  const asksForNothing = ({ requests, limits }: Resources) =>
    !classResources.some((name) => isAmount(requests?.[name]) || isAmount(limits?.[name]))
  if (all.every(asksForNothing)) return 'BestEffort'
  const isGuaranteed = ({ requests, limits }: Resources) =>
    classResources.every((name) => isAmount(limits?.[name]) && (requests?.[name] === undefined || requests[name] === limits?.[name]))
  return all.every(isGuaranteed) ? 'Guaranteed' : 'Burstable'
}

function isAmount(text: string | undefined): boolean {
  return text !== undefined && text !== '0'
}
