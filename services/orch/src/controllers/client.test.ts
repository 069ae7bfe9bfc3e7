import type { Transport } from '@orch/client'
import { createMetrics } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { ClientMetrics } from './client.ts'

/** A transport to a server that answers with `send`, and the metric lines with values. */
function counted(send: Transport['send']) {
  const [metrics, clock] = [createMetrics({ process: false }), createFakeClock()]
  const transport = new ClientMetrics(metrics, clock).over({ send, close: () => undefined }, 'example:6443')
  const lines = async () => (await metrics.text()).split('\n').filter((line) => /^rest_client_\w+(_sum|_count|_total)\{/.test(line))
  return { transport, clock, lines }
}

async function* bodyOf(...parts: readonly string[]) {
  for (const part of parts) yield Buffer.from(part)
}

test('requests of clients are counted by code, method and host, with times and sizes', async () => {
  const { transport, clock, lines } = counted(async () => {
    clock.advance(250)
    return { status: 201, headers: {}, body: bodyOf('abc', 'de') }
  })
  const { status, body } = await transport.send({ method: 'POST', path: '/api', headers: {}, body: 'ü' })
  const texts: string[] = []
  for await (const part of body) texts.push(String(part))
  expect([status, texts]).toEqual([201, ['abc', 'de']])
  expect(await lines()).toEqual([
    'rest_client_requests_total{code="201",method="POST",host="example:6443"} 1',
    'rest_client_request_duration_seconds_sum{verb="POST",host="example:6443"} 0.25',
    'rest_client_request_duration_seconds_count{verb="POST",host="example:6443"} 1',
    'rest_client_request_size_bytes_sum{verb="POST",host="example:6443"} 2',
    'rest_client_request_size_bytes_count{verb="POST",host="example:6443"} 1',
    'rest_client_response_size_bytes_sum{verb="POST",host="example:6443"} 5',
    'rest_client_response_size_bytes_count{verb="POST",host="example:6443"} 1',
  ])
})

test('a request without an answer counts as an error, and still rejects', async () => {
  const { transport, lines } = counted(() => Promise.reject(new Error('refused')))
  await expect(transport.send({ method: 'GET', path: '/api', headers: {} })).rejects.toThrow('refused')
  expect(await lines()).toContain('rest_client_requests_total{code="<error>",method="GET",host="example:6443"} 1')
})

test('an abandoned body is counted up to the read bytes, and the transport’s body is abandoned, too', async () => {
  let isLeft = false
  const { transport, lines } = counted(async () => {
    const body = (async function* () {
      try {
        yield* bodyOf('abc', 'de')
      } finally {
        isLeft = true
      }
    })()
    return { status: 200, headers: {}, body }
  })
  const { body } = await transport.send({ method: 'GET', path: '/api', headers: {} })
  for await (const _part of body) break
  expect(isLeft).toBe(true)
  expect(await lines()).toContain('rest_client_response_size_bytes_sum{verb="GET",host="example:6443"} 3')
})

test('a body that is present is counted with the head of its answer, and is not read', async () => {
  const answer = { status: 200, headers: {}, body: bodyOf('unread'), whole: Buffer.from('abc') }
  const { transport, lines } = counted(async () => answer)
  expect(await transport.send({ method: 'GET', path: '/api', headers: {} })).toBe(answer)
  expect(await lines()).toContain('rest_client_response_size_bytes_sum{verb="GET",host="example:6443"} 3')
})
