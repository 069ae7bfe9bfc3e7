import { createClient, type DiscoveredResource, type TransportResponse } from '@orch/client'
import { namesOf, notFound } from '@orch/core'
import { silentLog } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { Owners } from './owners.ts'

const configMaps: DiscoveredResource = { group: '', version: 'v1', plural: 'configmaps', namespaced: true, kind: 'ConfigMap', verbs: [] }
const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'u' }

const answer = (status: number, body: unknown): TransportResponse => ({
  status,
  headers: {},
  body: (async function* () {
    yield new TextEncoder().encode(JSON.stringify(body))
  })(),
})
const there = () => answer(200, { metadata: { name: 'owner', namespace: 'n', uid: 'u' } })
const absent = () => answer(404, notFound({ group: '', resource: 'configmaps' }, 'owner').status)

/** Owners of whom a server is asked that answers when it is told to. */
function someOwners() {
  const asked: { path: string; reply: (response: TransportResponse) => void }[] = []
  const client = createClient({
    send: ({ path }) => new Promise((reply) => void asked.push({ path, reply })),
    close() {},
  })
  const { signal } = new AbortController()
  const context = { client, names: namesOf('orch'), clock: createFakeClock(), random: () => 0, log: silentLog, signal }
  return { owners: new Owners(context, [configMaps]), asked }
}

test('what is found where one reference points says nothing of another to the same uid', async () => {
  const { owners, asked } = someOwners()
  const wrong = owners.standingOf({ ...reference, name: 'other' }, 'n')
  asked[0]?.reply(absent())
  const right = owners.standingOf(reference, 'n')
  asked[1]?.reply(there())
  expect([await wrong, await right, owners.isKnownSolid(reference, 'n')]).toEqual(['absent', 'solid', true])
  expect([await owners.standingOf({ ...reference, name: 'other' }, 'n'), asked.length]).toEqual(['absent', 2])
})

test('an owner that goes while the answer is on its way is gone, whether or not anybody was known to name it', async () => {
  const { owners, asked } = someOwners()
  const standing = owners.standingOf(reference, 'n')
  owners.setGone('u', false)
  asked[0]?.reply(there())
  expect([await standing, owners.isKnownSolid(reference, 'n')]).toEqual(['absent', false])
})

test('what was asked for before everything was forgotten is not remembered', async () => {
  const { owners, asked } = someOwners()
  const standing = owners.standingOf(reference, 'n')
  owners.forgetAll()
  asked[0]?.reply(there())
  expect([await standing, owners.isKnownSolid(reference, 'n')]).toEqual(['solid', false])
})

test('who has let its dependants go has done so whatever is forgotten', () => {
  const { owners } = someOwners()
  owners.setParted('u')
  owners.forgetAll()
  expect([owners.isParted('u'), owners.isParted('other')]).toEqual([true, false])
})

test('nobody is asked for an owner that no object can be called', async () => {
  const { owners, asked } = someOwners()
  const standings = ['a/status', '..', '.', 'a%2Fb'].map((name) => owners.standingOf({ ...reference, name }, 'n'))
  expect([await Promise.all(standings), asked]).toEqual([Array(4).fill('absent'), []])
})
