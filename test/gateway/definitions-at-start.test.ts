import type { StorageService } from '@orch/core/contracts'
import { silentLog } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { aDefinition } from '../definition.ts'
import { aGateway, aStorage, type Spoil } from './own-gateway.ts'

const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
const prefix = 'apiextensions.orch.io/customresourcedefinitions'

function definition(plural: string, group = 'example.com') {
  const kind = plural.replace(/s$/, '').replace(/^./, (first) => first.toUpperCase())
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'string' } } } }
  return aDefinition({ group, plural, kind, scope: 'Cluster', schema })
}

/** A gateway with a stopped clock that starts over a storage with three definitions in two groups. */
async function aLateGateway(spoil?: Spoil) {
  const storage = await aStorage()
  const writer = await aGateway(undefined, {}, storage)
  await writer.loadDefinitions()
  for (const one of [definition('gears'), definition('widgets'), definition('wheels', 'cars.example.com')]) {
    expect((await writer.call('POST', definitions, one)).code).toBe(201)
  }
  const clock = createFakeClock()
  const errors: unknown[] = []
  const log = { ...silentLog, error: (_fields: object, message: string) => void errors.push(message) }
  const late = await aGateway(spoil, { clock, log }, storage)
  await late.loadDefinitions()
  return { writer: writer.call, late: late.call, clock, errors }
}

/** A gateway that receives bytes which are not a definition. */
const withoutJson: Spoil = (storage: StorageService) => ({
  list: (request, context) => {
    const listed = storage.list(request, context)
    if (request.scope.resource !== prefix) return listed
    const spoilt = (async function* () {
      for await (const part of listed) {
        if (part.kind !== 'entries') yield part
        else yield { ...part, entries: part.entries.map((entry) => ({ ...entry, value: Buffer.from('?') })) }
      }
    })()
    return Object.assign(spoilt, { close: () => listed.close() })
  },
})

test('definitions in storage are read a moment after the start', async () => {
  const { clock, errors } = await aLateGateway(withoutJson)
  expect(errors).toEqual([])
  clock.advance(1_000)
  expect(errors).toEqual(Array(3).fill('a stored definition cannot be served'))
})

test('a definition in storage is served at the first request for its objects', async () => {
  const { late } = await aLateGateway()
  const object = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: 'round' }
  expect((await late('POST', '/apis/example.com/v1/widgets', object)).code).toBe(201)
  expect((await late('GET', '/apis/example.com/v1/gears')).code).toBe(200)
  expect((await late('GET', '/apis/cars.example.com/v1/wheels')).code).toBe(200)
})

test.each([
  ['/apis', ['"example.com"', '"cars.example.com"']],
  ['/apis/example.com', ['"example.com/v1"']],
  ['/apis/example.com/v1', ['"gears"', '"widgets"']],
  ['/openapi/v2', ['example.com/v1/gears', 'example.com/v1/widgets', 'cars.example.com/v1/wheels']],
  ['/openapi/v3', ['apis/example.com/v1', 'apis/cars.example.com/v1']],
  ['/openapi/v3/apis/example.com/v1', ['example.com/v1/gears', 'example.com/v1/widgets']],
  ['/', ['/apis/example.com/v1', '/apis/cars.example.com/v1']],
])('%s has all definitions in storage at the first request', async (path, wanted) => {
  const { late } = await aLateGateway()
  const { code, body } = await late('GET', path)
  expect(code).toBe(200)
  for (const text of wanted) expect(JSON.stringify(body)).toContain(text)
})

test('an absent resource in a group of unread definitions is a 404', async () => {
  const { late } = await aLateGateway()
  for (const path of ['/apis/example.com/v1/others', '/apis/others.example.com/v1/others']) {
    const { code, body } = await late('GET', path)
    expect({ code, message: body.message }).toEqual({ code: 404, message: '404 page not found\n' })
  }
})

test('the state after a change or deletion of an unread definition is served', async () => {
  const { writer, late } = await aLateGateway()
  const more = { spec: { names: { plural: 'gears', kind: 'Gear', shortNames: ['gg'] } } }
  expect((await writer('PATCH', `${definitions}/gears.example.com`, more, 'application/merge-patch+json')).code).toBe(200)
  expect((await writer('DELETE', `${definitions}/wheels.cars.example.com`)).code).toBe(200)
  const bare = { metadata: { finalizers: null } }
  expect((await writer('PATCH', `${definitions}/wheels.cars.example.com`, bare, 'application/merge-patch+json')).code).toBe(200)
  // The changes have arrived by now, because the writes through this gateway wait for them.
  expect((await late('POST', definitions, definition('others'))).code).toBe(201)
  expect((await late('GET', '/apis/cars.example.com/v1/wheels')).code).toBe(404)
  expect(JSON.stringify((await late('GET', '/apis/example.com/v1')).body)).toContain('"shortNames":["gg"]')
  expect(JSON.stringify((await late('GET', '/apis')).body)).not.toContain('cars.example.com')
})
