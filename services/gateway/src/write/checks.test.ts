import type { StatusError } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { parseStructuralInSteps, StructuralReaders } from '@orch/core/structural'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { Pace } from '../request/pace.ts'
import { type CheckParts, checkMetadata, refuseEscalation, validateNew, warn } from './checks.ts'
import type { NewDraft } from './draft.ts'

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

/** The errors of a new object of 200 numbers, at this time before the deadline of its request. */
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

test('CEL-54: an evaluation ends at the deadline of its request', async () => {
  expect(await problemsOf(1)).toBe('')
  expect(await problemsOf(0)).toContain(`operation interrupted evaluating rule: ${rule}`)
})

test('an update may keep finalizers without a domain, and add only the finalizers of the server', () => {
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

function* withoutFaults() {
  yield
  return []
}

/** A draft of a kind with these rules, written by Jane, and its warnings. */
function aDraftOf(rules: object, more: { subresource?: object; live?: object } = {}) {
  const warnings: string[] = []
  const object = { apiVersion: 'g/v1', kind: 'K', metadata: { name: 'a' } }
  const request = {
    user: { name: 'jane', groups: [], uid: '', extra: {} },
    warn: (text: string) => warnings.push(text),
    deadlineMs: 60_000,
  }
  const served = {
    kind: { group: 'g', kind: 'K' },
    resource: { isNamespaced: false, readers: { validate: withoutFaults, warnings: () => ['of a value'] } },
    strategy: { behaviour: { nameKind: 'subdomain', takesBareFinalizers: true }, rules },
  }
  const target = { served, subresource: more.subresource, info: { verb: 'create', kind: 'resource' } }
  const draft = { object, body: object, live: more.live, write: { request, target } } as unknown as NewDraft
  return { warnings, draft }
}

test('a valid object may cause warnings, by its values and its kind', () => {
  const rules = { warnings: () => ['of the kind'] }
  const warned = (more: Parameters<typeof aDraftOf>[1]) => {
    const { draft, warnings } = aDraftOf(rules, more)
    void warn(draft, { names: namesOf('orch') } as CheckParts)
    return warnings
  }
  expect(warned({})).toEqual(['of a value', 'of the kind'])
  expect(warned({ live: { object: {} } })).toEqual(['of a value', 'of the kind'])
  expect(warned({ subresource: {} })).toEqual([])
})

test('AUTHZ-03: a role must not grant what its writer lacks, and a subresource or another kind grants nothing', async () => {
  const refused = async (rules: object, more = {}) => {
    const { draft } = aDraftOf(rules, more)
    const roles = new Proxy({}, { get: () => () => { throw new Error('asked') } }) // biome-ignore format: whatever is asked
    try {
      await refuseEscalation(draft, { roles, authorizers: [], names: namesOf('orch') } as unknown as CheckParts)
      return false
    } catch {
      return true
    }
  }
  expect([await refused({ grants: 'rules' }), await refused({ grants: 'rules' }, { subresource: {} }), await refused({})]).toEqual([
    true,
    false,
    false,
  ])
})

test('AUTHZ-03: a valid policy must not name parameters that its writer may not read', async () => {
  const problem = async (more = {}) => {
    const { draft } = aDraftOf({ reads: 'paramKind' }, more)
    const policy = {
      ...draft.object,
      kind: 'ValidatingAdmissionPolicy',
      apiVersion: 'admissionregistration.orch.io/v1',
      spec: { paramKind: { apiVersion: 'v1', kind: 'Secret' } },
    }
    const parts = {
      ...{ names: namesOf('orch'), isGateOn: () => false, level: 25, clock: createFakeClock(), metrics: { countRatcheting: () => {} } },
      ...{ pace: new Pace(), authorizers: [], catalogue: { findKind: () => undefined, names: namesOf('orch') } },
    }
    try {
      await validateNew({ ...draft, object: policy } as unknown as NewDraft, parts as unknown as CheckParts)
      return ''
    } catch (error) {
      return (error as StatusError).message
    }
  }
  expect(await problem()).toContain('spec.paramKind: Forbidden')
  expect(await problem({ subresource: {} })).toBe('')
})
