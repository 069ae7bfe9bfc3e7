import { createCatalogue } from '@orch/core/catalogue'
import { deprecationWarningOf, specOf } from '@orch/core/definitions'
import { gatesByDefault } from '@orch/core/feature-gates'
import { namesOf } from '@orch/core/names'
import { describe, expect, test } from 'vitest'
import { readCases } from './cases.ts'

const readers = createCatalogue('kubernetes', { minor: 37 }).find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions')?.readers

type Definition = Readonly<Record<string, unknown>>

const warnings = (after: Definition, before?: Definition): readonly string[] | undefined =>
  readers?.warnings?.(after, before, namesOf('kubernetes'), gatesByDefault)

interface WarningCase {
  readonly name: string
  readonly wantWarningMessages: readonly string[]
  readonly crd?: Definition
  readonly oldCRD?: Definition
  readonly newCRD?: Definition
}

describe('CRD-27: warnings of a definition', () => {
  const ofVersion = (schema: object) => ({ spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: schema } }] } })

  test.each(readCases<WarningCase>('warnings'))('are those recorded: $name', ({ crd, oldCRD, newCRD = crd, wantWarningMessages }) => {
    expect(warnings({ metadata: {}, ...newCRD }, oldCRD)).toEqual(wantWarningMessages)
  })

  test('formats are known only for some types', () => {
    const properties = { a: { type: 'boolean', format: 'int32' }, b: { type: 'integer', format: 'int32' } }
    expect(warnings(ofVersion({ type: 'object', properties }))).toEqual(['unrecognized format "int32"'])
  })
})

test('CRD-75: a deprecated version warns with its own text, or with a default text', () => {
  const spec = specOf({
    spec: {
      group: 'example.com',
      names: { kind: 'Widget' },
      versions: [
        { name: 'v1', served: true },
        { name: 'v1beta1', served: true, deprecated: true },
        { name: 'v1alpha1', served: true, deprecated: true, deprecationWarning: 'gone soon' },
      ],
    },
  })
  expect(['v1', 'v1beta1', 'v1alpha1', 'v9'].map((name) => deprecationWarningOf(spec, name))).toEqual([
    undefined,
    'example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget',
    'gone soon',
    undefined,
  ])
})
