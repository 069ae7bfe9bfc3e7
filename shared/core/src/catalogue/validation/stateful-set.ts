import { intOrString, ref } from '../../description/values.ts'
import type { FieldError } from '../../meta/status.ts'
import { goValue } from '../../schema/go-value.ts'
import { forbiddenValue, invalidValue, requiredValue } from '../../validation/field-errors.ts'
import { isSame, itemsOf, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import { liveAt, type RuleContext, type TypeRules } from '../../validation/rule-book.ts'
import { isGiven, isNoneOf, notDecremented, notMoreThan } from './checks.ts'
import {
  labelsOf,
  notSelected,
  refuseEndingPods,
  selectorTakes,
  validateOwnSelector,
  validatePodTemplate,
  validateTemplateMetadata,
} from './pod-template.ts'

/** The first level that validates the specs of the template and of the claims. Earlier levels leave that to the Pods and claims. */
const templateCheckedSince = 34

export const statefulSetRules: Readonly<Record<string, TypeRules>> = {
  'apps/v1.StatefulSetSpec': [
    ...['podManagementPolicy', validateManagement],
    validateStrategy,
    'persistentVolumeClaimRetentionPolicy',
    { since: templateCheckedSince, step: validateClaims },
    ...['replicas', 'minReadySeconds', 'ordinals'],
    { when: (_, { live }) => live === undefined, steps: ['serviceName'] },
    { passedOver: ['selector', 'template', 'updateStrategy', 'volumeClaimTemplates'] },
    validateTemplate,
    { until: 36, step: validateChange },
  ],
  'apps/v1.RollingUpdateStatefulSetStrategy': ['partition', 'maxUnavailable', refuseNone],
  'apps/v1.StatefulSetStatus': [
    'replicas',
    'readyReplicas',
    'currentReplicas',
    'updatedReplicas',
    'availableReplicas',
    '*',
    validateCounts,
  ],
}

function validateTemplate(errors: FieldError[], spec: Part, _at: string, context: RuleContext): void {
  const selector = optionalPart(spec, 'selector')
  validateOwnSelector(errors, selector, 'statefulset')
  const template = partOf(spec, 'template')
  const isTaken = selectorTakes(selector, labelsOf(template))
  if (isTaken === undefined) errors.push(invalidValue('spec.selector', goValue(ref('meta/v1.LabelSelector'), selector ?? {})))
  else {
    if (!isTaken) errors.push(notSelected(template, 'spec.template', context))
    if (isTemplateChecked(context)) validatePodTemplate(errors, asPods(spec), { path: 'spec.template', context })
    else validateTemplateMetadata(errors, template, { path: 'spec.template', context })
  }
  refuseEndingPods(errors, template, { owner: 'StatefulSet', path: 'spec.template' })
}

/** An existing set with an invalid template may be written unchanged. */
function isTemplateChecked({ level, live, ...context }: RuleContext): boolean {
  if (level < templateCheckedSince) return false
  if (live === undefined) return true
  const found: FieldError[] = []
  const spec = partOf(live, 'spec')
  validatePodTemplate(found, asPods(spec), { path: 'spec.template', context: { ...context, level, live, object: live } })
  return found.length === 0
}

/** The template with the set's own host names and claim volumes, as its Pods have it. */
function asPods(spec: Part): Part {
  const template = partOf(spec, 'template')
  const { subdomain: _subdomain, hostname: _hostname, ...pod } = partOf(template, 'spec')
  const claims = itemsOf(spec, 'volumeClaimTemplates').map((claim) => textOf(partOf(claim, 'metadata'), 'name'))
  if (claims.length === 0) return { ...template, spec: pod }
  const others = itemsOf(pod, 'volumes').filter((volume) => !claims.includes(textOf(volume, 'name')))
  const made = [...new Set(claims)].map((name) => ({ name, persistentVolumeClaim: { claimName: name } }))
  return { ...template, spec: { ...pod, volumes: [...made, ...others] } }
}

/** Claim templates are immutable, so existing ones are not validated. */
function validateClaims(errors: FieldError[], spec: Part, at: string, context: RuleContext): void {
  if (context.live !== undefined) return
  for (const [index, claim] of itemsOf(spec, 'volumeClaimTemplates').entries()) {
    const path = `${at}.volumeClaimTemplates[${index}].spec`
    context.rules.of('core/v1.PersistentVolumeClaimSpec')(errors, partOf(claim, 'spec'), path, context)
  }
}

function validateManagement(errors: FieldError[], spec: Part): void {
  const policy = textOf(spec, 'podManagementPolicy')
  if (['', 'OrderedReady', 'Parallel'].includes(policy)) return
  errors.push(invalidValue('spec.podManagementPolicy', policy, "must be 'OrderedReady' or 'Parallel'"))
}

function validateStrategy(errors: FieldError[], spec: Part, _at: string, context: RuleContext): void {
  const strategy = partOf(spec, 'updateStrategy')
  const type = textOf(strategy, 'type')
  const at = 'spec.updateStrategy.rollingUpdate'
  const mayRecreate = context.isGateOn('StatefulSetRecreateStrategy') || liveAt(context, 'spec.updateStrategy')['type'] === 'Recreate'
  if (type === '') errors.push(requiredValue('spec.updateStrategy'))
  else if (type === 'OnDelete' || (type === 'Recreate' && mayRecreate)) {
    if (!isGiven(strategy, 'rollingUpdate')) return
    errors.push(
      invalidValue(
        at,
        goValue(ref('apps/v1.RollingUpdateStatefulSetStrategy'), strategy['rollingUpdate']),
        "only allowed for updateStrategy 'RollingUpdate'",
      ),
    )
  } else if (type !== 'RollingUpdate') {
    const printed = goValue(ref('apps/v1.StatefulSetUpdateStrategy'), strategy)
    const types = mayRecreate ? "'RollingUpdate', 'OnDelete', or 'Recreate'" : "'RollingUpdate' or 'OnDelete'"
    errors.push(invalidValue('spec.updateStrategy', printed, `must be ${types}`))
  } else {
    const rolling = optionalPart(strategy, 'rollingUpdate')
    if (rolling !== undefined) context.rules.of('apps/v1.RollingUpdateStatefulSetStrategy')(errors, rolling, at, context)
  }
}

function refuseNone(errors: FieldError[], rolling: Part, at: string): void {
  if (!isGiven(rolling, 'maxUnavailable') || !isNoneOf(rolling['maxUnavailable'])) return
  errors.push(invalidValue(`${at}.maxUnavailable`, goValue(intOrString(), rolling['maxUnavailable']), 'cannot be 0'))
}

const ordinalsSince = 26
const historyLimitSince = 33

/** The mutable fields in the order of the message. */
const changeableAt = (level: number): readonly string[] => [
  'replicas',
  ...(level < ordinalsSince ? [] : ['ordinals']),
  ...['template', 'updateStrategy'],
  ...(level < historyLimitSince ? [] : ['revisionHistoryLimit']),
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
]

/** Most fields are immutable because existing Pods depend on them. */
function validateChange(errors: FieldError[], spec: Part, at: string, context: RuleContext): void {
  if (context.live === undefined) return
  const live = liveAt(context, at)
  const names = new Set([...Object.keys(spec), ...Object.keys(live)])
  const changeable = changeableAt(context.level)
  const isChanged = [...names].some((name) => !changeable.includes(name) && !isSame(spec[name], live[name]))
  if (!isChanged) return
  const listed = changeable.map((name) => `'${name}'`)
  const others = `${listed.slice(0, -1).join(', ')} and ${listed.at(-1)}`
  errors.push(forbiddenValue('spec', `updates to statefulset spec for fields other than ${others} are forbidden`))
}

function validateCounts(errors: FieldError[], status: Part, at: string, context: RuleContext): void {
  const parts = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas']
  notMoreThan(errors, status, parts, { bound: 'replicas', detail: 'cannot be greater than status.replicas' })
  notMoreThan(errors, status, ['availableReplicas'], { bound: 'readyReplicas', detail: 'cannot be greater than status.readyReplicas' })
  notDecremented(errors, status, liveAt(context, at), 'collisionCount')
}
