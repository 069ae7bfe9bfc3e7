import type { Attributes } from '@orch/core/contracts'
import { domainGroup } from '@orch/core/names'
import { parseStored } from '@orch/core/schema'
import { allowed, denied, forbid, type Plugin, type PluginNeeds, type Verdict } from '../plugin.ts'
import { admissionRuleFor, KeptObjects, newObject, objectsOf } from './objects.ts'
import { podOf, withSpec } from './pod.ts'

interface PriorityClass {
  readonly name: string
  readonly value: number
  readonly globalDefault: boolean
  readonly preemptionPolicy: string
}

/** The priority of a Pod without a class if no class is the default. */
const noClass: PriorityClass = { name: '', value: 0, globalDefault: false, preemptionPolicy: 'PreemptLowerPriority' }

/** Priority: a Pod gets the value of its PriorityClass; at most one class is the default. */
export function priority(needs: PluginNeeds): Plugin {
  const group = domainGroup(needs.catalogue.names, 'scheduling')
  const classes = new KeptObjects({ group, plural: 'priorityclasses' }, classOf, needs)
  const onCreate = (attributes: Attributes): Verdict | Promise<Verdict> => {
    const name = podOf(attributes).spec.priorityClassName ?? ''
    if (name === '') return prioritized(attributes, defaultOf(classes.values()) ?? noClass)
    const key = classes.keyOf(name)
    const known = classes.get(key)
    // A refusal is based on the current state in storage.
    const verdict = known === undefined ? undefined : prioritized(attributes, known)
    if (verdict !== undefined && verdict.kind !== 'denied') return verdict
    return classes.latest(key).then((latest) => {
      if (latest !== undefined) return prioritized(attributes, latest)
      return denied(forbid(attributes, `no PriorityClass with name ${name} was found`))
    })
  }
  return {
    admissionRules: [
      admissionRuleFor('mutate', ['CREATE', 'UPDATE'], '', ['pods']),
      admissionRuleFor('validate', ['CREATE', 'UPDATE'], group, ['priorityclasses']),
    ],
    followed: classes,
    mutate: (attributes) => (attributes.operation === 'CREATE' ? onCreate(attributes) : kept(attributes)),
    async validate(attributes) {
      if (newObject('scheduling/v1.PriorityClass', attributes).globalDefault !== true) return allowed
      const other = defaultOf(await classes.latestAll())
      if (other === undefined || (attributes.operation === 'UPDATE' && other.name === attributes.name)) return allowed
      return denied(forbid(attributes, `PriorityClass ${other.name} is already marked as default. Only one default can exist`))
    },
    close: () => classes.close(),
  }
}

function classOf(bytes: Uint8Array): PriorityClass {
  const { metadata, value, globalDefault, preemptionPolicy } = parseStored('scheduling/v1.PriorityClass', bytes)
  return {
    name: metadata.name ?? '',
    value,
    globalDefault: globalDefault ?? false,
    preemptionPolicy: preemptionPolicy ?? noClass.preemptionPolicy,
  }
}

/** Two writers may have created two defaults: then the lower value is used. */
function defaultOf(classes: Iterable<PriorityClass>): PriorityClass | undefined {
  let lowest: PriorityClass | undefined
  for (const one of classes) if (one.globalDefault && (lowest === undefined || one.value < lowest.value)) lowest = one
  return lowest
}

function prioritized(attributes: Attributes, { name, value, preemptionPolicy }: PriorityClass): Verdict {
  const pod = podOf(attributes)
  const { spec } = pod
  const by = 'priority admission controller computed'
  if (spec.priority != null && spec.priority !== value) {
    const why = `the integer value of priority (${spec.priority}) must not be provided in pod spec; ${by} ${value} from the given PriorityClass name`
    return denied(forbid(attributes, why))
  }
  if (spec.preemptionPolicy != null && spec.preemptionPolicy !== preemptionPolicy) {
    const why = `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; ${by} ${preemptionPolicy} from the given PriorityClass name`
    return denied(forbid(attributes, why))
  }
  const changed = { ...spec, priority: value, preemptionPolicy }
  return { kind: 'allowed', object: { ...pod, spec: name === '' ? changed : { ...changed, priorityClassName: name } } }
}

/** An update without a defaulted value does not remove it. */
function kept(attributes: Attributes): Verdict {
  const pod = podOf(attributes)
  const { priority, preemptionPolicy } = objectsOf('core/v1.Pod', attributes).oldObject?.spec ?? {}
  const changes = {
    ...(pod.spec.priority === undefined && priority !== undefined ? { priority } : {}),
    ...(pod.spec.preemptionPolicy === undefined && preemptionPolicy !== undefined ? { preemptionPolicy } : {}),
  }
  return Object.keys(changes).length === 0 ? allowed : { kind: 'allowed', object: withSpec(pod, changes) }
}
