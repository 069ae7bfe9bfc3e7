import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { issueAuthority } from '@orch/platform/issue'
import { expect, test } from 'vitest'
import { findPairProblem } from './key-pair.ts'

const { certificate, key } = await issueAuthority({ commonName: 'a', nowMs: 0 })
const own = createPrivateKey(key)
const other = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey
const edwards = generateKeyPairSync('ed25519').privateKey
const pemOf = (key: KeyObject, type: 'pkcs8' | 'sec1' = 'pkcs8'): string => String(key.export({ format: 'pem', type }))
const block = (type: string): string => `-----BEGIN ${type}-----\nAAAA\n-----END ${type}-----\n`

test.each<readonly [title: string, certificate: string, key: string, problem: string | undefined]>([
  ['a certificate and its key', certificate, pemOf(own), undefined],
  ['a key in the older form, after another block', certificate, block('EC PARAMETERS') + pemOf(own, 'sec1'), undefined],
  ['the key of another', certificate, pemOf(other), 'tls: private key does not match public key'],
  ['a key of another kind', certificate, pemOf(edwards), 'tls: private key type does not match public key type'],
  ['no PEM', 'x', pemOf(own), 'tls: failed to find any PEM data in certificate input'],
  ['no PEM for the key', certificate, '', 'tls: failed to find any PEM data in key input'],
  [
    'both in the wrong place',
    pemOf(own),
    certificate,
    'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched',
  ],
  ['a certificate for a key', certificate, certificate, 'tls: found a certificate rather than a key in the PEM for the private key'],
  [
    'other blocks',
    block('PUBLIC KEY'),
    '',
    'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [PUBLIC KEY]',
  ],
  [
    'other blocks for the key',
    certificate,
    block('PUBLIC KEY'),
    'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [PUBLIC KEY]',
  ],
  ['an unreadable certificate', block('CERTIFICATE'), pemOf(own), 'x509: malformed certificate'],
  ['an unreadable key', certificate, block('PRIVATE KEY'), 'tls: failed to parse private key'],
])('the warning of %s equals the warning of Go', (_title, given, givenKey, problem) => {
  expect(findPairProblem(given, givenKey)).toBe(problem)
})
