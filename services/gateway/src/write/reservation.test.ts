import { createCatalogue } from '@orch/core/catalogue'
import type { ApiObject } from '@orch/core/meta'
import { expect, test } from 'vitest'
import { LiveCatalogue } from '../custom-resources/live-catalogue.ts'
import { createServedResources, type Served } from '../target/target.ts'
import { type Again, Draft, type Plan, type Written } from './draft.ts'
import type { Live } from './live.ts'
import { type Reserver, reserve, settleReservation } from './reservation.ts'

const catalogue = createCatalogue('orch')
const resources = createServedResources(new LiveCatalogue(catalogue))

function servedAs(plural: string): Served {
  const served = resources.find('', 'v1', plural)
  if (served === undefined) throw new Error(`no resource ${plural}`)
  return served
}

const anObject = (name: string): ApiObject => ({ apiVersion: 'v1', kind: 'Service', metadata: { name } })
const entry = { key: 'k', value: new Uint8Array(), revision: 5, metadataStart: 0, metadataEnd: 0, writeId: '' }

function aDraft<Before extends Live | undefined>(live: Before, plural = 'services'): Draft<Before, Plan> {
  const info = {
    kind: 'resource',
    verb: 'create',
    group: '',
    version: 'v1',
    namespace: 'n',
    resource: plural,
    name: '',
    subresource: '',
    rest: [],
  } as const
  const request = {
    user: { name: 'u', uid: '', groups: [], extra: {} },
    isLarge: false,
    deadlineMs: 0,
    auditId: '',
    trace: undefined,
    explanation: undefined,
    warn: () => undefined,
  }
  const options = { isDryRun: false, fieldManager: '', fieldValidation: 'Ignore', isForced: false } as const
  const target = { served: servedAs(plural), subresource: undefined, info, keyPrefix: '' }
  const plan: Plan = { id: 'w', request, target, name: '', options }
  return new Draft(plan, live, { object: anObject('new'), hasBigIntegers: false, body: undefined })
}

function aReserver() {
  const done: string[] = []
  const reserver: Reserver = {
    reserve: async ({ object }) => ({
      object: { ...object, spec: { reserved: true } },
      conditions: [{ key: 'row', revision: 7 }],
      settle: async () => void done.push('settle'),
      release: async () => void done.push('release'),
    }),
    release: async ({ metadata }) => void done.push(`release ${metadata.name}`),
  }
  return { done, parts: { reservers: new Map([['core/services', reserver]]) } }
}

test('a kind’s reservation completes the object and adds to the conditions of the commit', async () => {
  const { parts } = aReserver()
  const draft = aDraft(undefined)
  draft.conditions = [{ key: 'namespace', revision: 3 }]
  await reserve(draft, parts)
  expect(draft.object['spec']).toEqual({ reserved: true })
  expect(draft.conditions).toEqual([
    { key: 'namespace', revision: 3 },
    { key: 'row', revision: 7 },
  ])
  const other = aDraft(undefined, 'configmaps')
  await reserve(other, parts)
  expect([other.object, other.reservation, other.conditions]).toEqual([anObject('new'), undefined, []])
})

const written = (kind: Written['kind']): Written => ({ kind, json: new Uint8Array(), uid: 'u' })
const again: Again = { kind: 'again' }

test.each<[string, boolean, Written | Again | undefined, number | undefined, string[]]>([
  ['a create', false, written('created'), 6, ['settle']],
  ['an update', true, written('updated'), 6, ['settle']],
  ['a dry run', false, written('created'), undefined, ['release']],
  ['a lost race', true, again, undefined, ['release']],
  ['a refusal', true, undefined, undefined, ['release']],
  ['an update that removes', true, written('removed'), 6, ['release', 'release live']],
  ['an update that would remove, in a dry run', true, written('removed'), undefined, ['release']],
])('after %s the reservation of a kind is kept or released', async (_what, isThere, outcome, revision, expected) => {
  const { done, parts } = aReserver()
  const draft = aDraft<Live | undefined>(
    isThere ? { object: anObject('live'), isAsDecoded: false, hasBigIntegers: false, entry } : undefined,
  )
  await reserve(draft, parts)
  draft.outcome = outcome
  draft.revision = revision
  await settleReservation(draft, parts)
  expect(done).toEqual(expected)
})

test('a removed object’s holdings are released, also without a reservation for the removal', async () => {
  const { done, parts } = aReserver()
  const draft = aDraft({ object: anObject('live'), isAsDecoded: false, hasBigIntegers: false, entry })
  draft.outcome = written('removed')
  draft.revision = 6
  await settleReservation(draft, parts)
  expect(done).toEqual(['release live'])
})
