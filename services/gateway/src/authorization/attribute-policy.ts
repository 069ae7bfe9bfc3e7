import type { User } from '@orch/core/contracts'
import { isJsonObject } from '@orch/core/json'
import { type Names, subdomainLabel } from '@orch/core/names'
import type { PolicyRule } from '@orch/core/rbac'
import type { Access, Authorizer, Decision, KnownRules } from './authorizer.ts'

/** One line of the file: a permission, by the user's name or group. */
export interface AttributePolicy {
  readonly user: string
  readonly group: string
  readonly readonly: boolean
  readonly apiGroup: string
  readonly resource: string
  readonly namespace: string
  readonly nonResourcePath: string
}

const allow: Decision = { kind: 'allow', reason: '' }
const noMatch: Decision = { kind: 'noOpinion', reason: 'No policy matched.' }
const readVerbs = ['get', 'list', 'watch']

/** Decides by the lines of a policy file. */
export function createAttributePolicy(policies: readonly AttributePolicy[]): Authorizer {
  return {
    authorize: (user, access) => (policies.some((policy) => isAbout(policy, user) && permits(policy, access)) ? allow : noMatch),
    rulesOf: (user, namespace): KnownRules => ({
      rules: policies.filter((policy) => isAbout(policy, user)).flatMap((policy) => rulesOf(policy, namespace)),
    }),
  }
}

/** Parses a policy file: one object per line; empty lines and lines that begin with `#` are skipped. Errors name the line. */
export function parseAttributePolicies(text: string, names: Names): AttributePolicy[] {
  const policies: AttributePolicy[] = []
  for (const [index, line] of text.split('\n').entries()) {
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith('#')) continue
    policies.push(parseLine(trimmed, `line ${index + 1}`, names))
  }
  return policies
}

function parseLine(line: string, where: string, names: Names): AttributePolicy {
  const version = subdomainLabel(names, 'abac.authorization', 'v1beta1')
  const object = readJson(line, where)
  if (isJsonObject(object) && !('apiVersion' in object) && !('kind' in object)) return withoutVersion(object, where)
  if (!isJsonObject(object) || object.apiVersion !== version || object.kind !== 'Policy') {
    throw new Error(
      `${where}: must be an object with "apiVersion": "${version}" and "kind": "Policy", or one of the older format with neither`,
    )
  }
  const { spec } = object
  if (!isJsonObject(spec)) throw new Error(`${where}: spec: must be an object`)
  const policy = readFields(spec, `${where}: spec.`, [...olderFields, 'apiGroup', 'nonResourcePath'])
  return { ...policy, ...subjectOf(policy) }
}

const olderFields = ['user', 'group', 'readonly', 'resource', 'namespace']

/** The older format: an absent member matches everything, and every authenticated user. */
function withoutVersion(object: Readonly<Record<string, unknown>>, where: string): AttributePolicy {
  const policy = readFields(object, `${where}: `, olderFields)
  const { user, group, resource, namespace } = policy
  return {
    ...policy,
    ...(user === '' && group === '' ? everybodyKnown : subjectOf(policy)),
    apiGroup: '*',
    resource: resource || '*',
    namespace: namespace || '*',
    nonResourcePath: resource === '' && namespace === '' ? '*' : '',
  }
}

function readFields(values: Readonly<Record<string, unknown>>, where: string, known: readonly string[]): AttributePolicy {
  for (const name of Object.keys(values)) if (!known.includes(name)) throw new Error(`${where}${name}: is not known`)
  const textOf = (name: string): string => {
    const value = values[name] ?? ''
    if (typeof value !== 'string') throw new Error(`${where}${name}: must be a text`)
    return value
  }
  const readonly = values.readonly ?? false
  if (typeof readonly !== 'boolean') throw new Error(`${where}readonly: must be true or false`)
  return {
    user: textOf('user'),
    group: textOf('group'),
    readonly,
    apiGroup: textOf('apiGroup'),
    resource: textOf('resource'),
    namespace: textOf('namespace'),
    nonResourcePath: textOf('nonResourcePath'),
  }
}

const everybodyKnown = { user: '', group: 'system:authenticated' }

/** A star matches every authenticated user, never an anonymous one. */
function subjectOf({ user, group }: Pick<AttributePolicy, 'user' | 'group'>): Pick<AttributePolicy, 'user' | 'group'> {
  return user === '*' || group === '*' ? everybodyKnown : { user, group }
}

function readJson(line: string, where: string): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    throw new Error(`${where}: must be an object in JSON`, { cause: error })
  }
}

/** Both must match if both are named; a rule without either matches no user. */
function isAbout({ user, group }: AttributePolicy, who: User): boolean {
  if (user === '' && group === '') return false
  return (user === '' || user === who.name) && (group === '' || who.groups.includes(group))
}

function permits(policy: AttributePolicy, access: Access): boolean {
  if (policy.readonly && !readVerbs.includes(access.verb)) return false
  if (access.kind === 'path') return fitsPath(policy.nonResourcePath, access.path)
  const { namespace, resource, group } = access
  return fits(policy.namespace, namespace) && fits(policy.resource, resource) && fits(policy.apiGroup, group)
}

function fits(pattern: string, word: string): boolean {
  return pattern === '*' || pattern === word
}

function fitsPath(pattern: string, path: string): boolean {
  if (pattern === '') return false
  return fits(pattern, path) || (pattern.endsWith('*') && path.startsWith(pattern.replace(/\*+$/, '')))
}

function rulesOf(policy: AttributePolicy, namespace: string): PolicyRule[] {
  const verbs = policy.readonly ? readVerbs : ['*']
  const rules: PolicyRule[] = []
  if (policy.resource !== '' && fits(policy.namespace, namespace)) {
    rules.push({ verbs, apiGroups: [policy.apiGroup], resources: [policy.resource] })
  }
  if (policy.nonResourcePath !== '') rules.push({ verbs, nonResourceURLs: [policy.nonResourcePath] })
  return rules
}
