import { namesOf } from '@orch/core/names'
import { expect, test } from 'vitest'
import { createOwnWrites } from './own-writes.ts'

function writesThatGet(status: number) {
  const sent: string[] = []
  const writes = createOwnWrites({
    names: namesOf('orch'),
    pathPrefix: '',
    closed: new AbortController().signal,
    async send({ method, path, body }) {
      sent.push(`${method} ${path} ${body}`)
      return { status, headers: {}, body: (async function* () {})() }
    },
  })
  return { sent, patched: () => writes.patchStatus('v1.a', 7, []) }
}

test.each([
  [200, true],
  [409, false],
  [404, false],
])('AGG-09: the answer %d to a write of conditions means written: %s', async (status, isWritten) => {
  const { sent, patched } = writesThatGet(status)
  expect(await patched()).toBe(isWritten)
  const body = '{"metadata":{"resourceVersion":"7"},"status":{"conditions":[]}}'
  expect(sent).toEqual([`PATCH /apis/apiregistration.orch.io/v1/apiservices/v1.a/status ${body}`])
})

test('AGG-09: another answer to a write of conditions is an error', async () => {
  await expect(writesThatGet(500).patched()).rejects.toThrow('PATCH /apis/apiregistration.orch.io/v1/apiservices/v1.a/status: 500')
})
