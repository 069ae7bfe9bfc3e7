import { readFileSync } from 'node:fs'
import { createCatalogue } from '@orch/core/catalogue'
import { type Entry, type ListPart, objectKey } from '@orch/core/contracts'
import { compareVersions } from '@orch/core/definitions'
import type { ApiObject } from '@orch/core/meta'
import { automanagedLabel, namesOf } from '@orch/core/names'
import { matchesLabels } from '@orch/core/selectors'
import { PushStream } from '@orch/platform'
import { expect, test } from 'vitest'
import { isRemote, localVerdict, readApiService } from './api-service.ts'
import { judge, withVerdict } from './availability.ts'
import { servedGroups, versionsInOrder } from './discovery-view.ts'
import { managementOf, registrationStep } from './registration.ts'

// biome-ignore lint/suspicious/noExplicitAny: cases have any shape.
type Case = any

function casesOf(file: string): Case[] {
  return JSON.parse(readFileSync(new URL(`./cases/${file}.json`, import.meta.url), 'utf8')).cases
}

const names = namesOf('kubernetes')
const label = automanagedLabel(names)

const steps: Record<string, string> = {
  'func checkForNothing': 'nothing',
  'func checkForCreate': 'create',
  'func checkForCreateOnStart': 'create',
  'func checkForDelete': 'delete',
  'func checkForUpdate': 'update',
}

test.each(casesOf('autoregister'))('AGG-06, AGG-07: APIServices of groups follow the recorded case: $name', (one: Case) => {
  const last = <T>(list: T[] | undefined): T | undefined => list?.at(-1)
  const wanted = last<ApiObject>(one.addSyncAPIServices) ?? last<ApiObject>(one.addSyncOnStartAPIServices)
  const isWanted = wanted !== undefined && !(one.delSyncAPIServices ?? []).includes(one.apiServiceName)
  const stored = last<ApiObject>(one.updateAPIServices) ?? last<ApiObject>(one.addAPIServices)
  const onStart = (one.addSyncOnStartAPIServices ?? []).length > 0
  const step = registrationStep({
    wanted: isWanted ? { management: onStart ? 'onstart' : 'true' } : undefined,
    stored: stored && {
      management: managementOf(stored.metadata.labels, label),
      isAsWanted: wanted !== undefined && JSON.stringify(readApiService(stored)) === JSON.stringify(readApiService(wanted)),
    },
    hasSynced: one.alreadySynced?.[one.apiServiceName] ?? false,
    wasThereAtStart: one.presentAtStart?.[one.apiServiceName] ?? false,
  })
  expect(step).toBe(steps[one.expectedResults])
})

const isLocal = ({ name }: Case) => name === 'local'

test.each([...casesOf('availability-local'), ...casesOf('availability-remote').filter(isLocal)])(
  'AGG-09: an APIService has the recorded condition: $name',
  (one: Case) => {
    const api = readApiService(one.apiServices[0])
    expect(!isRemote(api)).toBe(one.expectedAction ?? one.expectedSkipped)
    if (isRemote(api)) return
    const [condition] = withVerdict(api.conditions, localVerdict, '2026-01-01T00:00:00Z')
    expect(condition).toMatchObject(one.expectedAvailability)
  },
)

const sliceKind = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' }

function storageOf(one: Case): Parameters<typeof judge>[1]['storage'] {
  const entry = (kind: object, value: object): Entry => {
    return {
      key: '',
      revision: 1,
      value: Buffer.from(JSON.stringify({ ...kind, ...value })),
      metadataStart: 0,
      metadataEnd: 0,
      writeId: '',
    }
  }
  return {
    async get({ key }) {
      const found = (one.services ?? []).find((service: ApiObject) => {
        return objectKey('core/services', service.metadata.namespace, service.metadata.name ?? '') === key
      })
      return { revision: 1, epoch: '', ...(found === undefined ? {} : { entry: entry({ apiVersion: 'v1', kind: 'Service' }, found) }) }
    },
    list({ selection, scope }) {
      const stream = new PushStream<ListPart>()
      const isMeant = ({ metadata }: ApiObject) =>
        metadata.namespace === scope.namespace && matchesLabels(selection.labels, metadata.labels)
      stream.push({
        kind: 'entries',
        entries: (one.endpointSlices ?? []).filter(isMeant).map((slice: ApiObject) => entry(sliceKind, slice)),
      })
      stream.end()
      return stream
    },
  }
}

test.each(casesOf('availability-remote').filter((one) => !isLocal(one)))(
  'AGG-10: a remote APIService has the recorded condition: $name',
  async (one: Case) => {
    const api = readApiService(one.apiServices[0])
    if (!isRemote(api)) throw new Error('the case is about a remote one')
    const probe = async () => {
      if (one.backendStatus !== 200) throw new Error(`failing or missing response from x: bad status from x: ${one.backendStatus}`)
    }
    const verdict = await judge(api, { storage: storageOf(one), names, knownServices: new Map(), probe })
    const { message, ...rest } = one.expectedAvailability
    expect({ type: 'Available', ...verdict }).toMatchObject(rest)
    expect(verdict.message).toContain(message)
  },
)

test.each(casesOf('sorted-by-version'))('AGG-26: APIServices are ordered as recorded: $name', ({ versions, expected }: Case) => {
  expect(versionsInOrder(new Map(versions.map((version: string) => [version, 1])))).toEqual(expected)
  expect([...versions].sort(compareVersions)).toEqual(expected)
})

test.each(casesOf('apis'))(
  'AGG-26: the groups of $apiservices.length APIServices are listed as recorded: $name',
  ({ apiservices, expected, group }: Case) => {
    const builtIn = createCatalogue('kubernetes')
    const own = new Set(builtIn.groups.map(({ name }) => name).filter((name) => name !== 'apiregistration.k8s.io'))
    const found = servedGroups(builtIn, builtIn, apiservices.map(readApiService)).filter(({ name }) => !own.has(name))
    const shown = (entry: { name: string; versions: { version: unknown }[] }) => ({
      name: entry.name,
      // The version of the first group is a constant in the source of the cases.
      versions: entry.versions.map(({ version }) => (typeof version === 'string' ? version : 'v1')),
    })
    const wanted = group === undefined ? expected.groups.map(shown) : [shown(expected)]
    expect(group === undefined ? found : found.filter(({ name }) => name === group)).toEqual(wanted)
  },
)
