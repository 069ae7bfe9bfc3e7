import type { ListPart, StorageService } from '@orch/core/contracts'
import { namesOf } from '@orch/core/names'
import { createFakeClock, createTinyStorage } from '@orch/testkit'
import { expect, test } from 'vitest'
import { warnOfPods } from './namespace-pods.ts'

interface PodFields {
  readonly name: string
  readonly owner?: string
  readonly isPrivileged?: boolean
  readonly runtimeClassName?: string
}

function aPod({ name, owner, isPrivileged = true, runtimeClassName }: PodFields) {
  const metadata = { name, ownerReferences: owner === undefined ? [] : [{ uid: owner, controller: true }] }
  const value = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata,
    spec: { containers: [{ name: 'a', securityContext: { privileged: isPrivileged } }], runtimeClassName },
  }
  return { key: name, revision: 1, value: Buffer.from(JSON.stringify(value)), metadataStart: 0, metadataEnd: 0, writeId: '' }
}

interface Setting {
  readonly pods: readonly PodFields[]
  readonly remaining?: number
  readonly remainingMs?: number
  /** The clock advances by this much at each read. */
  readonly stepMs?: number
}

function warn({ pods, remaining, remainingMs, stepMs = 0 }: Setting) {
  const clock = createFakeClock()
  async function* list(): AsyncGenerator<ListPart> {
    yield { kind: 'head', revision: 1, epoch: 'e', remaining }
    yield { kind: 'entries', entries: pods.map(aPod) }
  }
  let nowMs = 0
  return warnOfPods({
    storage: { ...createTinyStorage(), list } as unknown as StorageService,
    clock: { ...clock, monotonic: () => (nowMs += stepMs) },
    judge: { names: namesOf('orch'), level: 37 },
    namespace: 'team',
    enforce: { level: 'baseline', version: 'latest' },
    exemptRuntimeClasses: new Set(['vm']),
    remainingMs,
  })
}

const header = 'existing pods in namespace "team" violate the new PodSecurity enforce level "baseline:latest"'

test('pods that comply with the level or are exempt cause no warning', async () => {
  const pods = [
    { name: 'a', isPrivileged: false },
    { name: 'b', runtimeClassName: 'vm' },
  ]
  expect(await warn({ pods })).toEqual([])
})

test.each([
  [['a'], 'a: privileged'],
  [['a', 'b'], 'a (and 1 other pod): privileged'],
  [['a', 'b', 'c'], 'a (and 2 other pods): privileged'],
])('%j are combined in one warning with the name of one pod', async (podNames, text) => {
  expect(await warn({ pods: podNames.map((name) => ({ name })) })).toEqual([header, text])
})

test('a pod of each owner is checked before time runs out', async () => {
  const pods = [
    { name: 'a1', owner: 'a' },
    { name: 'a2', owner: 'a' },
    { name: 'a3', owner: 'a' },
    { name: 'b1', owner: 'b' },
  ]
  const warnings = await warn({ pods, stepMs: 10, remainingMs: 30 })
  expect(warnings).toEqual([
    'new PodSecurity enforce level only checked against the first 2 of 4 existing pods',
    header,
    'a1 (and 1 other pod): privileged',
  ])
})

test('the warning counts pods that were not read', async () => {
  const [warning] = await warn({ pods: [{ name: 'a' }], remaining: 5_000 })
  expect(warning).toBe('new PodSecurity enforce level only checked against the first 1 of 5001 existing pods')
})
