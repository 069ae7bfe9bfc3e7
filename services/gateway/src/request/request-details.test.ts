import { expect, test } from 'vitest'
import { limits } from '../limits.ts'
import type { GatewayRequest } from './request.ts'
import { KeptDetails } from './request-details.ts'

function aRequest(body: Uint8Array | undefined, target = '/api/v1/pods?watch=1&timeoutSeconds=5'): GatewayRequest {
  const asked = { method: 'POST', auditId: 'a', trace: undefined, exchange: { target }, contentType: 'application/json', body }
  return asked as unknown as GatewayRequest
}

test('all bodies together have a bound, and the oldest are dropped first', () => {
  const details = new KeptDetails()
  const count = limits.loggedBodiesBytesMax / limits.loggedBodyBytesMax + 10
  for (let id = 1; id <= count; id++) details.note(id, aRequest(new Uint8Array(limits.loggedBodyBytesMax)))
  expect(details.bytes).toBe(limits.loggedBodiesBytesMax)
  expect([details.find(10)?.body, details.find(11)?.body?.length]).toEqual([undefined, limits.loggedBodyBytesMax])
  expect(details.find(10)?.bodyBytes).toBe(limits.loggedBodyBytesMax)
  details.clear()
  expect([details.bytes, details.find(count)]).toEqual([0, undefined])
})

test('a body is kept as a copy, unless it is larger than the bound', () => {
  const details = new KeptDetails()
  const pool = new Uint8Array(10_000)
  details.note(1, aRequest(pool.subarray(10, 20)))
  details.note(2, aRequest(new Uint8Array(limits.loggedBodyBytesMax + 1)))
  details.note(3, aRequest(undefined))
  expect(details.find(1)?.body?.buffer.byteLength).toBe(10)
  expect(details.find(2)).toMatchObject({ body: undefined, bodyBytes: limits.loggedBodyBytesMax + 1 })
  expect(details.find(3)).toMatchObject({ query: 'watch=1&timeoutSeconds=5', bodyBytes: 0, body: undefined })
})

test('details are kept for as many requests as the log has lines', () => {
  const details = new KeptDetails()
  for (let id = 1; id <= limits.loggedRequestsMax + 5; id++) details.note(id, aRequest(undefined, `/api?${'x'.repeat(2_000)}`))
  expect([details.find(5), details.find(6)?.query.length]).toEqual([undefined, limits.loggedTextMax])
})
