import {
  approvalCondition,
  approvalOf,
  type CustomResourcesOptions,
  checkDeprecationWarning,
  customResources,
  type DefinitionSpec,
  defaultDeprecationWarning,
  followSchemaPath,
  isProtectedGroup,
  type SchemaProps,
  strictest,
  validateApproval,
  validateResourceDefinition,
  validateSchema,
} from '@orch/core/definitions'
import { textAt } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { runAtOnce } from '@orch/core/steps'
import { describe, expect, test } from 'vitest'
import { type ExpectedError, readCases } from './cases.ts'

const names = namesOf('kubernetes')

interface SchemaCase {
  readonly name: string
  readonly input: { readonly openAPIV3Schema?: SchemaProps }
  readonly statusEnabled?: boolean
  readonly opts?: Readonly<Record<string, boolean>>
  readonly expectErrors: readonly ExpectedError[]
}

const root = 'spec.validation.openAPIV3Schema'
/** Skipped cases, each with the reason. */
const notShown: Readonly<Record<string, string>> = {
  'invalid x-kubernetes-validations for escaping (keywords are invalid field names before v1.30)': 'rules of an older level',
}

describe('a single schema', () => {
  test.for(readCases<SchemaCase>('validate-schema'))(
    'has the recorded errors: $name',
    ({ name, input, statusEnabled = false, opts = {}, expectErrors }, context) => {
      if (notShown[name] !== undefined) context.skip(notShown[name])
      const schema = input.openAPIV3Schema
      const strictness = {
        ...strictest,
        level,
        needsKnownTypes: opts['requireValidPropertyType'] === true,
        needsAtomicSets: opts['requireAtomicSetType'] === true,
        needsSoundListItems: opts['requireMapListKeysMapSetValidation'] === true,
      }
      const needsStructure = opts['requireStructuralSchema'] === true
      const allowsDefaults = opts['allowDefaults'] === true
      const errors =
        schema === undefined ? [] : runAtOnce(validateSchema(schema, root, { hasStatus: statusEnabled, needsStructure, strictness }))
      // The table forbids defaults where no v1 definition may have them.
      const expected = expectErrors.filter(({ field }) => allowsDefaults || !field.endsWith('.default') || field.includes('[key]'))
      expect(errors.map(({ reason, field }) => `${reason} ${field}`).sort()).toEqual(
        expected.map(({ type, field }) => `${type} ${field}`).sort(),
      )
    },
  )
})

interface PathCase {
  readonly name: string
  readonly fieldPath: string
  readonly schema: SchemaProps
  readonly errMsg?: string
}

describe('a path into a schema', () => {
  test.each(readCases<PathCase>('field-path'))('is accepted or refused as recorded: $name', ({ fieldPath, schema, errMsg }) => {
    const path = followSchemaPath(fieldPath, schema)
    expect(path.kind === 'wrong' ? path.problem : undefined).toBe(errMsg)
  })
})

interface StoredCase {
  readonly name: string
  readonly versions: readonly string[]
  readonly storageVersion: string
  readonly storedVersions: readonly string[]
  readonly expectErrors: readonly ExpectedError[]
}

describe('CRD-24: stored versions', () => {
  test.each(readCases<StoredCase>('stored-versions'))(
    'have the recorded errors: $name',
    ({ versions, storageVersion, storedVersions, expectErrors }) => {
      const definition = {
        metadata: { name: 'as.example.com' },
        spec: {
          group: 'example.com',
          scope: 'Cluster',
          names: { plural: 'as', singular: 'a', kind: 'A', listKind: 'AList' },
          versions: versions.map((name) => ({
            name,
            served: true,
            storage: name === storageVersion,
            schema: { openAPIV3Schema: { type: 'object' } },
          })),
        },
        status: { storedVersions },
      }
      const errors = runAtOnce(validateResourceDefinition(definition, undefined, names, { level }))
      expect(errors.map(({ reason, field }) => ({ type: reason, field }))).toEqual(expectErrors.map(({ type, field }) => ({ type, field })))
      // The test prints an empty list in Go syntax, as level 1.25 does.
      const shown = (text = ''): string => text.replace('Invalid value: []:', 'Invalid value: []string{}:')
      for (const [index, { contains }] of expectErrors.entries())
        expect(textAt(errors[index]?.message ?? '', level)).toContain(shown(contains))
    },
  )
})

interface WarningCase {
  readonly name: string
  readonly deprecated: boolean
  readonly warning: string
  readonly want: readonly string[] | null
}

describe('CRD-19: the warning of a deprecated version', () => {
  test.for(readCases<WarningCase>('deprecation-warning'))(
    'is accepted or refused as recorded: $name',
    ({ name, deprecated, warning, want }, context) => {
      if (name === 'non-utf-8') context.skip('a body is UTF-8')
      expect(checkDeprecationWarning(deprecated, warning)).toEqual(want ?? [])
    },
  )
})

interface DefaultWarningCase {
  readonly name: string
  readonly deprecatedVersion: string
  readonly crd: DefinitionSpec
  readonly want: string
}

describe('CRD-75: the default warning of a deprecated version', () => {
  test.each(readCases<DefaultWarningCase>('default-deprecation-warning'))(
    'is the recorded text: $name',
    ({ crd, deprecatedVersion, want }) => {
      expect(defaultDeprecationWarning(crd, deprecatedVersion)).toBe(want)
    },
  )
})

interface HelperCase {
  readonly name?: string
  readonly group?: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly expected: number | boolean
}

describe('CRD-25: approval in groups of the project', () => {
  const states = ['invalid', 'approved', 'bypassed', 'missing']
  const [ofGroups, ofAnnotations] = [true, false].map((isGroup) =>
    readCases<HelperCase>('condition-helpers').filter(
      ({ annotations, expected }) =>
        (typeof expected === 'boolean') === isGroup || (isGroup && annotations === undefined && typeof expected === 'boolean'),
    ),
  )
  test.each(ofGroups ?? [])('is needed, or not, in the group $group', ({ group = '', expected }) => {
    expect(isProtectedGroup(group, names)).toBe(expected)
  })
  test.each(ofAnnotations ?? [])('is read from annotations as recorded: $name', ({ annotations = {}, expected }) => {
    expect(approvalOf(annotations['api-approved.kubernetes.io'] ?? '', names).state).toBe(states[Number(expected)])
  })
  test('each profile has other protected domains', () => {
    expect(['k8s.io', 'a.orch.io', 'orch.io', 'orch.io.example.com'].map((group) => isProtectedGroup(group, namesOf('orch')))).toEqual([
      false,
      true,
      true,
      false,
    ])
  })
})

interface ApprovalCase {
  readonly name: string
  readonly group: string
  readonly annotationValue: string
  readonly oldAnnotationValue?: string
  readonly validateError?: unknown
  readonly validateCondition?: unknown
}

describe('CRD-26, CRD-62: the approval', () => {
  const definition = ({ group }: ApprovalCase, annotation: string) => ({
    metadata: { name: `foos.${group}`, annotations: { 'api-approved.kubernetes.io': annotation } },
    spec: { group },
  })
  const conditions: Readonly<Record<string, string>> = {
    'missing annotation': 'False MissingAnnotation',
    'invalid annotation': 'False InvalidAnnotation',
    approved: 'True ApprovedAnnotation',
    unapproved: 'False UnapprovedAnnotation',
  }
  test.each(readCases<ApprovalCase>('api-approval'))('has the recorded errors: $name', (row) => {
    const definitionNow = definition(row, row.annotationValue)
    if (row.validateError === undefined) {
      const { status, reason } = approvalCondition(definitionNow, names) ?? {}
      expect(row.validateCondition === 'func noConditionFn' ? status : `${status} ${reason}`).toBe(conditions[row.name])
      return
    }
    const live = row.oldAnnotationValue === undefined ? undefined : definition(row, row.oldAnnotationValue)
    expect(validateApproval(definitionNow, live, names).length).toBe(row.validateError === 'func okFn' ? 0 : 1)
  })
})

interface LabelCase {
  readonly name: string
  readonly clusterScoped?: boolean
  readonly label: string
  readonly expectError?: boolean
}

describe('CRD-79: selectable fields', () => {
  test.each(readCases<LabelCase>('field-labels'))(
    'have the recorded labels: $name',
    ({ clusterScoped = false, label, expectError = false }) => {
      const definition = {
        metadata: { name: 'foos.example.com' },
        spec: {
          group: 'example.com',
          scope: clusterScoped ? 'Cluster' : 'Namespaced',
          versions: [{ name: 'v1', served: true, storage: true }],
        },
        status: { acceptedNames: { plural: 'foos', kind: 'Foo' }, conditions: [{ type: 'NamesAccepted', status: 'True' }] },
      }
      const options = { readersOf: () => ({}), scale: {} }
      const [resource] = customResources(definition, options as unknown as CustomResourcesOptions)
      expect(Object.hasOwn(resource?.fieldLabels ?? {}, label)).toBe(!expectError)
    },
  )
})

interface DefaultCase {
  readonly name: string
  readonly input: { readonly openAPIV3Schema: SchemaProps }
  readonly errors?: readonly string[]
}

const level = 25

describe('CRD-45: defaults keep the rules of their schemas', () => {
  test.each(readCases<DefaultCase>('defaulting-validation'))('and have the recorded errors: $name', ({ input, errors = [] }) => {
    const found = runAtOnce(
      validateSchema(input.openAPIV3Schema, root, { hasStatus: false, needsStructure: true, strictness: { ...strictest, level } }),
    )
    const ofDefaults = found.filter(({ field }) => field.endsWith('.default')).map(({ message }) => message)
    expect(ofDefaults.length).toBe(errors.length)
    for (const [index, error] of errors.entries()) expect(ofDefaults[index]).toContain(error)
  })
})

interface CompletenessCase {
  readonly name: string
  readonly schema: SchemaProps
  readonly error?: string
  readonly options?: Readonly<Record<string, boolean>>
}

describe('CRD-30: properties inside allOf, anyOf, oneOf and not are declared outside', () => {
  test.for(readCases<CompletenessCase>('structural-complete'))(
    'or give the recorded errors: $name',
    ({ schema, error, options = {} }, context) => {
      if (Object.values(options).includes(true)) context.skip('schemas of definitions are read without these options')
      const found = runAtOnce(validateSchema(schema, 's', { hasStatus: false, needsStructure: true, strictness: { ...strictest, level } }))
      const texts = found.map(({ field, message }) => `${field.replace('s.', '')}: ${message}`)
      expect(texts.filter((text) => text.includes('because it is defined in')).map((text) => text.replaceAll('s.allOf', 'allOf'))).toEqual(
        error === undefined ? [] : [error],
      )
    },
  )
})
