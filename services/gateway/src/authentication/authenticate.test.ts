import type { User } from '@orch/core/contracts'
import { namesOf } from '@orch/core/names'
import { createMetrics, silentLog, systemChance } from '@orch/platform'
import { describe, expect, test } from 'vitest'
import type { Peer } from '../exchange/exchange.ts'
import { InProcessExchange } from '../exchange/in-process.ts'
import { createDraws } from '../request/draws.ts'
import { createNegotiator } from '../request/negotiate.ts'
import { GatewayRequest } from '../request/request.ts'
import { authenticate, certificatesAlone, createAuthenticators } from './authenticators.ts'
import { createAttemptMetrics } from './metrics.ts'

const nowMs = Date.UTC(2026, 0, 1)

interface Asking {
  readonly peer?: Peer
  readonly path?: string
  readonly headers?: Record<string, string>
  readonly anonymousAuth?: boolean
  readonly level?: number
}

/** The authenticated user of a request. */
function userOf(asking: Asking): User {
  return authenticated(asking).user
}

function authenticated(
  { peer = { kind: 'unknown' }, path = '/api/v1/pods', headers = {}, anonymousAuth = false, level = 25 }: Asking,
  request = aRequest({ peer, path, headers }),
): GatewayRequest {
  const parts = {
    clock: { now: () => nowMs, monotonic: () => 0 },
    log: silentLog,
    anonymousAuth: { isAllowed: () => anonymousAuth },
    authentication: createAuthenticators(
      certificatesAlone({ names: namesOf('orch'), level, isGateOn: () => level >= 33 }),
      namesOf('orch'),
    ),
    attempts: createAttemptMetrics(createMetrics({ process: false })),
  }
  authenticate(request, parts)
  return request
}

function aRequest({ peer = { kind: 'unknown' }, path = '/', headers = {} }: Asking): GatewayRequest {
  return new GatewayRequest(new InProcessExchange({ method: 'GET', path, headers }, peer), 0, {
    requestTimeoutMs: 60_000,
    pathPrefix: '',
    negotiator: createNegotiator(namesOf('orch')),
    draws: createDraws(systemChance),
  })
}

/** The error that a call throws. */
function errorOf(call: () => unknown): unknown {
  try {
    return call()
  } catch (error) {
    return error
  }
}

const refused = expect.objectContaining({ code: 401, message: 'Unauthorized' })

const certificate = {
  kind: 'certificate',
  commonName: 'jane',
  organizations: ['dev', 'ops', 'dev'],
  sha256: 'ab12',
  expiresMs: nowMs + 1,
} as const

describe('certificates', () => {
  test('AUTHN-CERT-02, AUTHN-CERT-03, AUTHN-GEN-01: the common name is the user, each organization a group', () => {
    expect(userOf({ peer: certificate })).toEqual({ name: 'jane', uid: '', groups: ['dev', 'ops', 'system:authenticated'], extra: {} })
  })

  test('MACH-ID-01: the user has the fingerprint of the certificate from level 1.32 on', () => {
    expect(userOf({ peer: { ...certificate }, level: 31 }).extra).toEqual({})
    expect(userOf({ peer: { ...certificate }, level: 32 }).extra).toEqual({ 'authentication.orch.io/credential-id': ['X509SHA256=ab12'] })
  })

  test('the user has the uid of the certificate, which must be one text, unless AllowParsingUserUIDFromCertAuth is off', () => {
    const withUids = (...uids: readonly string[]) => ({ peer: { ...certificate, uids }, level: 33 })
    expect(userOf(withUids('u1')).uid).toBe('u1')
    expect(userOf({ ...withUids('u1'), level: 32 }).uid).toBe('')
    for (const uids of [['u1', 'u2'], ['']]) expect(errorOf(() => userOf(withUids(...uids)))).toEqual(refused)
  })

  test('AUTHN-CERT-04: a certificate that does not verify, or has expired since the connection was opened, is refused', () => {
    for (const anonymousAuth of [false, true]) {
      expect(errorOf(() => userOf({ peer: { kind: 'untrusted', reason: 'unknown authority' }, anonymousAuth }))).toEqual(refused)
      expect(errorOf(() => userOf({ peer: { ...certificate, expiresMs: nowMs }, anonymousAuth }))).toEqual(refused)
    }
  })
})

test('a request counts for a user once it is authenticated, and a refused request never does', () => {
  expect([authenticated({ peer: certificate }).isKnown, authenticated({ anonymousAuth: true }).isKnown]).toEqual([true, true])
  const stranger = aRequest({})
  expect(stranger.isKnown).toBe(false)
  expect(errorOf(() => authenticated({}, stranger))).toEqual(refused)
  expect(stranger.isKnown).toBe(false)
})

describe('requests without credentials', () => {
  const anonymous = { name: 'system:anonymous', uid: '', groups: ['system:unauthenticated'], extra: {} }

  test('AUTHN-ANON-01, AUTHN-ANON-02, AUTHN-ANON-03: are from system:anonymous in system:unauthenticated if that is allowed', () => {
    expect(userOf({ anonymousAuth: true })).toEqual(anonymous)
  })

  test('AUTHN-ANON-05: are refused if anonymous requests are not allowed', () => {
    expect(errorOf(() => userOf({}))).toEqual(refused)
  })

  test.each(['/livez', '/readyz', '/healthz', '/version', '/metrics', '/', '/openapi/v2'])(
    'AUTHN-ANON-05: may not read %s either if anonymous requests are not allowed',
    (path) => {
      expect(errorOf(() => userOf({ path }))).toEqual(refused)
      expect(userOf({ path, anonymousAuth: true })).toEqual(anonymous)
    },
  )

  test('AUTHN-ANON-04: with an unknown token are refused, on an open path too', () => {
    const headers = { authorization: 'Bearer nonsense' }
    expect(errorOf(() => userOf({ headers, anonymousAuth: true }))).toEqual(refused)
    expect(errorOf(() => userOf({ headers, path: '/livez' }))).toEqual(refused)
  })
})
