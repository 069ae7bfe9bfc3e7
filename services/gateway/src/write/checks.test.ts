import type { StatusError } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { parseStructuralInSteps, StructuralReaders } from '@orch/core/structural'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { Pace } from '../request/pace.ts'
import { checkMetadata, validateNew } from './checks.ts'

const rule = 'self.spec.all(x, x >= 0)'
const readers = new StructuralReaders({
  version: 'v1',
  schema: () =>
    parseStructuralInSteps({
      type: 'object',
      properties: { spec: { type: 'array', items: { type: 'integer' } } },
      'x-kubernetes-validations': [{ rule }],
    }),
  columns: [],
  selectable: [],
  scale: undefined,
  openApi: () => ({ kind: 'described', type: 'meta/v1.ObjectMeta' }),
})

/** The errors of a new object of 200 numbers, so long before the deadline of its request. */
async function problemsOf(remainingMs: number): Promise<string> {
  const clock = createFakeClock()
  const object = { apiVersion: 'g/v1', kind: 'K', metadata: { name: 'a' }, spec: Array.from({ length: 200 }, (_, index) => index) }
  const request = { isLarge: false, deadlineMs: clock.monotonic() + remainingMs, warn: () => {} }
  const served = {
    kind: { group: 'g', kind: 'K' },
    resource: { isNamespaced: false, readers },
    strategy: { behaviour: { nameKind: 'subdomain', takesBareFinalizers: true }, rules: {} },
  }
  const draft = { object, body: object, write: { request, target: { served } } }
  const parts = {
    names: namesOf('kubernetes'),
    isGateOn: () => false,
    level: 25,
    clock,
    metrics: { countRatcheting: () => {} },
    pace: new Pace(),
  }
  try {
    await validateNew(draft as never, parts as never)
    return ''
  } catch (error) {
    return (error as StatusError).message
  }
}

test('CEL-54: an evaluation ends where its request has no time left', async () => {
  expect(await problemsOf(1)).toBe('')
  expect(await problemsOf(0)).toContain(`operation interrupted evaluating rule: ${rule}`)
})

test('an update keeps the object’s finalizers without a domain, and adds none but those of the server', () => {
  const names = namesOf('kubernetes')
  const faults = (finalizers: string[], takesBareFinalizers = false) => {
    const metadata = { name: 'a', uid: 'u', resourceVersion: '1', finalizers: ['old'] }
    const given = { metadata: { ...metadata, finalizers } }
    const draft = {
      given,
      object: given,
      live: { object: { metadata } },
      write: { target: { served: { strategy: { behaviour: { takesBareFinalizers } } } } },
      errors: [] as { field: string; message: string }[],
    }
    checkMetadata(draft as never, { names } as never)
    return draft.errors.map(({ field }) => field)
  }
  for (const own of ['orphan', 'foregroundDeletion', names.namespaceFinalizer]) expect(faults(['old', own, 'example.com/a'])).toEqual([])
  expect(faults(['old', 'new'])).toEqual([expect.stringMatching(/^metadata\.finalizers/)])
  expect(faults(['old', 'new'], true)).toEqual([])
})
