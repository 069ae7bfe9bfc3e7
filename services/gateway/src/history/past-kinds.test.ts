import { createCatalogue } from '@orch/core/catalogue'
import type { CallContext } from '@orch/core/contracts'
import { expect, test } from 'vitest'
import { PastKinds } from './past-kinds.ts'

test('an aborted request does not fail another request for the kinds of the same revision, which are then remembered', async () => {
  const catalogue = createCatalogue('orch')
  const reads: number[] = []
  const kinds = new PastKinds({
    catalogueAt: async (revision, { signal }: CallContext) => {
      reads.push(revision)
      await new Promise((resolve) => setImmediate(resolve))
      signal?.throwIfAborted()
      return catalogue
    },
  })
  const aborted = kinds.at(7, { signal: AbortSignal.abort(new Error('aborted')) })
  const other = kinds.at(7, {})
  await expect(aborted).rejects.toThrow('aborted')
  expect((await other).catalogue).toBe(catalogue)
  expect(await kinds.at(7, {})).toBe(await kinds.at(7, {}))
  expect(reads).toEqual([7, 7])
})
