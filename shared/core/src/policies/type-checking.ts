import { compareTexts } from '../json/member.ts'
import type { Steps } from '../steps.ts'
import { PolicyLanguage } from './language.ts'
import { type FindSchema, type OpenApiSchema, OpenApiTypes } from './openapi-types.ts'
import type { NamedRuleSpec, ValidatingPolicySpec } from './spec.ts'

/** A type error in a policy's expression. */
export interface ExpressionWarning {
  readonly fieldRef: string
  readonly warning: string
}

/** A kind in one of its versions. */
export interface KindName {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** The schema of a kind, with a resolver for its references. */
export interface KindSchema {
  readonly schema: OpenApiSchema
  readonly find: FindSchema
}

/** A kind that a policy may apply to. */
export interface CheckedKind extends KindSchema {
  readonly name: KindName
}

/** Maximum number of kinds for checking a policy's expressions. */
const kindsMax = 10
/** Maximum number of resources to look up. */
const resourcesMax = 200

/** One resource in one of its versions. */
interface RuledResource {
  readonly group: string
  readonly version: string
  readonly resource: string
}

/** The kinds that a policy names, by group, version and kind. Wildcards and subresources are ignored. */
export async function kindsToCheck(
  { matchConstraints }: ValidatingPolicySpec,
  kindOf: (resource: RuledResource) => Promise<string | undefined>,
): Promise<readonly KindName[]> {
  const found = new Map<string, KindName>()
  const resources = (matchConstraints?.resourceRules ?? []).flatMap((rule) => [...resourcesOf(rule)])
  for (const resource of resources.slice(0, resourcesMax)) {
    const kind = await kindOf(resource)
    if (kind !== undefined) found.set(`${resource.group}/${resource.version}/${kind}`, { ...resource, kind })
    if (found.size === kindsMax) break
  }
  return [...found.values()].sort(byName).map(({ group, version, kind }) => ({ group, version, kind }))
}

function* resourcesOf({ apiGroups = [], apiVersions = [], resources = [] }: NamedRuleSpec): Generator<RuledResource> {
  if ([...apiGroups, ...apiVersions].some((name) => name.includes('*'))) return
  const plain = resources.filter((resource) => !/[*/]/.test(resource)).sort()
  for (const group of [...apiGroups].sort()) {
    for (const version of [...apiVersions].sort()) {
      for (const resource of plain) yield { group, version, resource }
    }
  }
}

function byName(left: KindName, right: KindName): number {
  return compareTexts(left.group, right.group) || compareTexts(left.version, right.version) || compareTexts(left.kind, right.kind)
}

/** Kinds with their schemas, including that of the parameters. */
export interface TypesToCheck {
  readonly kinds: readonly CheckedKind[]
  /** Undefined if parameters have any type. */
  readonly params: KindSchema | undefined
}

/** Checks validations and their messages for each kind. Types of variables are used, but errors in variables are not reported. */
export function* checkPolicyTypes(spec: ValidatingPolicySpec, { kinds, params }: TypesToCheck): Steps<readonly ExpressionWarning[]> {
  const checks: { readonly name: KindName; readonly language: PolicyLanguage }[] = []
  for (const { name, schema, find } of kinds) {
    const language = yield* languageFor(spec, new OpenApiTypes(schema, name.kind, find), params)
    checks.push({ name, language })
  }
  const warnings: ExpressionWarning[] = []
  for (const [index, validation] of (spec.validations ?? []).entries()) {
    for (const member of ['expression', 'messageExpression'] as const) {
      const text = validation[member] ?? ''
      if (text === '' && member === 'messageExpression') continue
      const problems: string[] = []
      for (const { name, language } of checks) {
        const problem = language.problemOf(text)
        if (problem !== undefined) problems.push(`${name.group}/${name.version}, Kind=${name.kind}: ${problem}\n`)
        yield
      }
      if (problems.length > 0) warnings.push({ fieldRef: `spec.validations[${index}].${member}`, warning: problems.join('\n') })
    }
  }
  return warnings
}

function* languageFor(
  { paramKind, variables = [] }: ValidatingPolicySpec,
  object: OpenApiTypes,
  params: KindSchema | undefined,
): Steps<PolicyLanguage> {
  const declared = { object, params: params && new OpenApiTypes(params.schema, 'params', params.find) }
  const language = new PolicyLanguage({ hasParams: paramKind != null, hasAuthorizer: true, variables: new Map(), declared }, 'stored')
  for (const { name = '', expression = '' } of variables) {
    language.define(name, language.compile(expression))
    yield
  }
  return language
}
