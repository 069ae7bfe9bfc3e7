import { expect, test } from 'vitest'
import type { DefinitionFacts } from '../texts/jobs.ts'
import { DefinitionPlaces } from './definition-places.ts'

const facts = (all: Record<string, [hash: string, ...references: string[]]>) =>
  Object.entries(all).map(([name, said]): DefinitionFacts => [name, ...said])

const here: Readonly<Record<string, string>> = { Same: '1', Other: '2', Holder: '3', Outer: '4', Other_v2: '5' }
const places = () => new DefinitionPlaces((name) => here[name])

test('AGG-28: an equal definition is reused, and a different one gets a free name', () => {
  const { without, renamed } = places().add(facts({ Same: ['1'], Other: ['x'], Own: ['y'] }))
  expect([...without]).toEqual(['Same'])
  expect([...renamed]).toEqual([['Other', 'Other_v3']])
})

test('AGG-28: a definition that refers to a renamed definition is different too, at any depth', () => {
  const { without, renamed } = places().add(facts({ Outer: ['4', 'Holder'], Holder: ['3', 'Other'], Other: ['x'], Same: ['1'] }))
  expect([...without]).toEqual(['Same'])
  expect(new Map(renamed)).toEqual(
    new Map([
      ['Outer', 'Outer_v2'],
      ['Holder', 'Holder_v2'],
      ['Other', 'Other_v3'],
    ]),
  )
})

test('AGG-28: definitions added by one document are present for the next document', () => {
  const all = places()
  all.add(facts({ Own: ['y'], Shared: ['z'] }))
  const { without, renamed } = all.add(facts({ Own: ['other'], Shared: ['z'] }))
  expect([[...without], [...renamed]]).toEqual([['Shared'], [['Own', 'Own_v2']]])
})

test('AGG-28: a new name differs from all names in the document', () => {
  const { renamed } = places().add(facts({ Same: ['x'], Same_v2: ['y'] }))
  expect([...renamed]).toEqual([['Same', 'Same_v3']])
})
