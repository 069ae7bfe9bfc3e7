import { expect, test } from 'vitest'
import { namesOf } from '../names.ts'
import { warningsOfFinalizers } from './readers.ts'

const names = namesOf('kubernetes')
const textOf = (name: string, how = '') =>
  `metadata.finalizers: "${name}": prefer a domain-qualified finalizer name${how} to avoid accidental conflicts with other finalizer writers`

const warningsOf = (finalizers: readonly string[], live?: readonly string[], profile = names) =>
  warningsOfFinalizers({ metadata: { finalizers } }, live && { metadata: { finalizers: live } }, profile)

test('finalizers without a path cause one warning each, in the order of their names', () => {
  const finalizers = ['b', 'example.com/x', 'a.b', 'b']
  expect(warningsOf(finalizers)).toEqual([textOf('a.b', ' including a path (/)'), textOf('b')])
})

test('finalizers of the server, and finalizers that the object has already, cause no warnings', () => {
  const finalizers = ['orphan', 'foregroundDeletion', 'kubernetes', 'old', 'new']
  expect(warningsOf(finalizers, ['old'])).toEqual([textOf('new')])
  expect(warningsOf(['orch', 'kubernetes'], undefined, namesOf('orch'))).toEqual([textOf('kubernetes')])
  expect(warningsOfFinalizers({ metadata: {} }, undefined, names)).toEqual([])
})
