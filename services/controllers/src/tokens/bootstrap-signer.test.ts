import type { ApiObject } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { expect, test } from 'vitest'
import { decideData } from './bootstrap-signer.ts'

const names = namesOf('kubernetes')
const nowMs = Date.UTC(2026, 0, 1)

/** A bootstrap token; `data` overrides members. */
function aToken(id: string, data: Readonly<Record<string, string>> = {}, metadata: object = {}): ApiObject {
  const texts = { 'token-id': id, 'token-secret': '0123456789abcdef', 'usage-bootstrap-signing': 'true', ...data }
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'bootstrap.kubernetes.io/token',
    metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system', ...metadata },
    data: Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
  }
}

const signed = (id: string) => `jws-kubeconfig-${id}`
const signatureOf = (id: string, tokens: readonly ApiObject[], kubeconfig = 'clusters: []') =>
  decideData(aMap({ kubeconfig }), { tokens, names, nowMs })?.[signed(id)] ?? ''

function aMap(data: Readonly<Record<string, string>>): ApiObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'cluster-info', namespace: 'kube-public' }, data }
}

const token = aToken('abcdef')
const kubeconfig = 'clusters: []'
const signature = signatureOf('abcdef', [token])

test.each<[what: string, data: Record<string, string>, tokens: ApiObject[], keys: string[] | undefined]>([
  ['a token for signing', { kubeconfig }, [token], ['kubeconfig', signed('abcdef')]],
  ['a signature that it has', { kubeconfig, [signed('abcdef')]: signature }, [token], undefined],
  [
    'a signature of another text',
    { kubeconfig: 'clusters: [a]', [signed('abcdef')]: signature },
    [token],
    ['kubeconfig', signed('abcdef')],
  ],
  ['a signature of a token that is gone', { kubeconfig, [signed('abcdef')]: signature }, [], ['kubeconfig']],
  ['a token that may not sign', { kubeconfig }, [aToken('abcdef', { 'usage-bootstrap-signing': 'false' })], undefined],
  ['a token that has expired', { kubeconfig }, [aToken('abcdef', { expiration: '2025-12-31T23:59:59Z' })], undefined],
  ['a token that is being deleted', { kubeconfig }, [aToken('abcdef', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' })], undefined],
  ['nothing to sign', { other: 'x' }, [token], undefined],
])('CTRL-03: with %s the public ConfigMap gets the expected data', (_what, data, tokens, keys) => {
  const decided = decideData(aMap(data), { tokens, names, nowMs })
  expect(decided && Object.keys(decided)).toEqual(keys)
})

test('CTRL-03: the signature is a JWS without its payload', () => {
  expect(signature).toMatch(/^[\w-]+\.\.[\w-]+$/)
})
