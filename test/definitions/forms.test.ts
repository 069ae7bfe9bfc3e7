import { createCatalogue } from '@orch/core/catalogue'
import { hoist, specOf } from '@orch/core/definitions'
import { gatesByDefault } from '@orch/core/feature-gates'
import { namesOf } from '@orch/core/names'
import { describe, expect, test } from 'vitest'
import { readCases } from './cases.ts'

const readers = createCatalogue('kubernetes', { minor: 37 }).find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions')?.readers

type Json = Readonly<Record<string, unknown>>

interface InternalSpec {
  readonly versions?: readonly Json[]
  readonly version?: string
  readonly validation?: unknown
  readonly subresources?: unknown
  readonly additionalPrinterColumns?: unknown
  readonly selectableFields?: unknown
  readonly conversion?: unknown
  readonly [field: string]: unknown
}

interface ConversionCase {
  readonly name: string
  readonly in: { readonly spec?: InternalSpec }
  readonly expectOut: { readonly spec?: InternalSpec }
}

/** The members that a definition may have above its versions. */
const sharedParts = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'] as const

describe('CRD-23: the shared parts of all versions', () => {
  test.for(readCases<ConversionCase>('v1-conversion'))('are converted as recorded: $name', ({ name, in: given, expectOut }, context) => {
    // The test reads a case that converts to v1 in the other direction.
    const isToVersion1 = name.startsWith('internal to v1')
    const [inVersions, above] = isToVersion1 ? [expectOut, given] : [given, expectOut]
    if (isToVersion1 && above.spec?.conversion !== undefined) context.skip('a conversion has one form here')
    const { shared, versions } = hoist(specOf(versioned(inVersions)))
    expect({ shared, versions }).toEqual(inParts(above.spec))
  })
})

/** The members above the versions of a definition in the internal form, and its versions. */
function inParts({ validation, version, versions, ...spec }: InternalSpec = {}): { readonly shared: Json; readonly versions: unknown } {
  const parts: Json = { ...spec, schema: validation }
  const named = version === undefined ? [] : [{ name: version, served: true, storage: true }]
  return {
    shared: Object.fromEntries(sharedParts.filter((part) => parts[part] !== undefined).map((part) => [part, parts[part]])),
    versions: versioned({ spec: { versions: versions ?? named } }).spec?.versions,
  }
}

/** The tables call a version's schema `$schema`. */
function versioned(definition: { readonly spec?: InternalSpec }): { readonly spec?: InternalSpec } {
  const rename = ({ $schema, ...version }: Json): Json => ($schema === undefined ? version : { ...version, schema: $schema })
  return definition.spec === undefined ? {} : { spec: { ...definition.spec, versions: (definition.spec.versions ?? []).map(rename) } }
}

interface DropCase {
  readonly name: string
  readonly enableRatcheting?: boolean
  readonly enableSelectableFields?: boolean
  readonly enableObservedGeneration?: boolean
  readonly crd: Definition
  readonly oldCRD?: Definition
  readonly expectedCRD: Definition
}

interface Definition {
  readonly spec?: InternalSpec
  readonly [field: string]: unknown
}

describe('CRD-08: gated fields with their feature off', () => {
  test.each(readCases<DropCase>('drop-disabled-fields'))(
    'are dropped or kept as recorded: $name',
    ({ crd, oldCRD, expectedCRD, ...gates }) => {
      const isOn: Readonly<Record<string, boolean>> = {
        CRDValidationRatcheting: gates.enableRatcheting ?? true,
        CustomResourceFieldSelectors: gates.enableSelectableFields ?? true,
        CRDObservedGenerationTracking: gates.enableObservedGeneration ?? true,
      }
      const live = oldCRD === undefined ? undefined : inVersion1(oldCRD)
      expect(readers?.dropDisabledFields?.(inVersion1(crd), live, (gate) => isOn[gate] ?? false)).toEqual(inVersion1(expectedCRD))
    },
  )
})

/** Moves the members above the versions into one of the v1 versions. */
function inVersion1(definition: Definition): Definition {
  if (definition.spec === undefined) return definition
  const { validation, selectableFields, versions = [{}], ...spec } = definition.spec
  const parts = { ...(validation !== undefined && { schema: validation }), ...(selectableFields !== undefined && { selectableFields }) }
  const { versions: renamed = [] } = versioned({ spec: { versions } }).spec ?? {}
  return { ...definition, spec: { ...spec, versions: renamed.map((version) => ({ ...parts, ...version })) } }
}

interface DefaultsCase {
  readonly name: string
  readonly original: Definition
  readonly expected: Definition
}

describe('CRD-02: defaults', () => {
  test.each(readCases<DefaultsCase>('v1-v1beta1-defaults'))('are set as recorded: $name', ({ original, expected }) => {
    const object = structuredClone(original)
    readers?.applyDefaults?.(object, namesOf('kubernetes'), gatesByDefault)
    // The server adds stored versions when it writes a definition.
    expect(object.spec).toEqual({ names: {}, ...expected.spec })
  })
  test('names are derived from the kind', () => {
    const object = { spec: { names: { plural: 'widgets', kind: 'Widget' } } }
    readers?.applyDefaults?.(object, namesOf('kubernetes'), gatesByDefault)
    expect(object.spec.names).toEqual({ plural: 'widgets', kind: 'Widget', singular: 'widget', listKind: 'WidgetList' })
  })
})
