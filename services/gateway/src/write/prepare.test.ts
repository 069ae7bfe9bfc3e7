import { type Behaviour, createCatalogue } from '@orch/core/catalogue'
import type { ApiObject, ObjectMeta } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { systemChance } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { LiveCatalogue } from '../custom-resources/live-catalogue.ts'
import { InProcessExchange } from '../exchange/in-process.ts'
import { createDraws } from '../request/draws.ts'
import { createNegotiator } from '../request/negotiate.ts'
import { GatewayRequest } from '../request/request.ts'
import { parseRequestInfo } from '../request/request-info.ts'
import type { Strategy } from '../strategies/kind-hooks.ts'
import { createServedResources, type Served } from '../target/target.ts'
import { type ChangeDraft, Draft, type NewDraft, type PlannedWrite } from './draft.ts'
import { clearNew, completeChange, completeNew, dropDisabled, keepLive, mergeAdmittedOwners, mergeOwners } from './prepare.ts'

const catalogue = createCatalogue('orch')
const resources = createServedResources(new LiveCatalogue(catalogue))
const now = '2026-05-03T02:01:00Z'
const parts = {
  names: catalogue.names,
  clock: createFakeClock(Date.parse(now)),
  draws: createDraws(systemChance),
  isGateOn: () => true,
  level: 25,
}

type Changes = { readonly behaviour?: Partial<Behaviour>; readonly rules?: Strategy['rules'] }

/** A kind that is like another one but for some decisions. */
function servedLike(plural: string, { behaviour = {}, rules = {} }: Changes = {}): Served {
  const served = resources.find(plural === 'deployments' ? 'apps' : '', 'v1', plural)
  if (served === undefined) throw new Error(`no resource ${plural}`)
  return { ...served, strategy: { ...served.strategy, behaviour: { ...served.strategy.behaviour, ...behaviour }, rules } }
}

const anObject = (metadata: ObjectMeta, rest: object = {}): ApiObject => ({ apiVersion: 'v1', kind: 'K', metadata, ...rest })

const servers = {
  selfLink: '/a',
  uid: 'u',
  resourceVersion: '5',
  creationTimestamp: '2026-01-01T00:00:00Z',
  deletionTimestamp: '2026-01-01T00:00:00Z',
  deletionGracePeriodSeconds: 3,
}
const writers = {
  name: 'a',
  generateName: 'b',
  namespace: 'n',
  labels: { a: 'b' },
  annotations: { c: 'd' },
  ownerReferences: [],
  finalizers: ['example.com/a'],
  managedFields: [{ manager: 'm' }],
}

test('a new object keeps the writer’s part of its metadata, and loses its status if the kind has a status subresource', () => {
  const cleared = (plural: string, metadata: ObjectMeta, rules: Strategy['rules'] = {}) => {
    const draft = aNewDraft({ served: servedLike(plural, { rules }), object: anObject(metadata, { status: { phase: 'A' } }) })
    void clearNew(draft, undefined)
    return draft.object
  }
  expect(cleared('pods', { ...servers, ...writers })).toEqual(anObject(writers))
  expect(cleared('configmaps', { ...servers, ...writers })).toEqual(anObject(writers, { status: { phase: 'A' } }))
  expect(cleared('pods', writers, { keepsGivenStatus: true })).toEqual(anObject(writers, { status: { phase: 'A' } }))
  expect(Object.keys(cleared('pods', servers).metadata)).toEqual([])
})

test('META-09: the server generates a name if the writer gives only a prefix', () => {
  const nameOf = (metadata: ObjectMeta) => {
    const object = anObject(metadata)
    void completeNew(aNewDraft({ served: servedLike('configmaps'), object }), parts)
    return object.metadata.name
  }
  expect(nameOf({ name: 'a', generateName: 'b-' })).toBe('a')
  expect(nameOf({ generateName: 'b-' })).toMatch(/^b-.{5}$/)
  expect(nameOf({ name: '', generateName: 'b-' })).toMatch(/^b-.{5}$/)
  expect(nameOf({ name: '', generateName: '' })).toBe('')
  expect(nameOf({})).toBeUndefined()
})

test('META-21: a new object has generation 1 if its kind counts all changes of the wanted state', () => {
  const made = (changes: Changes) => {
    const object = anObject({ name: 'a', uid: 'given' })
    void completeNew(aNewDraft({ served: servedLike('configmaps', changes), object }), parts)
    const { uid, ...metadata } = object.metadata
    expect(uid).toMatch(/^[0-9a-f-]{36}$/)
    return metadata
  }
  const counting = { behaviour: { countsGenerations: true } }
  expect(made(counting)).toEqual({ name: 'a', generation: 1, creationTimestamp: now })
  expect(made({ ...counting, rules: { countsOnly: () => true } })).toEqual({ name: 'a', creationTimestamp: now })
  expect(made({ behaviour: { countsGenerations: false } })).toEqual({ name: 'a', creationTimestamp: now })
})

test('META-21: a new object of a kind that counts no changes keeps the generation of its writer', () => {
  const generationOf = (generation: number, countsGenerations: boolean) => {
    const object = anObject({ name: 'a', generation })
    void completeNew(aNewDraft({ served: servedLike('configmaps', { behaviour: { countsGenerations } }), object }), parts)
    return object.metadata.generation
  }
  expect([generationOf(4, false), generationOf(0, false), generationOf(4, true)]).toEqual([4, undefined, 1])
})

test('an update keeps the generation, the version and the status of the object, or their absence', () => {
  const kept = (plural: string, given: ApiObject, live: ApiObject) => {
    const draft = aChangeDraft({ served: servedLike(plural), object: given, live })
    void keepLive(draft, parts)
    const { metadata, status } = draft.object
    return [metadata.generation, metadata.resourceVersion, 'status' in draft.object ? status : 'none']
  }
  const full = anObject({ name: 'a', generation: 4, resourceVersion: '5' }, { status: { phase: 'live' } })
  const bare = anObject({ name: 'a' })
  const given = anObject({ name: 'a', generation: 9, resourceVersion: '5', selfLink: '/a' }, { status: { phase: 'given' } })
  expect(kept('pods', given, full)).toEqual([4, '5', { phase: 'live' }])
  expect(kept('pods', bare, full)).toEqual([4, '5', { phase: 'live' }])
  expect(kept('pods', given, bare)).toEqual([undefined, expect.anything(), 'none'])
  expect(kept('configmaps', given, full)).toEqual([4, '5', { phase: 'given' }])
})

test('META-21: the generation counts a change by the kind’s rule', () => {
  const counted = (changes: Changes, before: object, after: object, subresource?: string) => {
    const object = anObject({ name: 'a', generation: 4, labels: { a: 'b' } }, after)
    const live = anObject({ name: 'a', generation: 4 }, before)
    const behaviour = { countsGenerations: true, countsStatus: false, ...changes.behaviour }
    const served = servedLike('deployments', { ...changes, behaviour })
    void completeChange(aChangeDraft({ served, object, live, subresource }), parts)
    return object.metadata.generation === 5
  }
  const [one, two] = [{ spec: { x: 1 } }, { spec: { x: 2 } }]
  const [first, second] = [{ status: { x: 1 } }, { status: { x: 2 } }]
  expect(counted({}, one, two)).toBe(true)
  expect(counted({}, one, one)).toBe(false)
  expect(counted({}, first, second)).toBe(false)
  expect(counted({ behaviour: { countsStatus: true } }, first, second)).toBe(true)
  expect(counted({ behaviour: { countsStatus: true } }, first, first)).toBe(false)
  expect(counted({ behaviour: { countsGenerations: false } }, one, two)).toBe(false)
  expect(counted({ rules: { keepsGeneration: true } }, one, two)).toBe(false)
  expect(counted({}, one, two, 'status')).toBe(false)
  expect(counted({}, one, two, 'scale')).toBe(true)
  expect(counted({ rules: { countsOnly: () => true } }, one, one)).toBe(true)
  expect(counted({ rules: { countsOnly: () => false, countsChange: () => true } }, one, two)).toBe(false)
  expect(counted({ rules: { countsChange: () => true } }, one, one)).toBe(true)
  expect(counted({ rules: { countsChange: () => false } }, one, one)).toBe(false)
})

test('fields of features that are off are dropped, unless the object has them already', () => {
  const [object, live] = [anObject({ name: 'a' }), anObject({ name: 'a', uid: 'u' })]
  const served = servedLike('configmaps')
  for (const before of [live, undefined]) {
    const left = anObject({ name: 'left' })
    const asked: unknown[] = []
    const dropDisabledFields = (...given: unknown[]) => {
      asked.push(given)
      return left
    }
    const gated = { ...served, resource: { ...served.resource, readers: { dropDisabledFields } } } as unknown as Served
    const draft = before === undefined ? aNewDraft({ served: gated, object }) : aChangeDraft({ served: gated, object, live: before })
    const isGateOn = () => false
    void dropDisabled(draft, { ...parts, isGateOn })
    expect(draft.object).toBe(left)
    expect(asked).toEqual([[object, before, isGateOn]])
  }
})

test('META-19: a repeated owner is removed, with a warning to the writer', () => {
  const owner = (uid: string, name = uid) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid })
  const merged = (ownerReferences: NonNullable<ObjectMeta['ownerReferences']>, merge = mergeOwners) => {
    const object = anObject({ name: 'a', ownerReferences })
    const draft = aNewDraft({ served: servedLike('configmaps'), object })
    const warnings: string[] = []
    draft.write.request.warn = (text: string) => void warnings.push(text)
    void merge(draft, undefined)
    return { owners: draft.object.metadata.ownerReferences, given: draft.given.metadata.ownerReferences, warnings }
  }
  const twice = [owner('a'), owner('b'), owner('a')]
  const once = [owner('a'), owner('b')]
  expect(merged(twice)).toEqual({ owners: once, given: once, warnings: [expect.stringContaining('duplicate UID(s) observed: a')] })
  expect(merged(twice, mergeAdmittedOwners).warnings).toEqual([expect.stringContaining('after mutating admission happens')])
  expect(merged([owner('a'), owner('a', 'other')]).warnings).toEqual([])
  expect(merged([owner('a')])).toEqual({ owners: [owner('a')], given: [owner('a')], warnings: [] })
})

interface DraftOptions {
  readonly served: Served
  /** The object as its writer sent it. */
  readonly object: ApiObject
  readonly subresource?: string | undefined
  /** On the monotonic clock; the request has a minute unless given. */
  readonly deadlineMs?: number
}

const path = '/api/v1/namespaces/n/things'

/** A request that belongs to user `u`. */
function aRequest(deadlineMs: number): GatewayRequest {
  const exchange = new InProcessExchange({ method: 'POST', path, headers: {} }, { kind: 'internal', name: 'u', groups: [] })
  const request = new GatewayRequest(exchange, 0, {
    requestTimeoutMs: deadlineMs,
    pathPrefix: '',
    negotiator: createNegotiator(namesOf('orch')),
    draws: createDraws(systemChance),
  })
  request.user = { name: 'u', uid: '', groups: [], extra: {} }
  return request
}

function aWrite({ served, subresource, deadlineMs = 60_000 }: DraftOptions): PlannedWrite {
  const info = parseRequestInfo({ method: 'POST', path, isWatch: false })
  if (info.kind !== 'resource') throw new Error(`${path} is no path of a resource`)
  return {
    id: 'w',
    request: aRequest(deadlineMs),
    target: { info, served, subresource: subresource === undefined ? undefined : served.subresource(subresource), keyPrefix: 'things/n/' },
    name: '',
    options: { isDryRun: false, fieldManager: '', fieldValidation: 'Ignore', isForced: false },
    optionsObject: {},
    decide: () => {
      throw new Error('the intent of this write is not asked for')
    },
  }
}

/** A draft of an object that is not there yet. */
function aNewDraft(options: DraftOptions): NewDraft {
  return new Draft(aWrite(options), undefined, { object: options.object, hasBigIntegers: false, body: options.object })
}

function aChangeDraft({ live, ...options }: DraftOptions & { readonly live: ApiObject }): ChangeDraft {
  const value = Buffer.from(JSON.stringify(live))
  const entry = { key: 'things/n/a', revision: 7, value, metadataStart: 0, metadataEnd: 0, writeId: 'v' }
  const before = { object: live, isAsDecoded: false, hasBigIntegers: false, entry }
  return new Draft(aWrite(options), before, { object: options.object, hasBigIntegers: false, body: options.object })
}
