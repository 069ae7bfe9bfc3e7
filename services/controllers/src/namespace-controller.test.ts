import type { Transport } from '@orch/client'
import { internal, notFound, serviceUnavailable } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { bytesOf, testContext } from './controller-testing.ts'
import { namespaceController, usualNamespaceDelayMs } from './namespace-controller.ts'

interface Answer {
  readonly status: number
  readonly value: unknown
}

const ok = (value: unknown): Answer => ({ status: 200, value })
const refused = ({ status }: { status: { code?: number } }): Answer => ({ status: status.code ?? 500, value: status })

/** Answers by method and path; those of a list are given in order, and the last one is repeated. */
type Answers = Readonly<Record<string, Answer | readonly Answer[]>>

const names = namesOf('orch')
const namespace = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'n', resourceVersion: '5', deletionTimestamp: '2026-01-01T00:00:00Z' },
  spec: { finalizers: [names.namespaceFinalizer] },
  status: { phase: 'Terminating' },
}
const resource = (name: string, kind: string) => ({ name, kind, namespaced: true, verbs: ['list', 'deletecollection'] })
const listOf = (...items: string[]) => ok({ metadata: { resourceVersion: '5' }, items: items.map((name) => ({ metadata: { name } })) })
const remaining = (metadata: object) => ok({ metadata: { resourceVersion: '5' }, items: [{ metadata: { name: 'p', ...metadata } }] })
const finalize = 'PUT /api/v1/namespaces/n/finalize'
const writeStatus = 'PUT /api/v1/namespaces/n/status'
const deleteMaps = 'DELETE /api/v1/namespaces/n/configmaps'
const listMaps = 'GET /api/v1/namespaces/n/configmaps'

const listOfNamespaces = { metadata: { resourceVersion: '5' }, items: [namespace] }

/** A namespace under deletion with two ConfigMaps and a Secret. */
const usual: Answers = {
  'GET /api/v1/namespaces': ok(listOfNamespaces),
  'GET /api/v1/namespaces/n': ok(namespace),
  'GET /apis': ok({ groups: [{ name: 'apps', preferredVersion: { version: 'v1' } }] }),
  'GET /api/v1': ok({ resources: [resource('configmaps', 'ConfigMap'), resource('secrets', 'Secret')] }),
  'GET /apis/apps/v1': ok({ resources: [] }),
  [listMaps]: [listOf('a', 'b'), listOf()],
  [deleteMaps]: ok({}),
  'GET /api/v1/namespaces/n/secrets': [listOf('s'), listOf()],
  'DELETE /api/v1/namespaces/n/secrets': ok({}),
  [writeStatus]: ok(namespace),
  [finalize]: ok(namespace),
}

/** The changes by a controller in one attempt, which ends with a write to the namespace. */
async function attempt(
  differing: Answers,
  last = writeStatus,
  isOrdered = true,
): Promise<{ changes: string[]; conditions: string[]; messages: string[] }> {
  const ending = new AbortController()
  const ended = Promise.withResolvers<void>()
  const answers: Answers = { ...usual, ...differing }
  const counts = new Map<string, number>()
  const changes: string[] = []
  const conditions: string[] = []
  const messages: string[] = []
  const send: Transport['send'] = async ({ method, path, body }) => {
    const asked = `${method} ${path.replace(/\?.*/, '')}`
    if (path.includes('watch=')) {
      await ended.promise
      return { status: 200, headers: {}, body: bytesOf({}) }
    }
    if (method !== 'GET') changes.push(asked)
    if (asked === writeStatus) {
      const { status } = JSON.parse(String(body)) as { status: { conditions: { type: string; status: string; message: string }[] } }
      const bad = status.conditions.filter(({ status: value }) => value === 'True')
      conditions.push(...bad.map(({ type }) => type))
      messages.push(...bad.map(({ message }) => message))
    }
    if (asked === last || asked.endsWith('/finalize')) queueMicrotask(() => ended.resolve())
    const count = counts.get(asked) ?? 0
    counts.set(asked, count + 1)
    const answer = [answers[asked] ?? refused(notFound({ group: '', resource: 'paths' }, asked))].flat()
    const { status, value } = answer[Math.min(count, answer.length - 1)] as Answer
    return { status, headers: {}, body: bytesOf(value) }
  }
  const running = namespaceController(0, isOrdered).run(testContext(send, { signal: ending.signal }))
  await ended.promise
  ending.abort()
  await running
  return { changes, conditions, messages }
}

test('a namespace keeps its contents for a delay, so that a client that deletes both still finds the contents', async () => {
  const clock = createFakeClock()
  const [ending, listed, begun] = [new AbortController(), Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const asked: string[] = []
  const send: Transport['send'] = async ({ method, path }) => {
    if (path.includes('watch=')) {
      listed.resolve()
      await begun.promise
      return { status: 200, headers: {}, body: bytesOf({}) }
    }
    if (path.startsWith('/api/v1/namespaces?')) return { status: 200, headers: {}, body: bytesOf(listOfNamespaces) }
    asked.push(`${method} ${path}`)
    begun.resolve()
    return { status: 404, headers: {}, body: bytesOf(notFound({ group: '', resource: 'namespaces' }, 'n').status) }
  }
  const running = namespaceController(usualNamespaceDelayMs, true).run(testContext(send, { clock, signal: ending.signal }))
  await listed.promise
  clock.advance(usualNamespaceDelayMs - 1)
  expect(asked).toEqual([])
  clock.advance(1)
  await begun.promise
  expect(asked).toEqual(['GET /api/v1/namespaces/n'])
  ending.abort()
  await running
})

test('CTRL-04: a namespace is released when its contents are deleted', async () => {
  expect(await attempt({})).toEqual({
    changes: [deleteMaps, 'DELETE /api/v1/namespaces/n/secrets', finalize],
    conditions: [],
    messages: [],
  })
})

test.each<[string, Answers]>([
  ['deleted', { [deleteMaps]: refused(internal('no disk')) }],
  ['listed', { [listMaps]: refused(internal('no disk')) }],
  ['counted after their deletion', { [listMaps]: [listOf('a'), refused(internal('no disk'))] }],
])('CTRL-04: a namespace is not released while contents cannot be %s, and its other contents are still deleted', async (_what, answers) => {
  const { changes, conditions } = await attempt(answers)
  expect(changes.filter((change) => change !== deleteMaps)).toEqual(['DELETE /api/v1/namespaces/n/secrets', writeStatus])
  expect(conditions).toEqual(['NamespaceDeletionContentFailure'])
})

test.each<[string, Answers]>([['groups', { 'GET /apis': refused(serviceUnavailable('not now')) }]])(
  'CTRL-04: a namespace is not released while the %s cannot be discovered',
  async (_what, answers) => {
    const { changes, conditions } = await attempt(answers)
    expect(changes).toEqual([writeStatus])
    expect(conditions).toEqual(['NamespaceDeletionDiscoveryFailure'])
  },
)

const staleApps = {
  kind: 'APIGroupDiscoveryList',
  items: [{ metadata: { name: 'apps' }, versions: [{ version: 'v1', resources: [], freshness: 'Stale' }] }],
}

test.each<[string, Answers]>([
  ['does not answer', { 'GET /apis/apps/v1': refused(serviceUnavailable('not now')) }],
  ['is stale', { 'GET /apis': ok(staleApps) }],
])('CTRL-04: a namespace stays while one group %s, and objects of the other groups are deleted', async (_what, answers) => {
  const { changes, conditions, messages } = await attempt(answers)
  expect(changes).toEqual([deleteMaps, 'DELETE /api/v1/namespaces/n/secrets', writeStatus])
  expect(conditions).toEqual(['NamespaceDeletionDiscoveryFailure'])
  const start = 'Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: apps/v1: '
  expect(messages[0]?.startsWith(start)).toBe(true)
})

test('CTRL-04: contents that remain without a finalizer are an error that names the contents', async () => {
  const { conditions, messages } = await attempt({ [listMaps]: listOf('a') })
  expect(conditions).toEqual(['NamespaceDeletionContentFailure', 'NamespaceContentRemaining'])
  expect(messages).toEqual([
    'Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: n for gvr: /v1, Resource=configmaps',
    'Some resources are remaining: configmaps. has 1 resource instances',
  ])
})

test('CTRL-04: a namespace that has waited gets the condition that nothing remains before it is deleted', async () => {
  const waited = { ...namespace, status: { phase: 'Terminating', conditions: [] } }
  const { changes } = await attempt({ 'GET /api/v1/namespaces/n': ok(waited), [writeStatus]: ok(waited) }, finalize)
  expect(changes.slice(-2)).toEqual([writeStatus, finalize])
})

test('CTRL-04: a namespace is not released while an object remains in it', async () => {
  const { changes, conditions } = await attempt({ [listMaps]: remaining({ finalizers: ['example.com/x'] }) })
  expect(changes).toEqual([deleteMaps, 'DELETE /api/v1/namespaces/n/secrets', writeStatus])
  expect(conditions).toEqual(['NamespaceContentRemaining', 'NamespaceFinalizersRemaining'])
})

const withPods: Answers = {
  'GET /api/v1': ok({ resources: [resource('configmaps', 'ConfigMap'), resource('pods', 'Pod')] }),
  'DELETE /api/v1/namespaces/n/pods': ok({}),
}

test('CTRL-04: pods are deleted before all other objects', async () => {
  const { changes } = await attempt({ ...withPods, 'GET /api/v1/namespaces/n/pods': [listOf('p'), listOf()] })
  expect(changes).toEqual(['DELETE /api/v1/namespaces/n/pods', deleteMaps, finalize])
})

test('MACH-DEL-03: no other objects are deleted while pods remain; without OrderedNamespaceDeletion they are, and a condition reports remaining content', async () => {
  const inGrace = remaining({ deletionTimestamp: '2999-01-01T00:00:00Z' })
  const ordered = (isOrdered: boolean) => attempt({ ...withPods, 'GET /api/v1/namespaces/n/pods': inGrace }, writeStatus, isOrdered)
  const [off, on] = [await ordered(false), await ordered(true)]
  expect(on.changes).toEqual(['DELETE /api/v1/namespaces/n/pods', writeStatus])
  expect(off.changes).toEqual(['DELETE /api/v1/namespaces/n/pods', deleteMaps, writeStatus])
  expect([off.conditions, on.conditions]).toEqual([['NamespaceContentRemaining'], []])
})

test('CTRL-04: other objects are deleted even if pods cannot be deleted', async () => {
  const answers = {
    ...withPods,
    'GET /api/v1/namespaces/n/pods': listOf('p'),
    'DELETE /api/v1/namespaces/n/pods': refused(internal('no disk')),
  }
  const { changes, conditions } = await attempt(answers)
  expect(changes).toEqual(['DELETE /api/v1/namespaces/n/pods', deleteMaps, writeStatus])
  expect(conditions).toEqual(['NamespaceDeletionContentFailure'])
})

test('CTRL-04: a namespace that is not being deleted is left unchanged', async () => {
  const live = { ...namespace, metadata: { name: 'n', resourceVersion: '6' } }
  const other = { ...namespace, metadata: { ...namespace.metadata, name: 'm' } }
  const answers: Answers = {
    'GET /api/v1/namespaces': ok({ metadata: { resourceVersion: '5' }, items: [namespace, other] }),
    // The object was recreated since it was listed.
    'GET /api/v1/namespaces/n': ok(live),
    'GET /api/v1/namespaces/m': ok(other),
    'GET /api/v1': ok({ resources: [] }),
    'PUT /api/v1/namespaces/m/finalize': ok(other),
  }
  expect(await attempt(answers)).toEqual({ changes: ['PUT /api/v1/namespaces/m/finalize'], conditions: [], messages: [] })
})
