import { expect, test } from 'vitest'
import { aDefinition } from '../definition.ts'
import { type Api, aName, type Body, created, sharedApi } from './api.ts'

const server = sharedApi({ profile: 'kubernetes' })
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

type Json = Readonly<Record<string, unknown>>

const text = (value?: string): Json => ({ type: 'string', ...(value === undefined ? {} : { default: value }) })

/** A version whose spec and status have these properties. */
const version = (name: string, properties: Json, isStored: boolean): Json => {
  const part = { type: 'object', properties }
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: part, status: part } } }
  return { name, served: true, storage: isStored, schema, subresources: { status: {} } }
}

/** A definition of foos, and a function that changes its versions. */
async function foos(api: Api, versions: readonly Json[]) {
  const group = `${aName('g')}.example.com`
  const body = aDefinition({ domain: 'k8s.io', group, plural: 'foos', kind: 'Foo', scope: 'Cluster', versions })
  await created(api, definitions, body)
  const change = async (changed: readonly Json[]) => {
    const { status } = await api.patch(`${definitions}/foos.${group}`, [{ op: 'replace', path: '/spec/versions', value: changed }])
    expect(status).toBe(200)
  }
  return {
    change,
    at: (name: string) => `/apis/${group}/${name}/foos`,
    foo: (name: string) => ({ apiVersion: `${group}/${name}`, kind: 'Foo' }),
  }
}

const partsOf = ({ spec, status }: Body): Json => ({ spec, status })

test('CRD-95, CRD-98: the stored version gives defaults to reads, and other versions to their own writes', async () => {
  const { api } = server
  const first = (more: Json = {}) =>
    version('v1beta1', { a: text('A'), b: text('B'), c: text(), one: text('1'), two: text(), ...more }, false)
  const second = (more: Json = {}) =>
    version('v1beta2', { a: text('A'), b: text('B'), c: text(), one: text(), two: text('2'), ...more }, true)
  const { at, change, foo } = await foos(api, [first(), second()])
  const path = `${at('v1beta1')}/foo`
  const before = { a: 'a', b: 'B', one: '1', two: '2' }
  const written = { a: 'A', b: 'b', one: '1', two: '2' }

  const sent = { ...foo('v1beta1'), metadata: { name: 'foo' }, spec: { a: 'a' }, status: { b: 'dropped' } }
  const made = await created(api, at('v1beta1'), sent)
  expect(partsOf(made)).toEqual({ spec: before })
  const withStatus = await api.put(`${path}/status`, { ...made, status: { b: 'b' } })
  expect(partsOf(withStatus.body)).toEqual({ spec: before, status: written })

  await change([first(), second({ c: text('C') })])
  const all = { spec: { ...before, c: 'C' }, status: { ...written, c: 'C' } }
  expect(partsOf((await api.get(path)).body)).toEqual(all)
  expect(partsOf((await api.get(`${path}?resourceVersion=0`)).body)).toEqual(all)
  expect((await api.get(at('v1beta1'))).body.items.map(partsOf)).toEqual([all])
  const watch = await api.watch(`${at('v1beta1')}?watch=1&resourceVersion=${made.metadata.resourceVersion}`)
  const event = await watch.next()
  expect([event?.type, event && partsOf(event.object as Body)]).toEqual(['MODIFIED', all])

  await change([first({ c: text('C') }), second()])
  expect(partsOf((await api.get(path)).body)).toEqual({ spec: before, status: written })
  // A write of the status gives no defaults to fields outside the status.
  const { body: live } = await api.get(path)
  expect(partsOf((await api.put(`${path}/status`, live)).body)).toEqual({ spec: before, status: { ...written, c: 'C' } })

  await change([first({ a: text(), b: text() }), second()])
  expect(partsOf((await api.get(path)).body)).toEqual({ spec: before, status: { ...written, c: 'C' } })
  expect(partsOf((await api.patch(path, { spec: { one: 'x' } })).body)['spec']).toEqual({ ...before, one: 'x' })
})

test('CRD-95, CRD-124: an object that was stored in another version has the defaults of that version until it is written', async () => {
  const { api } = server
  const { at, change, foo } = await foos(api, [
    version('v1', { a: text(), b: text() }, true),
    version('v2', { a: text(), b: text() }, false),
  ])
  await created(api, at('v1'), { ...foo('v1'), metadata: { name: 'foo' }, spec: {} })
  await change([version('v1', { a: text('1'), b: text() }, false), version('v2', { a: text('2'), b: text('2') }, true)])
  expect((await api.get(`${at('v1')}/foo`)).body['spec']).toEqual({ a: '1' })
  expect((await api.get(`${at('v2')}/foo`)).body['spec']).toEqual({ a: '1' })
  expect((await api.patch(`${at('v1')}/foo`, { metadata: { labels: { x: 'y' } } })).body['spec']).toEqual({ a: '1', b: '2' })
})

test('CRD-92, CRD-95: defaults in metadata of embedded objects are only for fields of ObjectMeta', async () => {
  const { api } = server
  const metadata = { name: 'Bar', unknown: 'unknown' }
  const embedded = (more: Json): Json => ({
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
    ...more,
  })
  const names = { apiVersion: text('foos/v1'), kind: text('Foo') }
  const properties = {
    fields: embedded({
      properties: { ...names, metadata: { type: 'object', properties: { name: text('Bar'), unknown: text('unknown') } } },
    }),
    metadata: embedded({ properties: { ...names, metadata: { type: 'object', default: metadata } } }),
    object: embedded({ default: { apiVersion: 'foos/v1', kind: 'Foo', metadata } }),
    spanning: {
      type: 'object',
      properties: { embedded: embedded({}) },
      default: { embedded: { apiVersion: 'foos/v1', kind: 'Foo', metadata } },
    },
  }
  const { at, change, foo } = await foos(api, [version('v1', properties, true)])
  const given = { fields: { metadata: {} }, metadata: {} }
  const made = await created(api, at('v1'), { ...foo('v1'), metadata: { name: 'foo' }, spec: given })
  const complete = { apiVersion: 'foos/v1', kind: 'Foo', metadata: { name: 'Bar' } }
  const expected = { fields: complete, metadata: complete, object: complete, spanning: { embedded: complete } }
  expect(made['spec']).toEqual(expected)

  // The same check with the defaults after the object.
  await change([version('v1', { fields: embedded({}), metadata: embedded({}) }, true)])
  const bare = { apiVersion: 'foos/v1', kind: 'Foo', metadata: {} }
  await created(api, at('v1'), {
    ...foo('v1'),
    metadata: { name: 'old' },
    spec: { fields: bare, metadata: { apiVersion: 'foos/v1', kind: 'Foo' } },
  })
  await change([version('v1', properties, true)])
  expect((await api.get(`${at('v1')}/old`)).body['spec']).toEqual(expected)
})
