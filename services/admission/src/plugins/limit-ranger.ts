import type { AdmissionRule, Attributes } from '@orch/core/contracts'
import { domainLabel } from '@orch/core/names'
import { parseStored } from '@orch/core/schema'
import { limits as bounds } from '../limits.ts'
import { allowed, denied, forbid, type Plugin, type PluginNeeds, type Registration, type Verdict } from '../plugin.ts'
import { type LimitItem, limitsOf, withDefaults } from './limit-range.ts'
import { checkClaim, checkPod } from './limit-range-checks.ts'
import { KeptObjects, metadataOf, newObject } from './objects.ts'
import { podOf } from './pod.ts'

export const limitRanger: Registration = { isDefault: true, create: createLimitRanger }

type KeptRange = ReturnType<typeof rangeOf>

/** LimitRanger: Pods and claims must satisfy the LimitRanges of their namespace; containers without values get the defaults. */
function createLimitRanger(needs: PluginNeeds): Plugin {
  const ranges = new KeptObjects({ group: '', plural: 'limitranges' }, rangeOf, needs)
  const byNamespace = new Map<string, KeptRange[]>()
  let admissionRules: readonly AdmissionRule[] = []
  ranges.onChange(({ before, after }) => {
    for (const changed of [before, after]) {
      if (changed === undefined) continue
      const others = (byNamespace.get(changed.namespace) ?? []).filter((one) => one !== before)
      if (changed === after) others.push(after)
      if (others.length === 0) byNamespace.delete(changed.namespace)
      else byNamespace.set(changed.namespace, others)
    }
    admissionRules = admissionRulesFor([...byNamespace.keys()])
  })
  const annotation = domainLabel(needs.catalogue.names, 'limit-ranger')
  /** A refusal is based on the current state in storage. */
  const checked = (attributes: Attributes): Verdict | Promise<Verdict> => {
    if (isGoing(attributes)) return allowed
    if (refusalOf(attributes, byNamespace.get(attributes.namespace) ?? []) === undefined) return allowed
    return ranges.latestAll(attributes.namespace).then((latest) => {
      const why = refusalOf(attributes, latest)
      return why === undefined ? allowed : denied(forbid(attributes, why))
    })
  }
  return {
    get admissionRules() {
      return admissionRules
    },
    followed: ranges,
    mutate(attributes) {
      const before = podOf(attributes)
      const after = (byNamespace.get(attributes.namespace) ?? []).reduce((pod, { limits }) => withDefaults(pod, limits, annotation), before)
      return after === before ? allowed : { kind: 'allowed', object: after }
    },
    validate: checked,
    looksOnly: () => true,
    close: () => ranges.close(),
  }
}

/** Only namespaces with LimitRanges; beyond a limit all namespaces, which is shorter to send. */
function admissionRulesFor(names: readonly string[]): AdmissionRule[] {
  if (names.length === 0) return []
  const namespaces = names.length > bounds.admissionRuleNamespacesMax ? [] : names
  const claims = ['persistentvolumeclaims']
  return [
    { phase: '*', operations: ['CREATE'], groups: [''], resources: ['pods'], namespaces },
    { phase: 'validate', operations: ['CREATE', 'UPDATE'], groups: [''], resources: claims, namespaces },
  ]
}

function rangeOf(value: Uint8Array) {
  const { metadata, spec } = parseStored('core/v1.LimitRange', value)
  return { namespace: metadata.namespace ?? '', limits: limitsOf(spec) }
}

/** True for an object under deletion, which limits do not delay. */
function isGoing({ operation, object }: Attributes): boolean {
  return operation === 'UPDATE' && metadataOf(object).deletionTimestamp != null
}

function problemsOf(attributes: Attributes, limits: readonly LimitItem[]): string[] {
  return attributes.resource === 'pods'
    ? checkPod(podOf(attributes), limits)
    : checkClaim(newObject('core/v1.PersistentVolumeClaim', attributes), limits)
}

/** The first LimitRange that refuses decides, and reports all its violations. */
function refusalOf(attributes: Attributes, ranges: readonly KeptRange[]): string | undefined {
  for (const { limits } of ranges) {
    const problems = [...new Set(problemsOf(attributes, limits))]
    if (problems.length > 0) return problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`
  }
  return undefined
}
