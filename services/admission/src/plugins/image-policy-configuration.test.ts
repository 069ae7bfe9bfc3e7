import { namesOf } from '@orch/core/names'
import { expect, test } from 'vitest'
import { readImagePolicy } from './image-policy-configuration.ts'

const names = namesOf('orch')
const read = (imagePolicy: unknown) => readImagePolicy({ value: { imagePolicy }, file: '/etc/a/admission.yaml' }, names)
const file = { orchConfigFile: 'images.kubeconfig' }

test('absent values get defaults, and a relative path of the file starts at the configuration', () => {
  expect(read(file)).toEqual({
    clientConfigFile: '/etc/a/images.kubeconfig',
    allowTtlMs: 300_000,
    denyTtlMs: 30_000,
    retryBackoffMs: 500,
    defaultAllow: false,
  })
})

test('durations are in seconds, except for the retry backoff in milliseconds; -1 disables', () => {
  const policy = read({ ...file, allowTTL: 50, denyTTL: -1, retryBackoff: 20, defaultAllow: true })
  expect(policy).toMatchObject({ allowTtlMs: 50_000, denyTtlMs: 0, retryBackoffMs: 20, defaultAllow: true })
})

test('each profile has its own key for the file', () => {
  const kubernetes = namesOf('kubernetes')
  expect(readImagePolicy({ value: { imagePolicy: { kubeConfigFile: '/b/k' } }, file: 'a' }, kubernetes).clientConfigFile).toBe('/b/k')
})

test.each([
  [undefined, /imagePolicy: expected the fields of ImagePolicyWebhook$/],
  [{}, /imagePolicy\.orchConfigFile: expected the name of a client configuration file$/],
  [{ ...file, kubeConfigFile: 'x' }, /imagePolicy\.kubeConfigFile: there is no such field; expected some of orchConfigFile, /],
  [{ ...file, allowTTL: 1_801 }, /imagePolicy\.allowTTL: expected a whole number from 1 to 1800, 0 for 300, or -1 for none$/],
  [{ ...file, retryBackoff: 0.5 }, /imagePolicy\.retryBackoff: expected a whole number from 1 to 300000, 0 for 500, or -1 for none$/],
  [{ ...file, defaultAllow: 'yes' }, /imagePolicy\.defaultAllow: expected true or false$/],
])('%j is refused with its path and the expected value', (policy, message) => {
  expect(() => read(policy)).toThrow(message)
})
