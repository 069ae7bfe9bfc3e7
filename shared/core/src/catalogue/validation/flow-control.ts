import { list, ref, string } from '../../description/define.ts'
import { mandatoryFlowSchemas, mandatoryPriorityLevels } from '../../flow-control/mandatory.ts'
import { joinTexts, type LevelText, textSince } from '../../meta/level-text.ts'
import type { FieldError } from '../../meta/status.ts'
import { checkLabel, checkSubdomain } from '../../meta/validate-names.ts'
import { goValue } from '../../schema/go-value.ts'
import {
  duplicateValue,
  forbiddenValue,
  invalidFor,
  invalidTexts,
  invalidValue,
  requiredValue,
  unsupportedValue,
} from '../../validation/field-errors.ts'
import { isSame, itemsOf, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import { numberOf } from './checks.ts'

const precedenceMax = 10_000
const queuesMax = 10_000_000
const entropyBitsMax = 60
const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch']
const methods = ['ByNamespace', 'ByUser']

/** The rules of a FlowSchema. */
export function validateFlowSchema(schema: Part): FieldError[] {
  const spec = partOf(schema, 'spec')
  const level = textOf(optionalPart(spec, 'priorityLevelConfiguration'), 'name')
  const method = optionalPart(spec, 'distinguisherMethod')
  const errors = validatePrecedence(Number(spec['matchingPrecedence'] ?? 0), textOf(partOf(schema, 'metadata'), 'name'))
  if (method !== undefined && !methods.includes(textOf(method, 'type'))) {
    errors.push(
      unsupportedValue('spec.distinguisherMethod.type', goValue(ref('flowcontrol/v1beta2.FlowDistinguisherMethod'), method), methods),
    )
  }
  const field = 'spec.priorityLevelConfiguration.name'
  if (level === '') errors.push(requiredValue(field, 'must reference a priority level'))
  else errors.push(...invalidFor(field, level, checkSubdomain(level)))
  errors.push(...itemsOf(spec, 'rules').flatMap((rule, index) => validateRule(rule, `spec.rules[${index}]`)))
  return [...errors, ...validateMandatory(schema, mandatoryFlowSchemas)]
}

/** Objects that the server keeps unchanged. */
function validateMandatory(object: Part, specs: Readonly<Record<string, unknown>>): FieldError[] {
  const name = textOf(partOf(object, 'metadata'), 'name')
  const spec = partOf(object, 'spec')
  if (!Object.hasOwn(specs, name) || isSame(spec, specs[name])) return []
  return [invalidValue('spec', spec, `spec of '${name}' must equal the fixed value`)]
}

/** The rules of the status of a FlowSchema or a PriorityLevelConfiguration. */
export function validateFlowControlStatus(object: Part): FieldError[] {
  const seen = new Set<string>()
  return itemsOf(partOf(object, 'status'), 'conditions').flatMap((condition, index) => {
    const field = `status.conditions[${index}].type`
    const type = textOf(condition, 'type')
    const errors = seen.has(type) ? [duplicateValue(field, type)] : []
    seen.add(type)
    return type === '' ? [...errors, requiredValue(field, 'must not be empty')] : errors
  })
}

function validatePrecedence(precedence: number, name: string): FieldError[] {
  const field = 'spec.matchingPrecedence'
  if (precedence <= 0) return [invalidValue(field, precedence, 'must be a positive value')]
  if (precedence > precedenceMax) return [invalidValue(field, precedence, `must not be greater than ${precedenceMax}`)]
  if (precedence !== 1 || name === 'exempt') return []
  return [invalidValue(field, precedence, "only the schema named 'exempt' may have matchingPrecedence 1")]
}

function validateRule(rule: Part, at: string): FieldError[] {
  const subjects = itemsOf(rule, 'subjects')
  const [resources, paths] = [itemsOf(rule, 'resourceRules'), itemsOf(rule, 'nonResourceRules')]
  const errors = subjects.length === 0 ? [requiredValue(`${at}.subjects`, 'subjects must contain at least one value')] : []
  for (const [index, subject] of subjects.entries()) errors.push(...validateSubject(subject, `${at}.subjects[${index}]`))
  if (resources.length + paths.length === 0) {
    errors.push(requiredValue(at, 'at least one of resourceRules and nonResourceRules has to be non-empty'))
  }
  for (const [index, resource] of resources.entries()) errors.push(...validateResourceRule(resource, `${at}.resourceRules[${index}]`))
  for (const [index, path] of paths.entries()) errors.push(...validatePathRule(path, `${at}.nonResourceRules[${index}]`))
  return errors
}

/** Kind → its own field, then those of the others in the order in which they are refused. */
const subjectFields: Readonly<Record<string, readonly [own: string, ...others: string[]]>> = {
  Group: ['group', 'serviceAccount', 'user'],
  ServiceAccount: ['serviceAccount', 'user', 'group'],
  User: ['user', 'serviceAccount', 'group'],
}
const kindsByField: Readonly<Record<string, string>> = { group: 'Group', serviceAccount: 'ServiceAccount', user: 'User' }

function validateSubject(subject: Part, at: string): FieldError[] {
  const kind = textOf(subject, 'kind')
  const fields = Object.hasOwn(subjectFields, kind) ? subjectFields[kind] : undefined
  if (fields === undefined) return [unsupportedValue(`${at}.kind`, kind, Object.keys(subjectFields))]
  const [own, ...others] = fields
  const value = optionalPart(subject, own)
  const errors =
    value === undefined
      ? [requiredValue(`${at}.${own}`, `${own} is required when subject kind is '${kind}'`)]
      : validateNamed(value, `${at}.${own}`, kind)
  for (const other of others.filter((name) => optionalPart(subject, name) !== undefined)) {
    errors.push(forbiddenValue(`${at}.${other}`, `${other} is forbidden when subject kind is not '${kindsByField[other]}'`))
  }
  return errors
}

function validateNamed(subject: Part, at: string, kind: string): FieldError[] {
  const name = textOf(subject, 'name')
  const errors = name === '' ? [requiredValue(`${at}.name`)] : []
  if (kind !== 'ServiceAccount') return errors
  if (name !== '' && name !== '*') errors.push(...invalidFor(`${at}.name`, name, checkSubdomain(name)))
  const namespace = textOf(subject, 'namespace')
  if (namespace === '') return [...errors, requiredValue(`${at}.namespace`, 'must specify namespace for service account')]
  return [...errors, ...invalidFor(`${at}.namespace`, namespace, checkLabel(namespace))]
}

function validateResourceRule(rule: Part, at: string): FieldError[] {
  const namespaces = itemsOf<string>(rule, 'namespaces')
  const errors = [
    ...validateVerbs(rule, at),
    ...validateList(rule, 'apiGroups', at, { missing: 'resource rules must supply at least one api group', others: 'api groups' }),
    ...validateList(rule, 'resources', at, { missing: 'resource rules must supply at least one resource', others: 'resources' }),
  ]
  if (namespaces.length === 0) {
    if (rule['clusterScope'] === true) return errors
    const missing = 'resource rules that are not cluster scoped must supply at least one namespace'
    return [...errors, requiredValue(`${at}.namespaces`, missing)]
  }
  if (namespaces.includes('*')) return [...errors, ...validateList(rule, 'namespaces', at, { missing: '', others: 'namespaces' })]
  const wrong = (problem: LevelText) => joinTexts([`each member of this list must be '*' or a DNS-1123 label; `, problem])
  return [...errors, ...namespaces.flatMap((name, index) => invalidFor(`${at}.namespaces[${index}]`, name, checkLabel(name).map(wrong)))]
}

function validatePathRule(rule: Part, at: string): FieldError[] {
  const words = { missing: 'nonResourceURLs must contain at least one value', others: 'non-resource URLs' }
  const paths = itemsOf<string>(rule, 'nonResourceURLs')
  const errors = [...validateVerbs(rule, at), ...validateList(rule, 'nonResourceURLs', at, words)]
  if (paths.includes('*')) return errors
  for (const [index, path] of paths.entries()) {
    const problem = pathProblem(path)
    if (problem !== undefined) errors.push(invalidValue(`${at}.nonResourceURLs[${index}]`, path, problem))
  }
  return errors
}

function pathProblem(path: string): string | undefined {
  if (path === '') return 'must not be empty'
  if (!path.startsWith('/')) return 'must start with slash'
  if (path.includes(' ')) return 'must not contain white-space'
  if (path.includes('//')) return 'must not contain double slash'
  const wildcards = path.split('*').length - 1
  return wildcards > 1 || (wildcards === 1 && !path.endsWith('/*')) ? 'wildcard can only do suffix matching' : undefined
}

function validateVerbs(rule: Part, at: string): FieldError[] {
  const given = itemsOf<string>(rule, 'verbs')
  const errors = validateList(rule, 'verbs', at, { missing: 'verbs must contain at least one value', others: 'verbs' })
  if (given.includes('*') || given.every((verb) => verbs.includes(verb))) return errors
  return [...errors, unsupportedValue(`${at}.verbs`, goValue(list(string()), given), verbs)]
}

function validateList(rule: Part, name: string, at: string, words: { readonly missing: string; readonly others: string }): FieldError[] {
  const list = itemsOf<string>(rule, name)
  if (list.length === 0) return [requiredValue(`${at}.${name}`, words.missing)]
  if (list.length === 1 || !list.includes('*')) return []
  return [invalidTexts(`${at}.${name}`, list, `if '*' is present, must not specify other ${words.others}`)]
}

/** The rules of a PriorityLevelConfiguration. */
export function validatePriorityLevel(level: Part): FieldError[] {
  return [...validateLevelSpec(level), ...validateMandatory(level, mandatoryPriorityLevels)]
}

function validateLevelSpec(level: Part): FieldError[] {
  const spec = partOf(level, 'spec')
  const type = textOf(spec, 'type')
  const limited = optionalPart(spec, 'limited')
  const isExempt = textOf(partOf(level, 'metadata'), 'name') === 'exempt'
  const errors: FieldError[] = []
  if (isExempt !== (type === 'Exempt')) {
    errors.push(invalidValue('spec.type', type, "type must be 'Exempt' if and only if name is 'exempt'"))
  }
  switch (type) {
    case 'Exempt':
      return limited === undefined ? errors : [...errors, forbiddenValue('spec.limited', 'must be nil if the type is not Limited')]
    case 'Limited':
      if (limited === undefined) return [...errors, requiredValue('spec.limited', 'must not be empty when type is Limited')]
      return [...errors, ...validateLimited(limited)]
    default:
      return [...errors, unsupportedValue('spec.type', type, ['Exempt', 'Limited'])]
  }
}

/** The last level that serves these versions. */
const lastBetaLevel = 28

function validateLimited(limited: Part): FieldError[] {
  const shares = Number(limited['assuredConcurrencyShares'] ?? 0)
  const errors = shares > 0 ? [] : [invalidValue('spec.limited.assuredConcurrencyShares', shares, 'must be positive')]
  return [...errors, ...validateLimitResponse(limited, lastBetaLevel)]
}

/** A text that is its word alone since 1.36, when the rule became part of the type. */
export function plainly(word: string, detail: string): LevelText {
  return textSince(36, { before: `${word}: ${detail}`, after: word })
}

function noQueuing(at: string): FieldError {
  const message = plainly('Forbidden', 'must be nil if limited.limitResponse.type is not Limited')
  return { reason: 'FieldValueForbidden', field: `${at}.queuing`, message }
}

const neededQueuing = plainly('Required value', 'must not be empty if limited.limitResponse.type is Limited')

/** The rules of the response to requests above the limit. */
export function validateLimitResponse(limited: Part, level: number): FieldError[] {
  const response = partOf(limited, 'limitResponse')
  const at = 'spec.limited.limitResponse'
  const type = textOf(response, 'type')
  const queuing = optionalPart(response, 'queuing')
  switch (type) {
    case 'Reject':
      if (queuing === undefined) return []
      return [noQueuing(at)]
    case 'Queue':
      if (queuing === undefined) {
        return [{ reason: 'FieldValueRequired', field: `${at}.queuing`, message: neededQueuing }]
      }
      return validateQueuing(queuing, `${at}.queuing`)
    default:
      return level >= absentWordsSince && queuing !== undefined
        ? inTurn(type, wrongWord(`${at}.type`, { word: type, level }, ['Queue', 'Reject']), noQueuing(at))
        : [wrongWord(`${at}.type`, { word: type, level }, ['Queue', 'Reject'])]
  }
}

/** The rule about an absent word is a declared one, and comes last as those are. */
function inTurn(word: string, wrong: FieldError, unwanted: FieldError): FieldError[] {
  return word === '' ? [unwanted, wrong] : [wrong, unwanted]
}

/** The first level that tells an absent word from a wrong one. */
const absentWordsSince = 37

/** A word that decides about the fields beside it. */
export function wrongWord(field: string, { word, level }: { word: string; level: number }, known: readonly string[]): FieldError {
  return word === '' && level >= absentWordsSince ? requiredValue(field) : unsupportedValue(field, word, known)
}

function validateQueuing(queuing: Part, at: string): FieldError[] {
  const amount = (name: string): number => Number(numberOf(queuing, name) ?? 0)
  const [queues, hand, length] = [amount('queues'), amount('handSize'), amount('queueLengthLimit')]
  const errors = length <= 0 ? [invalidValue(`${at}.queueLengthLimit`, length, 'must be positive')] : []
  if (queues <= 0) errors.push(invalidValue(`${at}.queues`, queues, 'must be positive'))
  else if (queues > queuesMax) errors.push(invalidValue(`${at}.queues`, queues, `must not be greater than ${queuesMax}`))
  if (hand <= 0) errors.push(invalidValue(`${at}.handSize`, hand, 'must be positive'))
  else if (hand > queues) errors.push(invalidValue(`${at}.handSize`, hand, `should not be greater than queues (${queues})`))
  else if (entropyBits(queues, hand) > entropyBitsMax) {
    const detail = `required entropy bits of deckSize ${queues} and handSize ${hand} should not be greater than ${entropyBitsMax}`
    errors.push(invalidValue(`${at}.handSize`, hand, detail))
  }
  return errors
}

/** Bits that dealing a hand of queues uses up. */
function entropyBits(queues: number, hand: number): number {
  return Math.ceil(Math.log2(queues) * hand)
}
