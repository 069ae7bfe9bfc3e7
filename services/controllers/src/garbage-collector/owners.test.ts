import type { TransportResponse } from '@orch/client'
import { notFound } from '@orch/core/meta'
import { expect, test } from 'vitest'
import { answer, configMaps, nodes, testContext } from '../controller-testing.ts'
import { Owners } from './owners.ts'

const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'u' }

const there = () => answer(200, { metadata: { name: 'owner', namespace: 'n', uid: 'u' } })
const absent = () => answer(404, notFound({ group: '', resource: 'configmaps' }, 'owner').status)

/** Owners on a server whose answers the test releases. */
function someOwners() {
  const asked: { path: string; reply: (response: TransportResponse) => void }[] = []
  const context = testContext(({ path }) => new Promise((reply) => void asked.push({ path, reply })))
  return { owners: new Owners(context, [configMaps, nodes]), asked }
}

test('a request for one reference decides nothing about another reference with the same uid', async () => {
  const { owners, asked } = someOwners()
  const wrong = owners.standingOf({ ...reference, name: 'other' }, 'n')
  asked[0]?.reply(absent())
  const right = owners.standingOf(reference, 'n')
  asked[1]?.reply(there())
  expect([await wrong, await right, owners.isKnownSolid(reference, 'n')]).toEqual(['absent', 'solid', true])
  expect([await owners.standingOf({ ...reference, name: 'other' }, 'n'), asked.length]).toEqual(['absent', 2])
})

test('an owner that is deleted during the request counts as deleted, with or without a known reference to it', async () => {
  const { owners, asked } = someOwners()
  const standing = owners.standingOf(reference, 'n')
  owners.setGone('u', false)
  asked[0]?.reply(there())
  expect([await standing, owners.isKnownSolid(reference, 'n')]).toEqual(['absent', false])
})

test('the answer to a request from before a reset is not cached', async () => {
  const { owners, asked } = someOwners()
  const standing = owners.standingOf(reference, 'n')
  owners.forgetAll()
  asked[0]?.reply(there())
  expect([await standing, owners.isKnownSolid(reference, 'n')]).toEqual(['solid', false])
})

test('an owner that has orphaned its dependants keeps that state after a reset', () => {
  const { owners } = someOwners()
  owners.setParted('u')
  owners.forgetAll()
  expect([owners.isParted('u'), owners.isParted('other')]).toEqual([true, false])
})

test('an owner with an invalid name causes no request', async () => {
  const { owners, asked } = someOwners()
  const standings = ['a/status', '..', '.', 'a%2Fb'].map((name) => owners.standingOf({ ...reference, name }, 'n'))
  expect([await Promise.all(standings), asked]).toEqual([Array(4).fill('absent'), []])
})

test('DEL-12: an owner in a namespace is misplaced for a cluster-scoped object, and is not requested', async () => {
  const { owners, asked } = someOwners()
  expect([await owners.standingOf(reference, undefined), asked]).toEqual(['misplaced', []])
})

test.each([
  ['waiting', { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a/b', 'foregroundDeletion'] }],
  ['solid', { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a/b'] }],
  ['solid', { deletionTimestamp: '2026-01-01T00:00:00Z' }],
  ['solid', { finalizers: ['foregroundDeletion'] }],
  ['solid', { deletionTimestamp: null, finalizers: ['foregroundDeletion'] }],
  ['absent', { uid: 'another' }],
])('DEL-12: an owner is %s after this answer of the server: %j', async (expected, more) => {
  const { owners, asked } = someOwners()
  const standing = owners.standingOf(reference, 'n')
  asked[0]?.reply(answer(200, { metadata: { name: 'owner', namespace: 'n', uid: 'u', ...more } }))
  expect([await standing, asked.map(({ path }) => path)]).toEqual([expected, ['/api/v1/namespaces/n/configmaps/owner']])
  // A waiting owner is requested again, all others are cached.
  const again = owners.standingOf(reference, 'n')
  asked[1]?.reply(absent())
  expect([await again, asked.length]).toEqual(expected === 'waiting' ? ['absent', 2] : [expected, 1])
})

test('DEL-12: a cached cluster-scoped owner counts for all namespaces, and a namespaced owner only for its namespace', async () => {
  const { owners, asked } = someOwners()
  const node = { apiVersion: 'v1', kind: 'Node', name: 'owner', uid: 'u' }
  expect(owners.isKnownSolid(node, 'n')).toBe(false)
  const standing = owners.standingOf(node, 'n')
  asked[0]?.reply(answer(200, { metadata: { name: 'owner', uid: 'u' } }))
  expect([await standing, asked[0]?.path]).toEqual(['solid', '/api/v1/nodes/owner'])
  expect([owners.isKnownSolid(node, 'n'), owners.isKnownSolid(node, 'other')]).toEqual([true, true])
  expect(owners.isKnownSolid({ ...node, name: 'other' }, 'n')).toBe(false)
  const map = owners.standingOf({ ...reference, uid: 'v' }, 'n')
  asked[1]?.reply(answer(200, { metadata: { name: 'owner', namespace: 'n', uid: 'v' } }))
  await map
  const other = { ...reference, uid: 'v' }
  expect([owners.isKnownSolid(other, 'n'), owners.isKnownSolid(other, 'other'), owners.isKnownSolid(other, undefined)]).toEqual([
    true,
    false,
    false,
  ])
  expect(owners.isKnownSolid({ ...other, kind: 'Secret' }, 'n')).toBe(false)
})

test('DEL-12: an owner whose kind is not served, or is of another group, is unknown and is not requested', async () => {
  const { owners, asked } = someOwners()
  for (const unserved of [
    { ...reference, kind: 'Widget' },
    { ...reference, apiVersion: 'apps/v1' },
  ]) {
    expect([owners.resourceOf(unserved), await owners.standingOf(unserved, 'n')]).toEqual([undefined, 'unserved'])
  }
  expect([owners.resourceOf({ ...reference, apiVersion: 'v2' }), asked]).toEqual([configMaps, []])
})

test('a deleted owner is cached at the places that name it, until a reset', async () => {
  const { owners, asked } = someOwners()
  owners.setGone('u', true)
  expect([owners.isGone('u'), owners.isGone('v')]).toEqual([true, false])
  expect([await owners.standingOf(reference, 'n'), asked.length, owners.isKnownSolid(reference, 'n')]).toEqual(['absent', 0, false])
  owners.forgetAll()
  expect(owners.isGone('u')).toBe(false)
  owners.setGone('u', true)
  owners.setGone('u', false)
  expect(owners.isGone('u')).toBe(false)
})

test('an owner that several callers request counts as requested until the last of them has its answer', async () => {
  const { owners, asked } = someOwners()
  const standings = [owners.standingOf(reference, 'n'), owners.standingOf(reference, 'other')]
  asked[0]?.reply(absent())
  await standings[0]
  owners.setGone('u', false)
  expect(owners.isGone('u')).toBe(true)
  asked[1]?.reply(absent())
  await Promise.all(standings)
  owners.setGone('u', false)
  expect(owners.isGone('u')).toBe(false)
})

test('LIM-12: the cache of owners is bounded', async () => {
  const { owners, asked } = someOwners()
  const ask = async (uid: string, name = 'owner') => {
    const standing = owners.standingOf({ ...reference, uid, name }, 'n')
    asked.at(-1)?.reply(absent())
    await standing
  }
  for (let index = 0; index < 100; index++) await ask('u', `owner-${index}`)
  expect(asked).toHaveLength(100)
  await ask('u', 'owner-0')
  expect(asked).toHaveLength(100)
  await ask('u', 'one-more')
  await ask('u', 'owner-0')
  expect(asked).toHaveLength(102)
  for (let index = 0; index < 49_999; index++) owners.setGone(`g${index}`, true)
  await ask('u', 'owner-0')
  expect(asked).toHaveLength(102)
  await ask('v')
  await ask('u', 'owner-0')
  expect(asked).toHaveLength(104)
  for (let index = 0; index < 50_000; index++) owners.setParted(`p${index}`)
  expect([owners.isParted('p0'), owners.isParted('p49999')]).toEqual([true, true])
  owners.setParted('more')
  expect([owners.isParted('p0'), owners.isParted('more')]).toEqual([false, true])
})

test('an owner whose creation was observed is not requested in its namespace, until its deletion or a reset', async () => {
  const { owners, asked } = someOwners()
  const other = { ...reference, name: 'other' }
  owners.setCreated(configMaps, { uid: 'u', name: 'owner', namespace: 'n' })
  owners.setCreated(nodes, { uid: 'v', name: 'node', namespace: undefined })
  const node = { apiVersion: 'v1', kind: 'Node', name: 'node', uid: 'v' }
  expect([await owners.standingOf(reference, 'n'), await owners.standingOf(node, 'n')]).toEqual(['solid', 'solid'])
  const isSolid = () => [reference, other, node].map((owner) => owners.isKnownSolid(owner, 'n'))
  expect([isSolid(), owners.isKnownSolid(reference, 'm'), asked.length]).toEqual([[true, false, true], false, 0])
  owners.setGone('u', true)
  expect([isSolid(), await owners.standingOf(reference, 'n')]).toEqual([[false, false, true], 'absent'])
  owners.forgetAll()
  expect(isSolid()).toEqual([false, false, false])
})

test('the oldest of very many created objects is dropped first', () => {
  const { owners } = someOwners()
  for (let index = 0; index <= 4096; index++) owners.setCreated(configMaps, { uid: `u${index}`, name: 'owner', namespace: 'n' })
  expect([0, 1, 4096].map((index) => owners.isKnownSolid({ ...reference, uid: `u${index}` }, 'n'))).toEqual([false, true, true])
})
