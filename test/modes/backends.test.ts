import { findBackend } from '@orch/testkit/backends'
import { expect, test } from 'vitest'

/** True in CI: a test without its program fails there and is not skipped. */
const isRequired = process.env['ORCH_TEST_BACKENDS'] === 'required'

test.for(['etcd', 'nats-server'] as const)('%s is present for the tests that need it', async (name, { skip }) => {
  const backend = await findBackend(name)
  if (backend.kind === 'missing' && !isRequired) skip(backend.reason)
  expect(backend).toMatchObject({ kind: 'found' })
})
