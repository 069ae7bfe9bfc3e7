import { type Entry, type ListPart, objectKey, type StorageService } from '@orch/core/contracts'
import { namesOf } from '@orch/core/names'
import { matchesLabels } from '@orch/core/selectors'
import { createFakeClock, createTinyStorage } from '@orch/testkit'
import { describe, expect, test } from 'vitest'
import { PushStream } from '../rpc/push-stream.ts'
import { createServiceAddresses, parseAddress, UnresolvedService } from './addresses.ts'

const place = { namespace: 'n', name: 's', port: 443 }

/** Finds Services among objects of one namespace, given by resource and name. */
function open({ services = new Map(), asksDns = false }: { services?: ReadonlyMap<string, string>; asksDns?: boolean } = {}) {
  const objects = new Map<string, object>()
  let reads = 0
  const entryOf = (key: string): Entry => {
    const value = Buffer.from(JSON.stringify(objects.get(key)))
    return { key, revision: 1, value, metadataStart: 0, metadataEnd: 0, writeId: '' }
  }
  const storage: StorageService = {
    ...createTinyStorage(),
    async get({ key }) {
      reads += 1
      return { ...(objects.has(key) ? { entry: entryOf(key) } : {}), revision: 1, epoch: '' }
    },
    list({ scope, selection }) {
      const isMeant = (key: string) => {
        const { metadata } = objects.get(key) as { metadata?: { labels?: Record<string, string> } }
        return key.startsWith(`${scope.resource}/${scope.namespace}/`) && matchesLabels(selection.labels, metadata?.labels)
      }
      const stream = new PushStream<ListPart>()
      stream.push({ kind: 'entries', entries: [...objects.keys()].filter(isMeant).map(entryOf) })
      stream.end()
      return stream
    },
  }
  const clock = createFakeClock()
  const addresses = createServiceAddresses({ storage, names: namesOf('orch'), clock, random: () => 0, places: { services, asksDns } })
  return {
    clock,
    reads: () => reads,
    put: (resource: string, name: string, object: object) => objects.set(objectKey(resource, 'n', name), object),
    find: () => addresses.find(place),
  }
}

const service = { spec: { ports: [{ name: 'https', port: 443, targetPort: 9443 }] } }
const slices = 'discovery.orch.io/endpointslices'
const slice = (host: string, more: object = {}) => ({
  ...{ apiVersion: 'discovery.orch.io/v1', kind: 'EndpointSlice' },
  metadata: { labels: { 'orch.io/service-name': 's' } },
  endpoints: [{ addresses: [host], ...more }],
  ports: [{ name: 'https', port: 9443 }],
})
const endpoints = { subsets: [{ addresses: [{ ip: '10.0.0.9' }], ports: [{ name: 'https', port: 9444 }] }] }

test('addresses from the configuration come first', async () => {
  const { put, find } = open({ services: new Map([['n/s', '[::1]:8443']]) })
  put('core/services', 's', service)
  put(slices, 'a', slice('10.0.0.1'))
  expect(await find()).toEqual({ host: '::1', port: 8443 })
})

test('EndpointSlices come second, at the port with the name of the Service’s port', async () => {
  const { put, find } = open()
  put('core/services', 's', service)
  put('core/endpoints', 's', endpoints)
  put(slices, 'a', { ...slice('10.0.0.1'), metadata: { labels: { 'orch.io/service-name': 'other' } } })
  put(slices, 'b', slice('10.0.0.2', { conditions: { ready: false } }))
  put(slices, 'c', slice('10.0.0.3', { conditions: { ready: true } }))
  expect(await find()).toEqual({ host: '10.0.0.3', port: 9443 })
})

test('Endpoints come third, and the external name last', async () => {
  const { put, find, clock } = open()
  put('core/services', 's', { spec: { type: 'ExternalName', externalName: 'hooks.example.com' } })
  expect(await find()).toEqual({ host: 'hooks.example.com', port: 443 })
  put('core/services', 's', service)
  put('core/endpoints', 's', endpoints)
  clock.advance(1_000)
  expect(await find()).toEqual({ host: '10.0.0.9', port: 9444 })
})

describe('a Service without addresses', () => {
  const lacks = [
    ['service "s" not found', undefined],
    ['no endpoints available for service "s"', service],
    ['no service port 443 found for service "s"', { spec: { ports: [{ port: 80 }] } }],
  ] as const

  test.each(lacks)('has no target, with the reason: %s', async (reason, stored) => {
    const { put, find } = open()
    if (stored !== undefined) put('core/services', 's', stored)
    await expect(find()).rejects.toThrow(new UnresolvedService(reason))
  })

  test.each(lacks)('is resolved in the cluster DNS, and the reason is returned as a doubt: %s', async (doubt, stored) => {
    const { put, find } = open({ asksDns: true })
    if (stored !== undefined) put('core/services', 's', stored)
    expect(await find()).toEqual({ host: 's.n.svc', port: 443, doubt })
  })
})

test('an answer is cached for a second', async () => {
  const { find, clock, reads } = open({ asksDns: true })
  await find()
  const first = reads()
  await find()
  expect(reads()).toBe(first)
  clock.advance(1_000)
  await find()
  expect(reads()).toBe(2 * first)
})

test('an address consists of a host and a port', () => {
  expect([parseAddress('a.b:1'), parseAddress('[::1]:2')]).toEqual([
    { host: 'a.b', port: 1 },
    { host: '::1', port: 2 },
  ])
})

test('a slice whose lists are null has no addresses', async () => {
  const { put, find } = open()
  put('core/services', 's', service)
  put(slices, 'a', { ...slice('10.0.0.1'), endpoints: null })
  put(slices, 'b', { ...slice('10.0.0.2'), ports: null })
  put(slices, 'c', slice('10.0.0.3'))
  expect(await find()).toEqual({ host: '10.0.0.3', port: 9443 })
})
