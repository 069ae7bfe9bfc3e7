import { memo } from '@orch/cel/memo'
import { checkLabel1035, type FieldError } from '../../meta/index.ts'
import { duplicateValue, invalidFor, invalidTexts, invalidValue, requiredValue } from '../../validation/field-errors.ts'
import { itemsOf, type Part, repeatedPlaces, textOf } from '../../validation/part.ts'
import type { PartRule, RuleContext, TypeRules } from '../../validation/rule-book.ts'
import { validateQualifiedDomain } from '../../validation/texts.ts'
import { validateClientConfig } from '../../validation/webhook-client.ts'
import { wordErrors } from './checks.ts'
import { validateMatchConditions } from './match-conditions.ts'
import { refuseStaticName } from './static-names.ts'

const reviewVersions = ['v1', 'v1beta1']
const sideEffects = ['None', 'NoneOnDryRun']
/** Side effects that stored configurations from before v1 may keep. */
const formerSideEffects = ['None', 'NoneOnDryRun', 'Some', 'Unknown']

const pkg = 'admissionregistration/v1'
const webhookSteps: TypeRules = [
  validateName,
  'rules',
  'failurePolicy',
  'matchPolicy',
  validateSideEffects,
  'timeoutSeconds',
  'namespaceSelector',
  'objectSelector',
  'reinvocationPolicy',
  'clientConfig',
  'admissionReviewVersions',
  validateReviewVersions,
  { passedOver: ['matchConditions'] },
  validateConditions,
]
const ruleSteps: TypeRules = ['operations', 'apiGroups', 'apiVersions', requireVersions, 'resources', validateResources, 'scope']

/** Webhook configurations. A configuration stored by an older server may break newer rules. */
export const webhookRules: Readonly<Record<string, TypeRules>> = {
  [`${pkg}.MutatingWebhookConfiguration`]: [{ passedOver: ['webhooks'] }, validateWebhooks('MutatingWebhook'), refuseStaticName],
  [`${pkg}.ValidatingWebhookConfiguration`]: [{ passedOver: ['webhooks'] }, validateWebhooks('ValidatingWebhook'), refuseStaticName],
  [`${pkg}.MutatingWebhook`]: webhookSteps,
  [`${pkg}.ValidatingWebhook`]: webhookSteps,
  [`${pkg}.WebhookClientConfig`]: [
    { passedOver: ['service'] },
    (errors, config, at) => void errors.push(...validateClientConfig(config, at)),
  ],
  [`${pkg}.NamedRuleWithOperations`]: ['resourceNames', ...ruleSteps],
  [`${pkg}.RuleWithOperations`]: ruleSteps,
}

/** The invalid values that a stored configuration may keep, so that its other fields can still be changed. */
interface Tolerance {
  readonly sideEffects: boolean
  readonly reviewVersions: boolean
  readonly sameNames: boolean
  /** Expressions of the stored match conditions. */
  readonly conditions: ReadonlySet<string>
}

/** The invalid values that a configuration may keep, computed once per stored object. */
const toleranceOf = memo(({ live }: RuleContext): Tolerance => {
  const stored = itemsOf(live, 'webhooks')
  const names = stored.map((webhook) => textOf(webhook, 'name')).filter((name) => name !== '')
  return {
    sideEffects: stored.some((webhook) => !sideEffects.includes(textOf(webhook, 'sideEffects'))),
    reviewVersions: stored.some((webhook) => !itemsOf<string>(webhook, 'admissionReviewVersions').some(isKnownVersion)),
    sameNames: new Set(names).size < names.length,
    conditions: new Set(stored.flatMap((webhook) => itemsOf(webhook, 'matchConditions').map((one) => textOf(one, 'expression')))),
  }
})

function isKnownVersion(version: string): boolean {
  return reviewVersions.includes(version)
}

function validateWebhooks(type: string): PartRule {
  return (errors, configuration, _at, context) => {
    const seen = new Set<string>()
    for (const [index, webhook] of itemsOf(configuration, 'webhooks').entries()) {
      const at = `webhooks[${index}]`
      const name = textOf(webhook, 'name')
      context.rules.of(`${pkg}.${type}`)(errors, webhook, at, context)
      if (name !== '' && seen.has(name) && !toleranceOf(context).sameNames) errors.push(duplicateValue(`${at}.name`, name))
      seen.add(name)
    }
  }
}

function validateName(errors: FieldError[], webhook: Part, at: string): void {
  errors.push(...validateQualifiedDomain(textOf(webhook, 'name'), `${at}.name`))
}

function validateSideEffects(errors: FieldError[], webhook: Part, at: string, context: RuleContext): void {
  const known = toleranceOf(context).sideEffects ? formerSideEffects : sideEffects
  errors.push(...wordErrors(`${at}.sideEffects`, webhook['sideEffects'], known, `must specify one of ${known.join(', ')}`))
}

function validateConditions(errors: FieldError[], webhook: Part, at: string, context: RuleContext): void {
  const surroundings = { hasParams: false, stored: toleranceOf(context).conditions, level: context.level }
  errors.push(...validateMatchConditions(webhook, `${at}.matchConditions`, surroundings))
}

function validateReviewVersions(errors: FieldError[], webhook: Part, at: string, context: RuleContext): void {
  const versions = itemsOf<string>(webhook, 'admissionReviewVersions')
  const field = `${at}.admissionReviewVersions`
  if (versions.length === 0) return
  const repeated = repeatedPlaces(versions)
  for (const [index, version] of versions.entries()) {
    errors.push(...invalidFor(`${field}[${index}]`, version, repeated.has(index) ? ['duplicate version'] : checkLabel1035(version)))
  }
  if (!toleranceOf(context).reviewVersions && !versions.some(isKnownVersion)) {
    errors.push(invalidTexts(field, versions, `must include at least one of ${reviewVersions.join(', ')}`))
  }
}

function requireVersions(errors: FieldError[], rule: Part, at: string): void {
  for (const [index, version] of itemsOf<string>(rule, 'apiVersions').entries()) {
    if (version === '') errors.push(requiredValue(`${at}.apiVersions[${index}]`))
  }
}

function validateResources(errors: FieldError[], rule: Part, at: string): void {
  const field = `${at}.resources`
  const resources = itemsOf<string>(rule, 'resources')
  const wholeResources = new Set<string>()
  const wholeSubresources = new Set<string>()
  let isLastWhole = false
  for (const [index, text] of resources.entries()) {
    if (text === '') errors.push(requiredValue(`${field}[${index}]`))
    const slash = text.indexOf('/')
    if (slash === -1) {
      if (text !== '') isLastWhole = text !== '*'
      continue
    }
    const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)]
    const refuse = (wildcard: string): number =>
      errors.push(invalidValue(`${field}[${index}]`, text, `if '${wildcard}' is present, must not specify ${text}`))
    if (wholeResources.has(resource)) refuse(`${resource}/*`)
    if (wholeSubresources.has(subresource)) refuse(`*/${subresource}`)
    if (subresource === '*') wholeResources.add(resource)
    if (resource === '*') wholeSubresources.add(subresource)
  }
  if (resources.length > 1 && resources.includes('*/*')) {
    errors.push(invalidTexts(field, resources, "if '*/*' is present, must not specify other resources"))
  }
  // As in kube-apiserver, `*` may follow whole resources but not precede them.
  if (resources.includes('*') && isLastWhole) {
    errors.push(invalidTexts(field, resources, "if '*' is present, must not specify other resources without subresources"))
  }
}
