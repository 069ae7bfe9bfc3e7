import { createCatalogue } from '@orch/core/catalogue'
import type { ApiObject } from '@orch/core/meta'
import { systemChance } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { LiveCatalogue } from '../custom-resources/live-catalogue.ts'
import { limits } from '../limits.ts'
import { createDraws } from '../request/draws.ts'
import { Pace } from '../request/pace.ts'
import { createServedResources, type Target } from '../target/target.ts'
import type { Intent } from './draft.ts'
import type { Live } from './live.ts'
import { RecentObjects } from './recent-objects.ts'
import { write } from './write.ts'

const catalogue = createCatalogue('orch')
const resources = createServedResources(new LiveCatalogue(catalogue))

function targetOf(isTerminating: boolean): Target {
  const resource = catalogue.find('', 'v1', 'configmaps')
  if (resource === undefined) throw new Error('no resource configmaps')
  const served = resources.of({ ...resource, ...(isTerminating ? { isTerminating: true } : {}) })
  return {
    served,
    subresource: undefined,
    info: { namespace: 'n', name: 'a' },
    keyPrefix: `${served.resource.stored.prefix}/n/`,
  } as unknown as Target
}

const anObject = (metadata: object = {}): ApiObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', ...metadata } })

interface Around {
  readonly name?: string
  readonly isLarge?: boolean
  readonly isTerminating?: boolean
  /** Bytes of the existing object; undefined if it does not exist. */
  readonly bytes?: number
}

/** A write of which the verb decides so: its outcome, or the Status that it is refused with, and its request. */
async function written(
  decide: (live: Live | undefined) => Intent,
  { name = 'a', isLarge = false, isTerminating = false, bytes }: Around = {},
) {
  const clock = createFakeClock()
  const text = JSON.stringify(anObject())
  const value = Buffer.from(`${text.slice(0, -1)}${' '.repeat(Math.max(0, (bytes ?? 0) - text.length))}}`)
  const info = { kind: 'resource', verb: 'patch', group: '', version: 'v1', resource: 'configmaps', subresource: '', namespace: 'n', name }
  const user = { name: 'ann', uid: '', groups: [], extra: {} }
  const request = { isLarge, deadlineMs: clock.monotonic() + 9, auditId: 'r', trace: undefined, info, user }
  const parts = {
    names: catalogue.names,
    clock,
    draws: createDraws(systemChance),
    recent: new RecentObjects(),
    pace: new Pace(),
    storage: { get: async () => (bytes === undefined ? {} : { entry: { key: 'k', revision: 7, value } }) },
    admitter: { settle: () => undefined },
    authorizers: [],
  }
  const wanted = { request, target: targetOf(isTerminating), name, options: {}, optionsObject: {}, decide }
  const outcome = await write(wanted as never, parts as never).catch((error: { status?: { code: number } }) => error.status?.code ?? error)
  return { outcome, request }
}

function mustBe(live: Live | undefined): Live {
  if (live === undefined) throw new Error('there is an object')
  return live
}

test('LIM-12: a write of an object above the limit counts as a large write', async () => {
  const isLargeAt = async (bytes: number, isLarge = false) => {
    const { outcome, request } = await written((live) => ({ kind: 'nothing', live: mustBe(live) }), { bytes, isLarge })
    expect(outcome).toMatchObject({ kind: 'unchanged' })
    return request.isLarge
  }
  expect(await isLargeAt(limits.largeBytesMin - 1)).toBe(false)
  expect(await isLargeAt(limits.largeBytesMin)).toBe(true)
  expect(await isLargeAt(limits.largeBytesMin - 1, true)).toBe(true)
})

/** A new object with more managers than there may be, and how it is refused. */
async function refusedWith(around: Around) {
  const managedFields = Array.from({ length: limits.managedFieldsMax + 1 }, () => ({}))
  const candidate = { object: anObject({ managedFields }), hasBigIntegers: false, body: {}, problems: [] }
  return (await written(() => ({ kind: 'create', candidate }), around)).outcome
}

test('a write that creates the object in its path must also be allowed as a create, before any other check', async () => {
  expect(await refusedWith({ name: 'a' })).toBe(403)
  expect(await refusedWith({ name: '' })).toBe(422)
})

test('CRD-142: nothing is created while the definition is being deleted, whatever else is wrong', async () => {
  expect(await refusedWith({ name: '', isTerminating: true })).toBe(405)
})
