import { string } from '../../description/texts.ts'
import { list, ref } from '../../description/values.ts'
import { mandatoryFlowSchemas } from '../../flow-control/mandatory.ts'
import { checkLabel, checkSubdomain, type FieldError, joinTexts, type LevelText, textSince } from '../../meta/index.ts'
import { goValue } from '../../schema/go-value.ts'
import { duplicateValue, invalidFor, invalidValue, requiredValue, unsupportedValue } from '../../validation/field-errors.ts'
import { isSame, itemsOf, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import type { RuleContext, TypeRules } from '../../validation/rule-book.ts'
import { notGiven } from './checks.ts'

const precedenceMax = 10_000
const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch']
const methods = ['ByNamespace', 'ByUser']

/** Kind of a subject → its field, then the fields of other kinds in the order of their errors. */
const subjectFields = {
  Group: ['group', 'serviceAccount', 'user'],
  ServiceAccount: ['serviceAccount', 'user', 'group'],
  User: ['user', 'serviceAccount', 'group'],
} as const

const kindsByField = { group: 'Group', serviceAccount: 'ServiceAccount', user: 'User' } as const

const subjectSteps = Object.entries(subjectFields).map(([kind, [own, ...others]]) => ({
  when: (subject: Part) => subject['kind'] === kind,
  steps: [own, ...others.map((other) => notGiven(other, `${other} is forbidden when subject kind is not '${kindsByField[other]}'`))],
}))

export const flowSchemaRules: Readonly<Record<string, TypeRules>> = {
  'flowcontrol/v1beta2.FlowSchema': ['spec', keepMandatory],
  'flowcontrol/v1beta2.FlowSchemaSpec': [validatePrecedence, validateMethod, 'priorityLevelConfiguration', 'rules'],
  'flowcontrol/v1beta2.PolicyRulesWithSubjects': ['subjects', requireRule, 'resourceRules', 'nonResourceRules'],
  'flowcontrol/v1beta2.Subject': ['kind', ...subjectSteps],
  'flowcontrol/v1beta2.ServiceAccountSubject': ['name', validateAccountName, 'namespace'],
  'flowcontrol/v1beta2.ResourcePolicyRule': ['verbs', validateVerbs, 'apiGroups', 'resources', 'namespaces', validateNamespaces],
  'flowcontrol/v1beta2.NonResourcePolicyRule': ['verbs', validateVerbs, 'nonResourceURLs', validatePaths],
}

/** The server does not let some schemas change. */
function keepMandatory(errors: FieldError[], schema: Part): void {
  errors.push(...mandatoryErrors(schema, mandatoryFlowSchemas))
}

/** The errors of an object whose spec may not change, found by name. */
export function mandatoryErrors(object: Part, specs: Readonly<Record<string, unknown>>): FieldError[] {
  const name = textOf(partOf(object, 'metadata'), 'name')
  const spec = partOf(object, 'spec')
  if (!Object.hasOwn(specs, name) || isSame(spec, specs[name])) return []
  return [invalidValue('spec', spec, `spec of '${name}' must equal the fixed value`)]
}

/** The message from the first level on at which it is known. */
const neededType = textSince(34, { before: 'Required value: must not be empty', after: 'Required value' })

/** The rules for the status of a FlowSchema or a PriorityLevelConfiguration. */
export function validateFlowControlStatus(object: Part): FieldError[] {
  const seen = new Set<string>()
  return itemsOf(partOf(object, 'status'), 'conditions').flatMap((condition, index) => {
    const field = `status.conditions[${index}].type`
    const type = textOf(condition, 'type')
    const errors = seen.has(type) ? [duplicateValue(field, type)] : []
    seen.add(type)
    return type === '' ? [...errors, { ...requiredValue(field), message: neededType }] : errors
  })
}

function validatePrecedence(errors: FieldError[], spec: Part, at: string, { object }: RuleContext): void {
  const precedence = Number(spec['matchingPrecedence'] ?? 0)
  const refuse = (detail: string): void => void errors.push(invalidValue(`${at}.matchingPrecedence`, precedence, detail))
  if (precedence <= 0) refuse('must be a positive value')
  else if (precedence > precedenceMax) refuse(`must not be greater than ${precedenceMax}`)
  else if (precedence === 1 && textOf(partOf(object, 'metadata'), 'name') !== 'exempt') {
    refuse("only the schema named 'exempt' may have matchingPrecedence 1")
  }
}

function validateMethod(errors: FieldError[], spec: Part, at: string): void {
  const method = optionalPart(spec, 'distinguisherMethod')
  if (method === undefined || methods.includes(textOf(method, 'type'))) return
  const shown = goValue(ref('flowcontrol/v1beta2.FlowDistinguisherMethod'), method)
  errors.push(unsupportedValue(`${at}.distinguisherMethod.type`, shown, methods))
}

function requireRule(errors: FieldError[], rule: Part, at: string): void {
  if (itemsOf(rule, 'resourceRules').length + itemsOf(rule, 'nonResourceRules').length > 0) return
  errors.push(requiredValue(at, 'at least one of resourceRules and nonResourceRules has to be non-empty'))
}

function validateAccountName(errors: FieldError[], account: Part, at: string): void {
  const name = textOf(account, 'name')
  if (name !== '' && name !== '*') errors.push(...invalidFor(`${at}.name`, name, checkSubdomain(name)))
}

function validateVerbs(errors: FieldError[], rule: Part, at: string): void {
  const given = itemsOf<string>(rule, 'verbs')
  if (given.includes('*') || given.every((verb) => verbs.includes(verb))) return
  errors.push(unsupportedValue(`${at}.verbs`, goValue(list(string()), given), verbs))
}

function validateNamespaces(errors: FieldError[], rule: Part, at: string): void {
  const namespaces = itemsOf<string>(rule, 'namespaces')
  if (namespaces.length === 0 && rule['clusterScope'] !== true) {
    const missing = 'resource rules that are not cluster scoped must supply at least one namespace'
    errors.push(requiredValue(`${at}.namespaces`, missing))
  }
  if (namespaces.includes('*')) return
  const wrong = (problem: LevelText) => joinTexts([`each member of this list must be '*' or a DNS-1123 label; `, problem])
  for (const [index, name] of namespaces.entries()) {
    errors.push(...invalidFor(`${at}.namespaces[${index}]`, name, checkLabel(name).map(wrong)))
  }
}

function validatePaths(errors: FieldError[], rule: Part, at: string): void {
  const paths = itemsOf<string>(rule, 'nonResourceURLs')
  if (paths.includes('*')) return
  for (const [index, path] of paths.entries()) {
    const problem = pathProblem(path)
    if (problem !== undefined) errors.push(invalidValue(`${at}.nonResourceURLs[${index}]`, path, problem))
  }
}

function pathProblem(path: string): string | undefined {
  if (path === '') return 'must not be empty'
  if (!path.startsWith('/')) return 'must start with slash'
  if (path.includes(' ')) return 'must not contain white-space'
  if (path.includes('//')) return 'must not contain double slash'
  const wildcards = path.split('*').length - 1
  return wildcards > 1 || (wildcards === 1 && !path.endsWith('/*')) ? 'wildcard can only do suffix matching' : undefined
}
