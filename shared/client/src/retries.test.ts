import { describe, expect, test } from 'vitest'
import { createRetryingTransport } from './retries.ts'
import type { Transport, TransportRequest, TransportResponse } from './transport.ts'

const request: TransportRequest = { method: 'POST', path: '/api/v1/namespaces', headers: {}, body: '{}' }

/** A transport with scripted answers that records the requests and which answers were read. */
function answering(...answers: readonly (readonly [status: number, retryAfter?: string])[]) {
  const sent: TransportRequest[] = []
  const read: number[] = []
  const transport: Transport = {
    async send(what): Promise<TransportResponse> {
      const [status, retryAfter] = answers[sent.length] ?? [200]
      sent.push(what)
      const body = async function* () {
        read.push(status)
        yield new TextEncoder().encode('x')
      }
      return { status, headers: { 'retry-after': retryAfter }, body: body() }
    },
    close() {},
  }
  const waits: number[] = []
  const wait = async (ms: number) => void waits.push(ms)
  return { transport: createRetryingTransport(transport, { retriesMax: 3, wait }), sent, read, waits }
}

describe('a request is sent again', () => {
  test.each([429, 500, 503, 504])('after a %d with Retry-After, when that time is over', async (status) => {
    const { transport, sent, read, waits } = answering([status, '2'], [201])
    expect((await transport.send(request)).status).toBe(201)
    expect({ sent, waits, read }).toEqual({ sent: [request, request], waits: [2000], read: [status] })
  })

  test('as often as allowed, and then the last answer counts', async () => {
    const { transport, sent, read } = answering([429, '1'], [429, '1'], [429, '1'], [429, '1'], [200])
    expect((await transport.send(request)).status).toBe(429)
    expect({ sent: sent.length, read: read.length }).toEqual({ sent: 4, read: 3 })
  })
})

describe('a request is not sent again', () => {
  test.each([
    ['where the server does not ask for it', [503]],
    ['after an answer of another kind', [409, '1']],
    ['after a success', [200, '1']],
    ['at a date', [503, 'Wed, 21 Oct 2026 07:28:00 GMT']],
  ] as const)('%s', async (_what, answer) => {
    const { transport, sent } = answering(answer as readonly [number, string?])
    expect((await transport.send(request)).status).toBe(answer[0])
    expect(sent).toHaveLength(1)
  })
})

test('aborting during the wait rejects at once', async () => {
  const ending = new AbortController()
  const transport = createRetryingTransport(
    { send: async () => ({ status: 429, headers: { 'retry-after': '1000' }, body: (async function* () {})() }), close() {} },
    { retriesMax: 1 },
  )
  const answer = transport.send({ ...request, signal: ending.signal })
  ending.abort()
  await expect(answer).rejects.toThrow('aborted')
})
