import { validateResourceDefinition } from '@orch/core/definitions'
import type { FieldError } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { describe, expect, test } from 'vitest'
import { type ExpectedError, readCases } from './cases.ts'

interface DefinitionCase {
  readonly name: string
  readonly crd: Readonly<Record<string, unknown>>
  readonly old?: Readonly<Record<string, unknown>>
  readonly expectErrors: readonly ExpectedError[]
}

const names = namesOf('kubernetes')

describe.each(['validate-create', 'validate-update', 'selectable-fields'])('%s', (file) => {
  test.for(readCases<DefinitionCase>(file))('$name', ({ name, crd, old, expectErrors }, context) => {
    if (notShown[name] !== undefined) context.skip(notShown[name])
    const errors = validateResourceDefinition(crd, old, names)
    expect(errors.map(placeOf).sort()).toEqual(expectErrors.map(({ type, field }) => `${type} ${field}`).sort())
    for (const { field, contains = '' } of expectErrors) {
      expect(errors.some((error) => error.field === field && error.message.includes(contains))).toBe(true)
    }
  })
})

const internalOnly = 'only the form without a version can say this'

/** Cases that are left out, with the reason. */
const notShown: Readonly<Record<string, string>> = {
  'bad names 01': internalOnly,
  'per-version fields may not all be set to identical values (top-level field should be used instead)': internalOnly,
  'top-level and per-version fields are mutually exclusive': internalOnly,
  'webhook conversion without preserveUnknownFields=false': internalOnly,
  // Stored versions that share a schema have it above them, so that a version added with it has none that is new.
  'suppress per-expression cost limit in pre-existing versions': internalOnly,
}

function placeOf({ reason, field }: FieldError): string {
  return `${reason} ${field}`
}
