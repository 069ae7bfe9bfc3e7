import { completePodAmounts } from '@orch/core/catalogue'
import { qosClassOf } from '@orch/core/quota'
import type { BuiltIn, MutableBuiltIn } from '@orch/core/schema'
import { partOf } from '@orch/core/validation'
import { sorted } from './field-order.ts'
import type { RulesOf } from './kind-rules.ts'
import { specAndStatus } from './object-part.ts'
import { fillAppArmorProfiles } from './pod-app-armor.ts'
import { mergeLabelKeys } from './pod-label-keys.ts'

/** Pods wait for their node to stop them before they are deleted. */
export const podStrategy: RulesOf<'core/v1.Pod'> = {
  deriveNew: fillAppArmorProfiles,
  prepareCreate(object, _names, _user, level) {
    mergeLabelKeys(object, level)
    fillAmounts(object, level)
    object.status = { phase: 'Pending', ...gatedCondition(object, level), qosClass: qosClassOf(object.spec) }
  },
  completeUpdate(object, live, { subresource, level, isGateOn, body }) {
    const canResize = subresource !== 'resize' || isGateOn('InPlacePodLevelResourcesVerticalScaling')
    if (!canResize) keepAmounts(object, live)
    else if (level >= amountsKeptSince && subresource !== 'status') {
      if (object.spec.resources === undefined) keepAmounts(object, live)
      if (subresource === 'resize') fillAmounts(object, level)
    }
    if (subresource !== 'status') return
    const { qosClass } = live.status
    if (level >= classKeptSince && qosClass && !object.status.qosClass) object.status = { ...object.status, qosClass }
    if (level < claimsKeptSince) return
    const given = partOf(partOf({ body }, 'body'), 'status')
    for (const name of claimStatuses) {
      const before = live.status[name]
      if (before !== undefined && given[name] == null) object.status = { ...object.status, [name]: before }
    }
  },
  graceSeconds({ spec, status: { phase } }, asked) {
    if (!spec.nodeName || phase === 'Succeeded' || phase === 'Failed') return 0
    const seconds = asked ?? spec.terminationGracePeriodSeconds ?? 30
    return seconds < 0 ? 1 : seconds
  },
  hostOf: ({ spec: { nodeName } }) => (nodeName ? { group: '', version: 'v1', plural: 'nodes', name: nodeName } : undefined),
  unmarked: (subresource, level) => (subresource === 'ephemeralcontainers' && level < debuggersOwnSince ? specAndStatus : undefined),
}

/** The first level at which a resize completes pod-level amounts, and an update without them keeps them: the gate PodLevelResourcesFixDefaulting. */
const amountsKeptSince = 37

/** The first level at which the class of service cannot change, and a status keeps a class that its writer omits. */
const classKeptSince = 32

/** The first level at which a status keeps the device claims that its writer omits. An empty list removes them. */
const claimsKeptSince = 37
const claimStatuses = ['resourceClaimStatuses', 'extendedResourceClaimStatus', 'nodeAllocatableResourceClaimStatuses'] as const

/** The first level at which the writer of ephemeral containers owns them. */
const debuggersOwnSince = 32

/** The first level whose condition of a Pod with gates has a time. */
const gatesTimedSince = 31

/** A Pod with gates has a condition from the beginning. */
function gatedCondition({ metadata, spec }: BuiltIn<'core/v1.Pod'>, level: number): Pick<BuiltIn<'core/v1.PodStatus'>, 'conditions'> {
  if ((spec.schedulingGates ?? []).length === 0) return {}
  const [reason, message] = ['SchedulingGated', 'Scheduling is blocked due to non-empty scheduling gates']
  const lastTransitionTime = (level >= gatesTimedSince && metadata.creationTimestamp) || null
  return { conditions: [{ type: 'PodScheduled', status: 'False', lastProbeTime: null, lastTransitionTime, reason, message }] }
}

/** Gives a Pod the pod-level amounts of the live one. */
function keepAmounts(object: MutableBuiltIn<'core/v1.Pod'>, { spec: { resources } }: BuiltIn<'core/v1.Pod'>): void {
  const { resources: _given, ...rest } = object.spec
  object.spec = resources === undefined ? rest : { ...rest, resources }
}

/** Objects are compared as text, so the lists and their members are in the order of the type. */
function fillAmounts(object: MutableBuiltIn<'core/v1.Pod'>, level: number): void {
  const amounts = completePodAmounts(object.spec, level)
  if (amounts === undefined) return
  const { limits: _limits, requests: _requests, ...rest } = object.spec.resources ?? {}
  const [limits, requests] = [sorted(amounts.limits), sorted(amounts.requests)]
  const resources = { ...rest, ...(isEmpty(limits) ? {} : { limits }), ...(isEmpty(requests) ? {} : { requests }) }
  object.spec = { ...object.spec, resources }
}

function isEmpty(amounts: Readonly<Record<string, string>>): boolean {
  return Object.keys(amounts).length === 0
}
