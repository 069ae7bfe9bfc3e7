import { createCatalogue } from '@orch/core/catalogue'
import { StatusError } from '@orch/core/meta'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { LiveCatalogue } from '../custom-resources/live-catalogue.ts'
import { SchemaBudget } from '../custom-resources/schema-budget.ts'
import { InProcessExchange } from '../exchange/in-process.ts'
import { createNegotiator } from '../negotiate.ts'
import { Pace } from '../pace.ts'
import { RepresentationCache } from '../representations/representation-cache.ts'
import { GatewayRequest } from '../request.ts'
import { createServedResources } from '../target.ts'
import { type GetParts, get } from './get.ts'

const catalogue = createCatalogue('orch')
const path = '/api/v1/namespaces/n/configmaps/a'
const text = '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","resourceVersion":"7"},"data":{"x":"1"}}'

/** Asks for the object, of which storage holds this text; returns the answer and the keys that storage was asked for. */
async function asked(stored: string | undefined) {
  const exchange = new InProcessExchange({ method: 'GET', path, headers: {} }, { kind: 'unknown' })
  const options = { requestTimeoutMs: 1000, pathPrefix: '', negotiator: createNegotiator(catalogue.names) }
  const request = new GatewayRequest(exchange, 0, options)
  const served = createServedResources(new LiveCatalogue(catalogue)).find('', 'v1', 'configmaps')
  if (served === undefined || request.info.kind === 'path') throw new Error('ConfigMaps are served')
  const keys: string[] = []
  const parts: GetParts = {
    names: catalogue.names,
    metaVersion: 'meta.orch.io/v1',
    clock: createFakeClock(),
    converter: { convert: () => Promise.reject(new Error('not to be asked')) },
    pace: new Pace(),
    representations: new RepresentationCache(1000),
    schemas: new SchemaBudget(0),
    customResources: { shown: () => {} },
    storage: {
      async get({ key }) {
        keys.push(key)
        const value = Buffer.from(stored ?? '')
        const entry = stored === undefined ? {} : { entry: { key, revision: 7, value, metadataStart: 0, metadataEnd: 0, writeId: '' } }
        return { revision: 9, epoch: 'e', ...entry }
      },
    },
  }
  const keyPrefix = `${served.resource.stored.prefix}/n/`
  await get(request, { info: request.info, served, subresource: undefined, keyPrefix }, parts)
  const { status, body } = await exchange.response
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return { status, body: Buffer.concat(chunks).toString(), keys }
}

test('a get answers the bytes that storage holds', async () => {
  expect(await asked(text)).toEqual({ status: 200, body: `${text}\n`, keys: ['core/configmaps/n/a'] })
})

test('a get of an object that storage does not hold is a 404 that names it', async () => {
  const refusal = await asked(undefined).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(StatusError)
  expect(refusal).toMatchObject({ status: { code: 404, reason: 'NotFound', message: 'configmaps "a" not found' } })
})
