import { createCatalogue, type Resource } from '@orch/core/catalogue'
import type { Entry } from '@orch/core/contracts'
import { StatusError } from '@orch/core/meta'
import { runAtOnce, type Steps } from '@orch/core/steps'
import type { Conversion } from '@orch/platform/conversion'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { LiveCatalogue } from '../custom-resources/live-catalogue.ts'
import { limits } from '../limits.ts'
import { createServedResources, type Served } from '../target/target.ts'
import { sharedOf } from './candidate.ts'
import { latestRevision, readLive, timelyContext } from './live.ts'
import { RecentObjects } from './recent-objects.ts'

const catalogue = createCatalogue('orch')
const resources = createServedResources(new LiveCatalogue(catalogue))
const conversion = { definition: 'a.example.com', clientConfig: {}, reviewVersions: ['v1'] }

function servedOf(group: string, version: string, plural: string, changes: Partial<Resource> = {}): Served {
  const resource = catalogue.find(group, version, plural)
  if (resource === undefined) throw new Error(`no resource ${plural}`)
  return resources.of({ ...resource, ...changes })
}

/** Parts over a storage that has one entry or none, and the requests to them. */
function someParts(entry: Entry | undefined) {
  const asked: unknown[] = []
  const clock = createFakeClock()
  const parts = {
    names: catalogue.names,
    clock,
    storage: {
      async get(...request: unknown[]) {
        asked.push(request)
        return { revision: 9, epoch: 'e', ...(entry === undefined ? {} : { entry }) }
      },
    },
    recent: new RecentObjects(),
    pace: {
      run<T>(steps: Steps<T>): T {
        asked.push('steps')
        return runAtOnce(steps)
      },
    },
    converter: {
      async convert({ desiredApiVersion, objects, hasBigIntegers, context }: Conversion) {
        asked.push({ desiredApiVersion, context })
        return { objects: objects.map((object) => ({ ...object, apiVersion: desiredApiVersion })), hasBigIntegers }
      },
    },
  }
  return { asked, clock, parts: parts as never }
}

function entryOf(object: object): Entry {
  return { key: 'k', revision: 5, value: Buffer.from(JSON.stringify(object)) } as unknown as Entry
}

const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { x: '' } }
const context = { timeoutMs: 7, requestId: 'r' }

/** A ConfigMap with this number of bytes in JSON. */
function configMapOf(bytes: number) {
  const data = { x: 'x'.repeat(bytes - JSON.stringify(configMap).length) }
  return entryOf({ ...configMap, data })
}

test('a read of the object has a freshness and a deadline; an absent object causes no other call', async () => {
  const { asked, parts } = someParts(undefined)
  expect(await readLive('k', servedOf('', 'v1', 'configmaps'), parts, { read: { kind: 'any' }, ...context })).toBeUndefined()
  expect(asked).toEqual([[{ key: 'k', read: { kind: 'any' } }, context]])
})

test.each([
  ['at once below the size of a large object, and may be shared', limits.largeBytesMin - 1, [], true],
  ['in steps from that size on', limits.largeBytesMin, ['steps'], false],
])('LIM-12: an object is read %s', async (_how, bytes, steps, isAsDecoded) => {
  const entry = configMapOf(bytes)
  const { asked, parts } = someParts(entry)
  const live = await readLive('k', servedOf('', 'v1', 'configmaps'), parts, { read: { kind: 'any' }, ...context })
  expect(live).toEqual({ object: JSON.parse(Buffer.from(entry.value).toString()), isAsDecoded, hasBigIntegers: false, entry })
  expect(sharedOf(live)).toBe(isAsDecoded ? live?.object : undefined)
  expect(Object.isFrozen(live?.object['data'])).toBe(isAsDecoded)
  expect(asked.slice(1)).toEqual(steps)
})

test('an object is read in the version of the request, by its definition’s webhook if another version is stored', async () => {
  const stored = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'a' }, spec: { maxReplicas: 2 } }
  const readAs = async (version: string, changes: Partial<Resource>) => {
    const group = 'autoscaling'
    const served = servedOf(group, version, 'horizontalpodautoscalers', { stored: storedForm, ...changes })
    const { asked, parts } = someParts(entryOf(stored))
    const live = await readLive('k', served, parts, { read: { kind: 'any' }, ...context })
    return [live?.object.apiVersion, live?.entry.revision, asked.slice(1)]
  }
  const { stored: form } = servedOf('autoscaling', 'v2', 'horizontalpodautoscalers').resource
  const { readers, type } = servedOf('autoscaling', 'v2', 'horizontalpodautoscalers').resource
  const storedForm = { ...form, version: 'v2', apiVersion: 'autoscaling/v2', readers, type }
  expect(await readAs('v1', {})).toEqual(['autoscaling/v1', 5, []])
  expect(await readAs('v2', { conversion })).toEqual(['autoscaling/v2', 5, []])
  const asked = { desiredApiVersion: 'autoscaling/v1', context }
  expect(await readAs('v1', { conversion })).toEqual(['autoscaling/v1', 5, ['steps', asked]])
})

test('VERB-06: the current revision is read from the latest state', async () => {
  const request = { deadlineMs: 0, auditId: 'r', trace: undefined }
  for (const [entry, revision] of [[entryOf(configMap), 5] as const, [undefined, undefined] as const]) {
    const { asked, clock, parts } = someParts(entry)
    const origin = { ...request, deadlineMs: clock.monotonic() + 7 }
    expect(await latestRevision('k', origin as never, parts)).toBe(revision)
    expect(asked).toEqual([[{ key: 'k', read: { kind: 'latest' } }, expect.objectContaining(context)]])
  }
})

test('a request after its deadline reads nothing', async () => {
  const { asked, clock, parts } = someParts(entryOf(configMap))
  const request = (remainingMs: number) => ({ deadlineMs: clock.monotonic() + remainingMs, auditId: 'r', trace: undefined }) as never
  expect(timelyContext(request(1), parts)).toMatchObject({ timeoutMs: 1 })
  for (const late of [0, -1]) {
    expect(() => timelyContext(request(late), parts)).toThrow(StatusError)
    await expect(latestRevision('k', request(late), parts)).rejects.toMatchObject({ status: { code: 504, reason: 'Timeout' } })
  }
  expect(asked).toEqual([])
})

test('a written object is not parsed again until its bytes change', async () => {
  const entry = entryOf(configMap)
  const { parts } = someParts(entry)
  const known = { ...configMap, data: { x: 'as it was remembered' } }
  const recent = new RecentObjects()
  recent.remember('k', entry.value, known)
  const served = servedOf('', 'v1', 'configmaps')
  const readFrom = async (value: object) => {
    const storage = { get: async () => ({ entry: value }) }
    return (await readLive('k', served, { ...(parts as object), recent, storage } as never, { read: { kind: 'any' }, ...context }))?.object
  }
  expect(await readFrom({ ...entry, value: Buffer.from(entry.value) })).toBe(known)
  expect(await readFrom(entryOf({ ...configMap, data: { x: 'y' } }))).toEqual({ ...configMap, data: { x: 'y' } })
})
