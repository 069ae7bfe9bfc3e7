import { type DefinitionCondition, type DefinitionNames, settleStatus, statusOf, takenNames } from '@orch/core/definitions'
import { namesOf } from '@orch/core/names'
import { describe, expect, test } from 'vitest'
import { readCases } from './cases.ts'

interface NamingCase {
  readonly name: string
  readonly in: Definition
  readonly existing: readonly Definition[]
  readonly expectedNames: DefinitionNames
  readonly expectedNameConflictCondition: DefinitionCondition
  readonly expectedEstablishedCondition: DefinitionCondition
}

interface Definition {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly group: string }
  readonly [field: string]: unknown
}

/** Here one step accepts the names and establishes the definition. */
const established = {
  type: 'Established',
  status: 'True',
  reason: 'InitialNamesAccepted',
  message: 'the initial names have been accepted',
}

describe('CRD-53, CRD-54, CRD-55, CRD-56: names', () => {
  test.each(readCases<NamingCase>('naming'))('are accepted or refused as recorded: $name', (row) => {
    const others = row.existing.filter(({ metadata, spec }) => metadata.name !== row.in.metadata.name && spec.group === row.in.spec.group)
    const settled = settleStatus(row.in, {
      taken: takenNames(others.map((other) => statusOf(other).acceptedNames ?? {})),
      names: namesOf('kubernetes'),
      now: '2026-01-01T00:00:00Z',
      level: 25,
    })
    const find = (type: string): unknown => {
      const { lastTransitionTime: _time, ...condition } = (settled.conditions ?? []).find((condition) => condition.type === type) ?? {}
      return condition
    }
    expect(withoutEmpty(settled.acceptedNames ?? {})).toEqual(withoutEmpty(row.expectedNames))
    expect(find('NamesAccepted')).toEqual(row.expectedNameConflictCondition)
    const isInstalling = row.expectedEstablishedCondition.reason === 'Installing'
    expect(find('Established')).toEqual(isInstalling ? established : row.expectedEstablishedCondition)
  })
})

function withoutEmpty(names: DefinitionNames): DefinitionNames {
  return Object.fromEntries(Object.entries(names).filter(([, value]) => value !== '' && !(Array.isArray(value) && value.length === 0)))
}
