import { validateResourceDefinition } from '@orch/core/definitions'
import { type FieldError, printFieldError } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { runAtOnce } from '@orch/core/steps'
import { describe, expect, test } from 'vitest'
import { type ExpectedError, readCases } from './cases.ts'

interface DefinitionCase {
  readonly name: string
  readonly crd: Readonly<Record<string, unknown>>
  readonly old?: Readonly<Record<string, unknown>>
  readonly expectErrors: readonly ExpectedError[]
}

const names = namesOf('kubernetes')

describe.each(['validate-create', 'validate-update', 'selectable-fields'])('the recorded file %s', (file) => {
  test.for(readCases<DefinitionCase>(file))('gives the recorded errors: $name', ({ name, crd, old, expectErrors }, context) => {
    if (notShown[name] !== undefined) context.skip(notShown[name])
    const errors = runAtOnce(validateResourceDefinition(crd, old, names, { level: 25 }))
    const fieldOf = (field: string): string => fieldsOfVersion1[name]?.[field] ?? field
    expect(errors.map(placeOf).sort()).toEqual(expectErrors.map(({ type, field }) => `${type} ${fieldOf(field)}`).sort())
    for (const { field, contains = '' } of expectErrors) {
      expect(errors.some((error) => error.field === fieldOf(field) && printFieldError(error, 25).includes(contains))).toBe(true)
    }
  })
})

const internalOnly = 'only the form without a version can say this'

/** Skipped cases, each with the reason. */
const notShown: Readonly<Record<string, string>> = {
  'per-version fields may not all be set to identical values (top-level field should be used instead)': internalOnly,
  'top-level and per-version fields are mutually exclusive': internalOnly,
  'webhook conversion without preserveUnknownFields=false': internalOnly,
  // Versions with the same schema store it once above the versions, so a further version with this schema adds no schema.
  'suppress per-expression cost limit in pre-existing versions': internalOnly,
}

/** Fields that have another name in v1, by case. */
const fieldsOfVersion1: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'bad names 01': { 'spec.versions': 'spec.versions[0].name' },
}

function placeOf({ reason, field }: FieldError): string {
  return `${reason} ${field}`
}

interface CompatibilityCase {
  readonly name: string
  readonly storedRule: string
  readonly updatedRule: string
  readonly storedMessageExpression: string
  readonly updatedMessageExpression: string
  readonly errors?: readonly { readonly path: string; readonly errorType: string }[]
}

/** The table has a function of its own for stored expressions; \`includes\` is one. */
const expression = (text: string): string => text.replaceAll('test()', '[1].includes(1)')

/** A definition with the same rule on values, objects, lists and maps and on their items. */
function ruled(rule: string, messageExpression: string) {
  const rules = { 'x-kubernetes-validations': [{ rule: expression(rule), messageExpression: expression(messageExpression) }] }
  const value = { type: 'string', maxLength: 10, ...rules }
  const properties = {
    x: value,
    obj: { type: 'object', ...rules, properties: { a: value } },
    array: { type: 'array', maxItems: 1, ...rules, items: value },
    map: { type: 'object', maxProperties: 1, ...rules, additionalProperties: value },
  }
  return {
    metadata: { name: 'foos.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'foos', singular: 'foo', kind: 'Foo', listKind: 'FooList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties } } }],
    },
    status: { storedVersions: ['v1'] },
  }
}

describe('CEL-08, CEL-37: stored expressions may use more libraries than new ones', () => {
  test.each(readCases<CompatibilityCase>('rule-compatibility'))('$name', (row) => {
    const live = ruled(row.storedRule, row.storedMessageExpression)
    const definition = ruled(row.updatedRule, row.updatedMessageExpression)
    const errors = runAtOnce(validateResourceDefinition(definition, live, names, { level: 25 }))
    expect(errors.map(placeOf).sort()).toEqual((row.errors ?? []).map(({ path, errorType }) => `${errorType} ${path}`).sort())
    for (const error of errors) expect(printFieldError(error, 25)).toContain("undeclared reference to 'includes'")
  })
  test('a new definition may use the libraries of the previous version', () => {
    const message = (rule: string) =>
      runAtOnce(validateResourceDefinition(ruled(rule, "'no'"), undefined, names, { level: 37 })).map((error) =>
        printFieldError(error, 37),
      )[0]
    expect(message('[1, 1].distinct().size() == 1')).toBeUndefined()
    expect(message('test()')).toContain("undeclared reference to 'includes'")
  })
})
