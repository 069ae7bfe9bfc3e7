import type { AdmissionRule, Attributes } from '@orch/core/contracts'
import { compareQuantities, printQuantity, type Quantity, quantitySign, roundUpQuantity } from '@orch/core/meta'
import { domainLabel } from '@orch/core/names'
import { podAmounts } from '@orch/core/quota'
import { type BuiltIn, parseStored } from '@orch/core/schema'
import { limits as bounds } from '../limits.ts'
import { allowed, denied, forbid, type Plugin, type PluginNeeds, type Verdict } from '../plugin.ts'
import { type LimitItem, limitsOf, type QuantityMap, quantitiesOf, withDefaults } from './limit-range.ts'
import { KeptObjects, metadataOf, newObject } from './objects.ts'
import { type Pod, podOf, type Resources } from './pod.ts'

type KeptRange = ReturnType<typeof rangeOf>

/** LimitRanger: Pods and claims must satisfy the LimitRanges of their namespace; containers without values get the defaults. */
export function limitRanger(needs: PluginNeeds): Plugin {
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
    if (attributes.operation === 'UPDATE' && metadataOf(attributes.object).deletionTimestamp != null) return allowed
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
    { phase: 'validate', operations: ['UPDATE'], groups: [''], resources: ['pods/resize'], namespaces },
  ]
}

function rangeOf(value: Uint8Array) {
  const { metadata, spec } = parseStored('core/v1.LimitRange', value)
  return { namespace: metadata.namespace ?? '', limits: limitsOf(spec) }
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

/** A requested quantity, and its limits. */
interface Usage {
  readonly requests: QuantityMap
  readonly limits: QuantityMap
}

/** The violations of a Pod, each as a sentence. */
function checkPod(pod: Pod, limits: readonly LimitItem[]): string[] {
  const containers = [...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])].map(({ resources }) => usageOf(resources))
  return limits.flatMap((item) => {
    if (item.type === 'Container') return containers.flatMap((usage) => checkUsage(item, usage))
    if (item.type !== 'Pod') return []
    return checkUsage(item, { requests: podAmounts(pod.spec, 'requests'), limits: podAmounts(pod.spec, 'limits') })
  })
}

/** The violations of a claim. A claim has no limits: its request counts as its limit. */
function checkClaim({ spec }: BuiltIn<'core/v1.PersistentVolumeClaim'>, limits: readonly LimitItem[]): string[] {
  const { requests } = usageOf(spec.resources)
  return limits
    .filter(({ type }) => type === 'PersistentVolumeClaim')
    .flatMap(({ type, min, max }) => [
      ...problems(min, (name, bound) => tooLittle({ name, type, bound, request: requests.get(name), limit: undefined })),
      ...problems(max, (name, bound) => {
        const usage = `maximum ${name} usage per ${type} is ${printQuantity(bound)}`
        const request = requests.get(name)
        if (request === undefined) return `${usage}.  No request is specified`
        return isMore(request, bound) ? `${usage}, but request is ${printQuantity(request)}` : undefined
      }),
    ])
}

function checkUsage({ type, min, max, maxLimitRequestRatio }: LimitItem, { requests, limits }: Usage): string[] {
  const check = (evaluate: (constraint: Constraint) => string | undefined) => (name: string, bound: Quantity) =>
    evaluate({ name, type, bound, request: requests.get(name), limit: limits.get(name) })
  return [...problems(min, check(tooLittle)), ...problems(max, check(tooMuch)), ...problems(maxLimitRequestRatio, check(tooWide))]
}

interface Constraint {
  readonly name: string
  readonly type: string
  readonly bound: Quantity
  readonly request: Quantity | undefined
  readonly limit: Quantity | undefined
}

function tooLittle({ name, type, bound, request, limit }: Constraint): string | undefined {
  const usage = `minimum ${name} usage per ${type} is ${printQuantity(bound)}`
  if (request === undefined) return `${usage}.  No request is specified`
  if (isMore(bound, request)) return `${usage}, but request is ${printQuantity(request)}`
  return limit !== undefined && isMore(bound, limit) ? `${usage}, but limit is ${printQuantity(limit)}` : undefined
}

function tooMuch({ name, type, bound, request, limit }: Constraint): string | undefined {
  const usage = `maximum ${name} usage per ${type} is ${printQuantity(bound)}`
  if (limit === undefined) return `${usage}.  No limit is specified`
  if (isMore(limit, bound)) return `${usage}, but limit is ${printQuantity(limit)}`
  return request !== undefined && isMore(request, bound) ? `${usage}, but request is ${printQuantity(request)}` : undefined
}

function tooWide({ name, type, bound, request, limit }: Constraint): string | undefined {
  const ratio = `${name} max limit to request ratio per ${type} is ${printQuantity(bound)}`
  if (request === undefined || quantitySign(request) === 0) return `${ratio}, but no request is specified or request is 0`
  if (limit === undefined || quantitySign(limit) === 0) return `${ratio}, but no limit is specified or limit is 0`
  const given = toNumber(limit) / toNumber(request)
  return given > toNumber(bound) ? `${ratio}, but provided ratio is ${given.toFixed(6)}` : undefined
}

/** In billionths, the finest unit. */
function toNumber(quantity: Quantity): number {
  return Number(roundUpQuantity(quantity, -9)) / 1e9
}

function isMore(one: Quantity, other: Quantity): boolean {
  return compareQuantities(one, other) > 0
}

function problems(bounds: QuantityMap, evaluate: (name: string, bound: Quantity) => string | undefined): string[] {
  return [...bounds].map(([name, bound]) => evaluate(name, bound)).filter((problem) => problem !== undefined)
}

function usageOf(resources: Resources | null | undefined): Usage {
  return { requests: quantitiesOf(resources?.requests), limits: quantitiesOf(resources?.limits) }
}
