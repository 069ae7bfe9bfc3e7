import { createMetrics } from '@orch/platform'
import { createRefilledStore } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { createMemoryStore, createStorage } from '../../services/storage/src/index.ts'
import { aGateway, collection, configMap, withInitialEvents } from './own-gateway.ts'

/** A gateway with one ConfigMap over a storage that refills its memory until `fill` is called. */
async function aFillingGateway() {
  const inner = createMemoryStore()
  const { store, refill } = createRefilledStore(inner)
  const storage = await createStorage({ store, metrics: createMetrics({ process: false }) })
  onTestFinished(async () => {
    storage.close()
    await inner.close()
  })
  const { send } = await aGateway(undefined, withInitialEvents, storage)
  const ask = async (method: string, path: string, body?: unknown) => {
    const {
      status,
      headers,
      body: answer,
    } = await send({
      method,
      path,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    let text = ''
    for await (const chunk of answer) {
      text += Buffer.from(chunk).toString()
      // The test only reads the first event of the watch.
      if (text.includes('"type":"ADDED"')) break
    }
    return { status, retryAfter: headers['retry-after'], text }
  }
  expect((await ask('POST', collection, configMap({ x: '1' }))).status).toBe(201)
  return { ask, fill: refill() }
}

const refused = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'storage is (re)initializing',
  reason: 'TooManyRequests',
  details: { retryAfterSeconds: 1 },
  code: 429,
}

test.each([
  ['GET', `${collection}/a`],
  ['GET', collection],
  ['GET', `${collection}?limit=1`],
  ['GET', `${collection}?resourceVersion=1&resourceVersionMatch=NotOlderThan`],
  ['GET', `${collection}?watch=true`],
  ['GET', `${collection}?watch=true&resourceVersion=0`],
  ['GET', `${collection}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`],
  ['PUT', `${collection}/a`],
])('READ-15: %s %s gets 429 with Retry-After 1 while memory is loading, and an answer afterwards', async (method, path) => {
  const { ask, fill } = await aFillingGateway()
  const body = method === 'PUT' ? configMap({ x: '2' }) : undefined
  const { status, retryAfter, text } = await ask(method, path, body)
  expect({ status, retryAfter, body: JSON.parse(text) }).toEqual({ status: 429, retryAfter: '1', body: refused })
  fill()
  await new Promise((resolve) => setImmediate(resolve))
  const answer = await ask(method, path, body)
  expect({ status: answer.status, retryAfter: answer.retryAfter }).toEqual({ status: 200, retryAfter: undefined })
  expect(answer.text).toContain(method === 'PUT' ? '"x":"2"' : '"x":"1"')
})

test.each([`${collection}/a?resourceVersion=0`, `${collection}?resourceVersion=0`])(
  'READ-15: GET %s waits while memory is loading',
  async (path) => {
    const { ask, fill } = await aFillingGateway()
    let isAnswered = false
    const asking = ask('GET', path).finally(() => {
      isAnswered = true
    })
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(isAnswered).toBe(false)
    fill()
    expect(await asking).toMatchObject({ status: 200, text: expect.stringContaining('"x":"1"') })
  },
)
