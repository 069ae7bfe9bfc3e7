import { namesOf } from '@orch/core/names'
import { expect, test } from 'vitest'
import { issueServiceAuthority } from '../tls/service-certificates.ts'
import { TlsContexts } from './contexts.ts'
import { limits } from './limits.ts'

const names = namesOf('orch')
const nowMs = Date.now()

test('calls with the same authorities and client certificate share one TLS context, and a change of either creates another', async () => {
  const [one, other] = await Promise.all([issueServiceAuthority({ names, nowMs }), issueServiceAuthority({ names, nowMs })])
  const contexts = new TlsContexts()
  const of = (authorities: string, clientCertificate?: string, clientKey?: string) =>
    contexts.of({ authorities, clientCertificate, clientKey })
  const first = of(one.certificate)
  expect(of(one.certificate)).toBe(first)
  expect(of(other.certificate)).not.toBe(first)
  expect(of(one.certificate, other.certificate, other.key)).not.toBe(first)
  expect(of(one.certificate)).toBe(first)
})

test('the least recently used contexts are dropped', async () => {
  const { certificate } = await issueServiceAuthority({ names, nowMs })
  const contexts = new TlsContexts()
  const of = (index: number) =>
    contexts.of({ authorities: `${certificate}\n# ${index}`, clientCertificate: undefined, clientKey: undefined })
  const [first, second] = [of(0), of(1)]
  for (let index = 2; index < limits.contextsMax; index++) of(index)
  of(0)
  of(limits.contextsMax)
  expect(of(0)).toBe(first)
  expect(of(1)).not.toBe(second)
})

test('a bundle without certificates is refused by name', () => {
  expect(() => new TlsContexts().of({ authorities: 'nothing', clientCertificate: undefined, clientKey: undefined })).toThrow(
    'unable to load root certificates',
  )
})
