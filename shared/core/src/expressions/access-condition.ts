import { listOf, mapOf, objectOf, types } from '@orch/cel/types'
import { type Expression, ExpressionCompiler, type Malformed, typesNamed } from './expression.ts'

/** The spec of a SubjectAccessReview of version v1; absent members are empty. */
interface AccessReviewSpec {
  readonly user?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
  readonly resourceAttributes?: Readonly<Record<string, unknown>>
  readonly nonResourceAttributes?: Readonly<Record<string, unknown>>
}

const { string } = types
const ofResource = ['namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name']
const ofPath = ['path', 'verb']
const allTexts = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, string]))

const specType = 'kubernetes.SubjectAccessReviewSpec'
const resourceType = 'kubernetes.ResourceAttributes'
const pathType = 'kubernetes.NonResourceAttributes'
const selectorType = 'kubernetes.SelectorAttributes'
const requirementType = 'kubernetes.SelectorRequirement'

const accesses = new ExpressionCompiler<AccessReviewSpec>({
  variable: 'request',
  type: objectOf(specType),
  provider: typesNamed({
    [specType]: {
      resourceAttributes: objectOf(resourceType),
      nonResourceAttributes: objectOf(pathType),
      user: string,
      uid: string,
      groups: listOf(string),
      extra: mapOf(string, listOf(string)),
    },
    [resourceType]: { ...allTexts(ofResource), fieldSelector: objectOf(selectorType), labelSelector: objectOf(selectorType) },
    [selectorType]: { rawSelector: string, requirements: listOf(objectOf(requirementType)) },
    [requirementType]: { key: string, operator: string, values: listOf(string) },
    [pathType]: allTexts(ofPath),
  }),
  toValue: ({ user = '', uid = '', groups = [], extra = {}, resourceAttributes, nonResourceAttributes }) => ({
    user,
    uid,
    groups,
    extra,
    ...(resourceAttributes && { resourceAttributes: filled(resourceAttributes, ofResource) }),
    ...(nonResourceAttributes && { nonResourceAttributes: filled(nonResourceAttributes, ofPath) }),
  }),
})

/** Adds empty texts, which are absent in a review but present in expressions. */
function filled(attributes: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  return { ...Object.fromEntries(names.map((name) => [name, ''])), ...attributes }
}

/** A condition on `request`, which is the spec of a SubjectAccessReview. */
export type AccessCondition = Expression<AccessReviewSpec>

/** Compiles a condition on an access. */
export function compileAccessCondition(text: string): AccessCondition | Malformed {
  return accesses.compile(text, 'condition')
}
