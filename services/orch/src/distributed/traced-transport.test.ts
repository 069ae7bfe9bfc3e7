import type { Transport, TransportRequest } from '@orch/client'
import { noTracer, type Span, type SpanOptions } from '@orch/platform'
import { expect, test } from 'vitest'
import { createTracedTransport } from './gateways.ts'

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const request = { method: 'GET', path: '/api/v1/pods?limit=5', headers: { accept: 'application/json' } }

function open(send: Transport['send']) {
  const sent: TransportRequest[] = []
  const told: string[] = []
  const transport = {
    send: (one: TransportRequest) => {
      sent.push(one)
      return send(one)
    },
    close: () => void told.push('closed'),
  }
  const tracer = {
    start(name: string, { kind, attributes }: SpanOptions): Span {
      told.push(`${kind} ${name} ${attributes?.['url.path']}`)
      return {
        traceparent,
        rename: () => {},
        attribute: (key, value) => void told.push(`${key} ${value}`),
        fail: (error) => void told.push(`failed: ${(error as Error).message}`),
        end: () => void told.push('ended'),
      }
    },
  }
  return { sent, told, transport, traced: createTracedTransport(transport, tracer) }
}

test('CARD-22: a request sends the trace context of its span to the server', async () => {
  const answer = { status: 200, headers: {}, body: (async function* () {})() }
  const { sent, told, traced } = open(async () => answer)
  expect(await traced.send(request)).toBe(answer)
  expect(sent).toEqual([{ ...request, headers: { accept: 'application/json', traceparent } }])
  expect(told).toEqual(['client GET /api/v1/pods', 'http.response.status_code 200', 'ended'])
})

test('a request without an answer fails its span', async () => {
  const { told, traced } = open(() => Promise.reject(new Error('nobody is there')))
  await expect(traced.send(request)).rejects.toThrow('nobody is there')
  expect(told.slice(1)).toEqual(['failed: nobody is there', 'ended'])
  traced.close()
  expect(told.at(-1)).toBe('closed')
})

test('a request that is not sampled is sent unchanged', async () => {
  const { sent, transport } = open(async () => ({ status: 200, headers: {}, body: (async function* () {})() }))
  await createTracedTransport(transport, noTracer).send(request)
  expect(sent[0]).toBe(request)
})
