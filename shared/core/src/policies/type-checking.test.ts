import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { runAtOnce } from '../steps.ts'
import type { OpenApiSchema } from './openapi-types.ts'
import type { NamedRuleSpec, ValidatingPolicySpec } from './spec.ts'
import { type CheckedKind, checkPolicyTypes, type KindName, kindsToCheck } from './type-checking.ts'

/** A schema in the form of the cases. */
interface CaseSchema {
  readonly schemaProps?: Readonly<Record<string, unknown>> & { readonly properties?: Readonly<Record<string, CaseSchema>> }
  readonly type?: string
}

interface TypeCase {
  readonly name: string
  readonly policy: {
    readonly spec?: Omit<ValidatingPolicySpec, 'matchConstraints'> & {
      readonly matchConstraints?: { readonly resourceRules: readonly { readonly ruleWithOperations: { readonly rule: NamedRuleSpec } }[] }
    }
  }
  readonly schemaToReturn?: CaseSchema
  readonly assertions?: readonly unknown[]
  readonly expected?: readonly Partial<KindName>[]
}

/** The cases, each of which asserts warnings or expects kinds. `cases/README.md` describes them. */
const cases = readFileSync(new URL('./cases/type-check.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as TypeCase)

function specOf({ policy: { spec } }: TypeCase): ValidatingPolicySpec {
  const resourceRules = (spec?.matchConstraints?.resourceRules ?? []).map(({ ruleWithOperations }) => ruleWithOperations.rule)
  return { ...spec, matchConstraints: { resourceRules } }
}

function schemaOf({ schemaProps = {}, ...rest }: CaseSchema): OpenApiSchema {
  const { type, properties, ...others } = { ...rest, ...schemaProps } as {
    type?: string | string[]
    properties?: Record<string, CaseSchema>
  }
  return {
    ...others,
    ...(type === undefined ? {} : { type: Array.isArray(type) ? type[0] : type }),
    ...(properties && { properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, schemaOf(inner)])) }),
  } as OpenApiSchema
}

/** For cases that name only `$func`: the field and text of the only warning that the function asserts. */
const told: Readonly<Record<string, { readonly fieldRef: string; readonly warning?: string } | undefined>> = {
  'undefined field': { fieldRef: 'spec.validations[0].expression', warning: "undefined field 'foo'" },
  'field type mismatch': { fieldRef: 'spec.validations[0].expression', warning: 'found no matching overload' },
  params: { fieldRef: 'spec.validations[0].expression', warning: "undefined field 'bar'" },
  'multiple expressions': { fieldRef: 'spec.validations[1].expression' },
  'message expressions': { fieldRef: 'spec.validations[0].messageExpression' },
  'authorizer invalid': {
    fieldRef: 'spec.validations[0].expression',
    warning: "found no matching overload for 'allowed' applied to 'kubernetes.authorization.Authorizer",
  },
  'variables missing field': { fieldRef: 'spec.validations[0].expression', warning: "undefined field 'nonExisting'" },
  'variables field wrong type': {
    fieldRef: 'spec.validations[0].expression',
    warning: "found no matching overload for '_==_' applied to '(string, int)",
  },
}

const find = () => undefined

describe('VAP-12: cases of type checking', () => {
  test.each(cases.filter(({ assertions }) => assertions !== undefined).map((one) => [one.name, one] as const))(
    'end as recorded from kube-apiserver: %s',
    (name, one) => {
      const known = one.schemaToReturn && { schema: schemaOf(one.schemaToReturn), find }
      const kinds: CheckedKind[] = known === undefined ? [] : [{ ...known, name: { group: 'apps', version: 'v1', kind: 'Deployment' } }]
      const warnings = runAtOnce(checkPolicyTypes(specOf(one), { kinds, params: known }))
      const expected = told[name]
      if (expected === undefined) expect(warnings).toEqual([])
      else expect(warnings).toEqual([{ fieldRef: expected.fieldRef, warning: expect.stringContaining(expected.warning ?? '') }])
    },
  )
})

describe('VAP-12: cases of the matched kinds', () => {
  const kindOf = async ({ resource }: { readonly resource: string }) =>
    (({ deployments: 'Deployment', pods: 'Pod' }) as Readonly<Record<string, string>>)[resource]

  test.each(cases.filter(({ assertions }) => assertions === undefined).map((one) => [one.name, one] as const))(
    'end as recorded from kube-apiserver: %s',
    async (_name, one) => {
      const expected = (one.expected ?? []).map((kind) => ({ group: '', ...kind }))
      expect(await kindsToCheck(specOf(one), kindOf)).toEqual(expected)
    },
  )

  test('are at most ten', async () => {
    const resources = Array.from({ length: 20 }, (_none, index) => `r${index}`)
    const rule = { apiGroups: ['g'], apiVersions: ['v1'], resources }
    const found = await kindsToCheck({ matchConstraints: { resourceRules: [rule] } }, async ({ resource }) => resource.toUpperCase())
    expect(found).toHaveLength(10)
  })
})

describe('VAP-12: the declared types of schemas', () => {
  const schemas: Readonly<Record<string, OpenApiSchema>> = {
    Spec: {
      type: 'object',
      properties: {
        replicas: { type: 'integer' },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        items: { type: 'array', items: { $ref: 'Spec' } },
        port: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
        size: { oneOf: [{ type: 'string' }, { type: 'number' }] },
        at: { type: 'string', format: 'date-time' },
        'a-b': { type: 'string' },
        namespace: { type: 'string' },
        anything: {},
      },
    },
  }
  const kind: CheckedKind = {
    name: { group: 'a.io', version: 'v1', kind: 'Oak' },
    schema: { type: 'object', properties: { spec: { allOf: [{ $ref: 'Spec' }] } } },
    find: (reference) => schemas[reference],
  }
  const problemsOf = (expression: string) =>
    runAtOnce(checkPolicyTypes({ validations: [{ expression }] }, { kinds: [kind], params: undefined }))

  test.each([
    'object.spec.replicas > 1',
    "object.spec.labels['a'] == 'b'",
    'object.spec.items[0].items.all(i, i.replicas == 1)',
    "object.spec.port == 1 || object.spec.port == 'http'",
    "quantity(object.spec.size).isGreaterThan(quantity('1Gi'))",
    'object.spec.at < request.options.time',
    'object.spec.a__dash__b == object.spec.namespace',
    'object.metadata.name == object.kind + object.apiVersion + object.metadata.generateName',
  ])('%s is well typed', (expression) => {
    expect(problemsOf(expression)).toEqual([])
  })

  test.each([
    ['object.spec.replica > 1', "undefined field 'replica'"],
    ['object.spec.items[0].none', "undefined field 'none'"],
    ["object.spec.replicas == 'a'", "applied to '(int, string)'"],
    ["object.spec.labels['a'] == 1", "applied to '(string, int)'"],
    ['object.spec.anything == 1', "undefined field 'anything'"],
    ['object.metadata.labels', "undefined field 'labels'"],
  ])('%s is not', (expression, problem) => {
    expect(problemsOf(expression)).toEqual([{ fieldRef: 'spec.validations[0].expression', warning: expect.stringContaining(problem) }])
  })

  test('warnings name the kind and the place in the expression', () => {
    const [warning] = problemsOf('object.replicas > 1')
    expect(warning?.warning).toBe("a.io/v1, Kind=Oak: ERROR: <input>:1:7: undefined field 'replicas'\n | object.replicas > 1\n | ......^\n")
  })

  test('a warning of several kinds has a part for each kind', () => {
    const other = { ...kind, name: { group: '', version: 'v1', kind: 'Elm' } }
    const spec = { validations: [{ expression: 'object.none' }] }
    const [warning] = runAtOnce(checkPolicyTypes(spec, { kinds: [kind, other], params: undefined }))
    expect(warning?.warning.match(/^.*Kind=\w+/gm)).toEqual(['a.io/v1, Kind=Oak', '/v1, Kind=Elm'])
  })
})
