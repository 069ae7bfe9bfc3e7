import { namesOf } from '@orch/core/names'
import { systemChance } from '@orch/platform'
import { expect, test } from 'vitest'
import { InProcessExchange } from '../exchange/in-process.ts'
import { limits } from '../limits.ts'
import { createDraws } from '../request/draws.ts'
import { createNegotiator } from '../request/negotiate.ts'
import { GatewayRequest } from '../request/request.ts'
import { PlainRefusal } from '../request/respond.ts'
import { boundInFlight, type InFlightParts } from './in-flight.ts'

function aRequest(method: string, path: string, groups: string[] = []): GatewayRequest {
  const exchange = new InProcessExchange({ method, path, headers: {} }, { kind: 'internal', name: 'u', groups })
  const request = new GatewayRequest(exchange, 0, {
    requestTimeoutMs: 60_000,
    pathPrefix: '',
    negotiator: createNegotiator(namesOf('orch')),
    draws: createDraws(systemChance),
  })
  request.user = { name: 'u', uid: '', groups, extra: {} }
  return request
}

const collection = '/api/v1/namespaces/a/pods'

function fill(): { parts: InFlightParts; requests: GatewayRequest[] } {
  const parts: InFlightParts = {
    inFlight: { readsMax: limits.readsInFlightMax, writesMax: limits.writesInFlightMax },
    state: { readsInFlight: 0, writesInFlight: 0 },
  }
  const requests = Array.from({ length: limits.readsInFlightMax }, () => aRequest('GET', collection))
  for (const request of requests) boundInFlight(request, parts)
  return { parts, requests }
}

/** The error that a call throws. */
function refusalOf(call: () => unknown): unknown {
  try {
    return call()
  } catch (error) {
    return error
  }
}

test('LIM-11: one read too many is a 429 in plain text with the time of the next try', () => {
  const { parts } = fill()
  const refusal = expect.objectContaining({
    code: 429,
    message: 'Too many requests, please try again later.',
    headers: { 'retry-after': '1' },
  })
  expect(() => boundInFlight(aRequest('GET', collection), parts)).toThrow(PlainRefusal)
  expect(refusalOf(() => boundInFlight(aRequest('GET', collection), parts))).toEqual(refusal)
})

test('LIM-11: writes are counted separately; watches and administrators are not limited', () => {
  const { parts } = fill()
  for (const request of [
    aRequest('POST', collection),
    aRequest('GET', `${collection}?watch=1`),
    aRequest('GET', collection, ['system:masters']),
  ]) {
    expect(() => boundInFlight(request, parts)).not.toThrow()
  }
  expect(parts.state.writesInFlight).toBe(1)
})

test('LIM-11: a finished request releases its place', () => {
  const { parts, requests } = fill()
  requests[0]?.leave()
  expect(() => boundInFlight(aRequest('GET', collection), parts)).not.toThrow()
})
