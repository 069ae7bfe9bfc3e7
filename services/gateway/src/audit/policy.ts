import { isJsonObject } from '@orch/core/json'
import { domainGroup, type Names } from '@orch/core/names'
import { parseYaml } from '@orch/core/yaml'

/** The levels of a record, from none to all. */
export const auditLevels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const
export type AuditLevel = (typeof auditLevels)[number]

/** Stages of a request with events. */
const auditStages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const
export type AuditStage = (typeof auditStages)[number]

/** The rules of a policy, which select requests and their levels. */
export type AuditPolicy = ReturnType<typeof readPolicy>

/** One rule. An empty list matches all. */
export interface AuditRule {
  readonly level: AuditLevel
  readonly users: readonly string[]
  readonly userGroups: readonly string[]
  readonly verbs: readonly string[]
  readonly resources: readonly AuditResources[]
  readonly namespaces: readonly string[]
  readonly nonResourceURLs: readonly string[]
  readonly omitStages: readonly AuditStage[]
  /** By default the policy's value. */
  readonly omitManagedFields: boolean | undefined
}

/** Resources of one group; an empty list means all of them. */
export type AuditResources = ReturnType<typeof readResources>

export type PolicyReading =
  | { readonly kind: 'policy'; readonly policy: AuditPolicy }
  /** Each message names the rule and the expected value. */
  | { readonly kind: 'refused'; readonly problems: readonly string[] }

/** Parses a policy file. Unknown members are errors: a misread rule would leave an unnoticed gap. */
export function parseAuditPolicy(text: string, names: Names): PolicyReading {
  const parsed = parseYaml(text)
  if (parsed.kind === 'malformed') return { kind: 'refused', problems: [`the file is not YAML: ${parsed.message}`] }
  const reader = new Reader()
  const policy = readPolicy(reader, parsed.value, `${domainGroup(names, 'audit')}/v1`)
  const problems = [...parsed.repeats, ...reader.problems]
  return problems.length === 0 ? { kind: 'policy', policy } : { kind: 'refused', problems }
}

function readPolicy(reader: Reader, value: unknown, apiVersion: string) {
  const fields = reader.fields(value, '', ['apiVersion', 'kind', 'metadata', 'rules', 'omitStages', 'omitManagedFields'])
  if (fields.apiVersion !== apiVersion) reader.refuse('apiVersion', `must be ${apiVersion}`)
  if (fields.kind !== 'Policy') reader.refuse('kind', 'must be Policy')
  const rules = reader.list(fields.rules, 'rules').map((rule, index) => readRule(reader, rule, `rules[${index}]`))
  if (rules.length === 0) reader.refuse('rules', 'must have at least one rule')
  return {
    rules,
    omitStages: readStages(reader, fields.omitStages, 'omitStages'),
    omitManagedFields: reader.truth(fields.omitManagedFields, 'omitManagedFields') ?? false,
  }
}

const ruleFields = [
  'level',
  'users',
  'userGroups',
  'verbs',
  'resources',
  'namespaces',
  'nonResourceURLs',
  'omitStages',
  'omitManagedFields',
]

function readRule(reader: Reader, value: unknown, path: string): AuditRule {
  const fields = reader.fields(value, path, ruleFields)
  const rule: AuditRule = {
    level: reader.oneOf(fields.level, `${path}.level`, auditLevels),
    users: reader.texts(fields.users, `${path}.users`),
    userGroups: reader.texts(fields.userGroups, `${path}.userGroups`),
    verbs: reader.texts(fields.verbs, `${path}.verbs`),
    resources: reader
      .list(fields.resources, `${path}.resources`)
      .map((one, index) => readResources(reader, one, `${path}.resources[${index}]`)),
    namespaces: reader.texts(fields.namespaces, `${path}.namespaces`),
    nonResourceURLs: reader.texts(fields.nonResourceURLs, `${path}.nonResourceURLs`),
    omitStages: readStages(reader, fields.omitStages, `${path}.omitStages`),
    omitManagedFields: reader.truth(fields.omitManagedFields, `${path}.omitManagedFields`),
  }
  if (rule.nonResourceURLs.length > 0 && (rule.resources.length > 0 || rule.namespaces.length > 0)) {
    reader.refuse(`${path}.nonResourceURLs`, 'a rule cannot be about both resources and non-resource URLs')
  }
  for (const [index, url] of rule.nonResourceURLs.entries()) {
    if (!/^(?:\*|\/[^*]*\*?)$/.test(url)) {
      reader.refuse(`${path}.nonResourceURLs[${index}]`, "must begin with '/', and '*' may only stand at the end")
    }
  }
  return rule
}

function readResources(reader: Reader, value: unknown, path: string) {
  const fields = reader.fields(value, path, ['group', 'resources', 'resourceNames'])
  const group = fields.group ?? ''
  if (typeof group !== 'string' || group.includes('/')) reader.refuse(`${path}.group`, 'must be the name of a group, without a version')
  const resources = reader.texts(fields.resources, `${path}.resources`)
  const resourceNames = reader.texts(fields.resourceNames, `${path}.resourceNames`)
  if (resourceNames.length > 0 && resources.length === 0) reader.refuse(`${path}.resourceNames`, 'needs at least one resource')
  return { group: String(group), resources, resourceNames }
}

function readStages(reader: Reader, value: unknown, path: string): AuditStage[] {
  return reader.texts(value, path).map((stage, index) => reader.oneOf(stage, `${path}[${index}]`, auditStages))
}

/** Reads values of unknown shape and collects their errors. */
class Reader {
  readonly problems: string[] = []

  refuse(path: string, problem: string): void {
    this.problems.push(`${path}: ${problem}`)
  }

  fields(value: unknown, path: string, known: readonly string[]): Readonly<Record<string, unknown>> {
    if (!isJsonObject(value)) {
      this.refuse(path === '' ? 'the file' : path, 'must be an object')
      return {}
    }
    for (const name of Object.keys(value)) {
      if (!known.includes(name)) this.refuse(path === '' ? name : `${path}.${name}`, `unknown field; expected one of ${known.join(', ')}`)
    }
    return value
  }

  list(value: unknown, path: string): readonly unknown[] {
    if (value === undefined || value === null) return []
    if (Array.isArray(value)) return value
    this.refuse(path, 'must be a list')
    return []
  }

  texts(value: unknown, path: string): string[] {
    return this.list(value, path).map((item, index) => {
      if (typeof item !== 'string') this.refuse(`${path}[${index}]`, 'must be a text')
      return String(item)
    })
  }

  truth(value: unknown, path: string): boolean | undefined {
    if (value === undefined || value === null) return undefined
    if (typeof value !== 'boolean') this.refuse(path, 'must be true or false')
    return value === true
  }

  oneOf<W extends string>(value: unknown, path: string, words: readonly [W, ...W[]]): W {
    const word = words.find((one) => one === value)
    if (word === undefined) this.refuse(path, `must be one of ${words.join(', ')}`)
    return word ?? words[0]
  }
}
