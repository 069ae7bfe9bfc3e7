import { createPrivateKey } from 'node:crypto'
import { certificateMemory } from '@orch/platform'
import { expect, test } from 'vitest'
import { keepSigningKey, signingKeyName } from './open.ts'

test('the key of tokens has a format that kube-apiserver can verify with', () => {
  const files = certificateMemory()
  const made = keepSigningKey(files)
  expect(files.read(signingKeyName)).toMatch(/^-----BEGIN EC PRIVATE KEY-----/)
  expect(keepSigningKey(files).id).toBe(made.id)
})

test('a key of tokens in the format of earlier releases stays the same key, and is written in the new format', () => {
  const files = certificateMemory()
  const made = keepSigningKey(files)
  files.write(signingKeyName, String(made.privateKey.export({ type: 'pkcs8', format: 'pem' })))
  expect(keepSigningKey(files).id).toBe(made.id)
  const kept = files.read(signingKeyName) ?? ''
  expect(kept).toMatch(/^-----BEGIN EC PRIVATE KEY-----/)
  expect(createPrivateKey(kept).equals(made.privateKey)).toBe(true)
})
