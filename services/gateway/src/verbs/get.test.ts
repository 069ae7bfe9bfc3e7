import { createCatalogue, type Preparable } from '@orch/core/catalogue'
import { StatusError } from '@orch/core/meta'
import { systemChance } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test, vi } from 'vitest'
import { LiveCatalogue } from '../custom-resources/live-catalogue.ts'
import { SchemaBudget } from '../custom-resources/schema-budget.ts'
import { InProcessExchange } from '../exchange/in-process.ts'
import { RepresentationCache } from '../representations/representation-cache.ts'
import { createDraws } from '../request/draws.ts'
import { createNegotiator } from '../request/negotiate.ts'
import { Pace } from '../request/pace.ts'
import { GatewayRequest } from '../request/request.ts'
import { createServedResources, type Served } from '../target/target.ts'
import { type GetParts, get } from './get.ts'

const catalogue = createCatalogue('orch')
const path = '/api/v1/namespaces/n/configmaps/a'
const text = '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","resourceVersion":"7"},"data":{"x":"1"}}'

const presentFingerprint = 2

/** The resource with readers that need a schema, like those of a custom kind. */
function withSchema(served: Served): Served {
  const { resource } = served
  const preparable: Preparable = { isReady: true, *prepare() {}, forget() {} }
  const own: Readonly<Record<string | symbol, unknown>> = { preparable, fingerprint: presentFingerprint }
  const readers = new Proxy(resource.readers, {
    get(of, name) {
      const value: unknown = Object.hasOwn(own, name) ? own[name] : Reflect.get(of, name, of)
      return typeof value === 'function' ? value.bind(of) : value
    },
  })
  return { ...served, resource: { ...resource, readers, stored: { ...resource.stored, readers } } }
}

interface Asked {
  readonly accept?: string
  /** The fingerprint of the schema that the object was written under; by default that of the current schema. */
  readonly fingerprint?: number
  readonly needsSchema?: true
}

/** Requests the object with this stored text; returns the answer, the requested keys, and the number of uses of a schema. */
async function asked(stored: string | undefined, { accept, fingerprint, needsSchema }: Asked = {}) {
  const exchange = new InProcessExchange({ method: 'GET', path, headers: accept === undefined ? {} : { accept } }, { kind: 'unknown' })
  const options = {
    requestTimeoutMs: 1000,
    pathPrefix: '',
    negotiator: createNegotiator(catalogue.names),
    draws: createDraws(systemChance),
  }
  const request = new GatewayRequest(exchange, 0, options)
  const found = createServedResources(new LiveCatalogue(catalogue)).find('', 'v1', 'configmaps')
  if (found === undefined || request.info.kind === 'path') throw new Error('ConfigMaps are served')
  const served = needsSchema === undefined ? found : withSchema(found)
  const schemas = new SchemaBudget(0)
  const hold = vi.spyOn(schemas, 'hold')
  const keys: string[] = []
  const parts: GetParts = {
    faults: undefined,
    names: catalogue.names,
    metaVersion: 'meta.orch.io/v1',
    clock: createFakeClock(),
    converter: { convert: () => Promise.reject(new Error('not to be asked')) },
    pace: new Pace(),
    representations: new RepresentationCache(1000),
    schemas,
    customResources: { shown: () => {} },
    storage: {
      async get({ key }) {
        keys.push(key)
        const value = Buffer.from(stored ?? '')
        const entry =
          stored === undefined ? {} : { entry: { key, revision: 7, value, metadataStart: 0, metadataEnd: 0, writeId: '', fingerprint } }
        return { revision: 9, epoch: 'e', ...entry }
      },
    },
  }
  const keyPrefix = `${served.resource.stored.prefix}/n/`
  await get(request, { info: request.info, served, subresource: undefined, keyPrefix }, parts)
  const { status, body } = await exchange.response
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return { status, body: Buffer.concat(chunks).toString(), keys, held: hold.mock.calls.length }
}

test('a get answers with the bytes in storage', async () => {
  expect(await asked(text)).toEqual({ status: 200, body: `${text}\n`, keys: ['core/configmaps/n/a'], held: 0 })
})

test.each([
  ['is stored as it is served', { fingerprint: presentFingerprint }, 0],
  ['was written under another schema', { fingerprint: presentFingerprint - 1 }, 1],
  ['is answered as a Table', { fingerprint: presentFingerprint, accept: 'application/json;as=Table;v=v1;g=meta.orch.io' }, 1],
] as const)('a get of an object that %s holds the schema as often as it is needed', async (_, how, held) => {
  expect(await asked(text, { ...how, needsSchema: true })).toMatchObject({ status: 200, held })
})

test('a get of an object that storage does not hold is a 404 that names it', async () => {
  const refusal = await asked(undefined).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(StatusError)
  expect(refusal).toMatchObject({ status: { code: 404, reason: 'NotFound', message: 'configmaps "a" not found' } })
})
