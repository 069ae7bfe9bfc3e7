import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApiObject } from '@orch/core/meta'
import { virtualClock } from '@orch/platform'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type RunningServer, start } from './start.ts'
import type { HistoryOption } from './start-settings.ts'

let server: RunningServer

beforeAll(async () => {
  server = await start({ profile: 'kubernetes' })
})
afterAll(() => server.stop())

const configMap = (name: string, data: Record<string, string>): ApiObject & { readonly data: unknown } => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
})

interface TimelineDocument {
  readonly kind: 'Timeline'
  readonly revision: string
  readonly oldest: string
  readonly next?: string
  readonly items: readonly {
    readonly revision: string
    readonly time: string
    readonly event: string
    readonly name: string
    readonly user?: string
    readonly request?: string
    readonly changed: readonly string[]
    readonly managers: readonly string[]
    readonly before?: { readonly data: unknown }
    readonly after?: { readonly data: unknown }
  }[]
}

const read = <T = TimelineDocument>(path: string, client = server.client) => client.request<T>({ method: 'GET', path })
const pathOf = (name: string) => `/api/v1/namespaces/default/configmaps/${name}`

/** A ConfigMap that is created with `x: 1`, changed to `x: 2` and deleted; returns the three revisions. */
async function aLife(name: string, client = server.client): Promise<[number, number, number]> {
  const created = await client.objects.create(configMap(name, { x: '1' }))
  const changed = await client.objects.update({ ...configMap(name, { x: '2' }), metadata: created.metadata })
  await client.objects.delete({ apiVersion: 'v1', kind: 'ConfigMap', name, namespace: 'default' })
  const { items } = await read(`/orch/v1/timeline?resource=configmaps&namespace=default&name=${name}&limit=1`)
  return [created.metadata.resourceVersion, changed.metadata.resourceVersion, items[0]?.revision].map(Number) as [number, number, number]
}

describe('the timeline', () => {
  test('of an object has each of its changes with revision, time, user, manager and changed paths, newest first', async () => {
    const operator = server.user('operator')
    const before = Date.now()
    const [created, changed, deleted] = await aLife('timeline-one', operator.client)
    const { items, kind, revision } = await read('/orch/v1/timeline?resource=configmaps&namespace=default&name=timeline-one')
    expect(kind).toBe('Timeline')
    expect(Number(revision)).toBeGreaterThanOrEqual(deleted)
    expect(items.map(({ event, revision, changed }) => [event, Number(revision), changed])).toEqual([
      ['deleted', deleted, []],
      ['modified', changed, ['data.x']],
      ['created', created, []],
    ])
    for (const { user, time, request } of items) {
      expect(user).toBe('operator')
      expect(Date.parse(time)).toBeGreaterThanOrEqual(before - 1)
      expect(request).toMatch(/^[0-9a-f-]{36}$/)
    }
    expect(items.map(({ managers }) => managers.length)).toEqual([0, 1, 1])
    expect(items.some((item) => 'before' in item || 'after' in item)).toBe(false)
  })

  test('has the objects before and after each change if values are requested', async () => {
    await aLife('timeline-values')
    const { items } = await read('/orch/v1/timeline?resource=configmaps&namespace=default&name=timeline-values&values=true')
    expect(items.map(({ before, after }) => [before?.data, after?.data])).toEqual([
      [{ x: '2' }, undefined],
      [{ x: '1' }, { x: '2' }],
      [undefined, { x: '1' }],
    ])
  })

  test('of all objects is read in pages, and may begin at a revision', async () => {
    const [created, changed, deleted] = await aLife('timeline-pages')
    const first = await read(`/orch/v1/timeline?resource=configmaps&limit=2&after=${created - 1}`)
    expect(first.items.map(({ revision }) => Number(revision))).toEqual([deleted, changed])
    expect(first.next).toBe(String(changed))
    const second = await read(`/orch/v1/timeline?resource=configmaps&limit=2&after=${created - 1}&before=${first.next}`)
    expect(second.items.map(({ revision }) => Number(revision))).toEqual([created])
    expect(second.next).toBeUndefined()
    const all = await read(`/orch/v1/timeline?after=${created - 1}`)
    expect(all.items.filter(({ name }) => name === 'timeline-pages')).toHaveLength(3)
  })

  test('needs a separate permission, and shows only changes of objects that the reader may get', async () => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'hidden', namespace: 'default' }, stringData: { a: 'b' } }
    await server.client.objects.create(secret)
    const { client: stranger } = server.user('stranger', { rules: [{ apiGroups: [''], resources: ['*'], verbs: ['get'] }] })
    await expect(read('/orch/v1/timeline', stranger)).rejects.toMatchObject({ code: 403 })
    const { client: reader } = server.user('reader', {
      rules: [
        { nonResourceURLs: ['/orch/v1/timeline'], verbs: ['get'] },
        { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] },
      ],
    })
    expect((await read('/orch/v1/timeline?resource=secrets', reader)).items).toEqual([])
    expect((await read('/orch/v1/timeline?resource=secrets')).items).toHaveLength(1)
    expect((await read('/orch/v1/timeline?resource=configmaps', reader)).items.length).toBeGreaterThan(0)
  })

  test.each<[string, string]>([
    ['resource=nothings', 'resource: nothings: is not served'],
    ['name=a', 'name: needs a resource'],
    ['resource=configmaps&name=a', 'name: needs a namespace, since configmaps are in namespaces'],
    ['resource=nodes&namespace=a', 'namespace: nodes are in no namespace'],
    ['limit=0', 'limit: must be a whole number from 1 to 1000'],
    ['values=yes', 'values: yes: must be true, false or redacted'],
    ['colour=red', 'colour: unknown parameter'],
  ])('refuses %s with a 400', async (query, message) => {
    await expect(read(`/orch/v1/timeline?${query}`)).rejects.toMatchObject({ code: 400, message: expect.stringContaining(message) })
  })
})

describe('a past state', () => {
  test('is read below /at/ with a revision: objects, pages of lists and discovery', async () => {
    const [created, changed, deleted] = await aLife('past')
    expect(await read(`/at/${created}${pathOf('past')}`)).toMatchObject({ data: { x: '1' } })
    expect(await read(`/at/${changed}${pathOf('past')}`)).toMatchObject({ data: { x: '2' } })
    await expect(read(`/at/${deleted}${pathOf('past')}`)).rejects.toMatchObject({ code: 404 })
    await expect(read(`/at/${created - 1}${pathOf('past')}`)).rejects.toMatchObject({ code: 404 })
    interface List {
      readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
      readonly items: readonly { readonly metadata: { readonly name: string } }[]
    }
    const list = `/at/${created}/api/v1/configmaps`
    const { metadata, items } = await read<List>(list)
    expect(metadata.resourceVersion).toBe(String(created))
    const page = await read<List>(`${list}?limit=1`)
    const rest = await read<List>(`${list}?limit=500&continue=${page.metadata.continue}`)
    expect([...page.items, ...rest.items]).toEqual(items)
    expect(items.map((item) => item.metadata.name)).toContain('past')
    expect(await read(`/at/${created}/api/v1`)).toMatchObject({ kind: 'APIResourceList' })
  })

  test('has the kinds of its moment: discovery, OpenAPI and objects of a definition that is deleted later', async () => {
    const { client } = server
    const names = { plural: 'relics', kind: 'Relic' }
    const schema = { openAPIV3Schema: { type: 'object', properties: { age: { type: 'integer' } } } }
    const definition = await client.objects.create({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'relics.example.com' },
      spec: { group: 'example.com', scope: 'Cluster', names, versions: [{ name: 'v1', served: true, storage: true, schema }] },
    } as ApiObject)
    const relic = await client.objects.create({ apiVersion: 'example.com/v1', kind: 'Relic', metadata: { name: 'a' }, age: 3 } as ApiObject)
    const definitions = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions', namespaced: false }
    await client.resource(definitions).delete('relics.example.com')
    await expect.poll(() => read('/apis/example.com/v1').catch(({ code }) => code), { timeout: 60_000 }).toBe(404)
    const then = `/at/${relic.metadata.resourceVersion}`
    expect(await read(`${then}/apis/example.com/v1`)).toMatchObject({ resources: [{ name: 'relics' }] })
    expect(await read(`${then}/apis/example.com/v1/relics/a`)).toMatchObject({ kind: 'Relic', age: 3 })
    expect(await read(`${then}/openapi/v3/apis/example.com/v1`)).toMatchObject({ components: expect.anything() })
    await expect(
      server.at(Number(relic.metadata.resourceVersion)).list({ apiVersion: 'example.com/v1', kind: 'Relic' }),
    ).resolves.toHaveLength(1)
    const before = `/at/${Number(definition.metadata.resourceVersion) - 1}`
    for (const path of ['/apis/example.com/v1', '/apis/example.com/v1/relics', '/openapi/v3/apis/example.com/v1'])
      await expect(read(`${before}${path}`)).rejects.toMatchObject({ code: 404 })
  })

  test('is read by time', async () => {
    const [, changed] = await aLife('past-time')
    const { items } = await read('/orch/v1/timeline?resource=configmaps&namespace=default&name=past-time')
    const at = items.find(({ revision }) => Number(revision) === changed)?.time
    const { metadata } = await read<{ metadata: { resourceVersion: string } }>(`/at/${at}/api/v1/configmaps`)
    expect(Number(metadata.resourceVersion)).toBeGreaterThanOrEqual(changed)
  })

  test('refuses writes and reads of kinds that are not stored with a 405', async () => {
    const { revision } = await read('/orch/v1/timeline?limit=1')
    const write = server.client.request({
      method: 'POST',
      path: `/at/${revision}/api/v1/namespaces/default/configmaps`,
      body: configMap('no', {}),
    })
    await expect(write).rejects.toMatchObject({
      code: 405,
      reason: 'MethodNotAllowed',
      message: `the state at ${revision} is of the past and read-only: POST is not possible`,
    })
    const log = read(`/at/${revision}/api/v1/namespaces/default/pods/a/log`)
    await expect(log).rejects.toMatchObject({ code: 405, message: expect.stringContaining('log is not part of what is stored') })
  })

  test('is subject to the usual authorization', async () => {
    const { revision } = await read('/orch/v1/timeline?limit=1')
    const { client } = server.user('past-stranger', { rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }] })
    await expect(read(`/at/${revision}/api/v1/secrets`, client)).rejects.toMatchObject({ code: 403 })
    expect(await read(`/at/${revision}/api/v1/configmaps`, client)).toMatchObject({ kind: 'ConfigMapList' })
  })

  test.each(['0', 'yesterday', '2026-13-01T00:00:00Z', '-1'])('named %s is a 400', async (moment) => {
    await expect(read(`/at/${moment}/api/v1/pods`)).rejects.toMatchObject({
      code: 400,
      message: expect.stringContaining(`/at/${moment}: expected a revision from 1 on`),
    })
  })

  test('in the future is a 400 that names the newest revision, for objects, lists and discovery', async () => {
    const refused = { code: 400, message: expect.stringMatching(/^the state at 99999999 is in the future: the newest revision is \d+$/) }
    for (const path of [pathOf('a'), '/api/v1/configmaps', '/api', '/apis', '/openapi/v3']) {
      await expect(read(`/at/99999999${path}`)).rejects.toMatchObject(refused)
    }
  })

  test('that is refused has its reason as a warning in discovery, as clients hide errors there', async () => {
    const send = (path: string) => server.client.transport.send({ method: 'GET', path, headers: {} })
    const warningOf = async (path: string) => (await send(path)).headers['warning']
    expect(await warningOf('/at/yesterday/api')).toBe(
      '299 - "/at/yesterday: expected a revision from 1 on, or a time such as 2026-11-29T10:00:00Z, for a state of the past"',
    )
    expect(await warningOf('/at/99999999/apis')).toMatch(/^299 - "the state at 99999999 is in the future: /)
    expect(await warningOf('/at/yesterday/api/v1/configmaps')).toBeUndefined()
    expect(await warningOf('/no-such-path')).toBeUndefined()
  })

  test('is replayed by a watch: first the state, then the later changes', async () => {
    const { client } = server
    const created = await client.objects.create(configMap('replayed', { x: '1' }))
    await client.objects.update({ ...configMap('replayed', { x: '2' }), metadata: created.metadata })
    const at = created.metadata.resourceVersion
    const path = `/at/${at}/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=0&fieldSelector=metadata.name%3Dreplayed`
    const response = await client.transport.send({ method: 'GET', path, headers: {} })
    const seen: string[] = []
    let text = ''
    for await (const chunk of response.body) {
      text += Buffer.from(chunk).toString()
      const lines = text.split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) {
        const { type, object } = JSON.parse(line)
        seen.push(`${type} ${object.data?.x}`)
      }
      if (seen.length >= 2) break
    }
    expect(seen).toEqual(['ADDED 1', 'MODIFIED 2'])
  })
})

test('a reset keeps the history: earlier states can be read, and the timeline includes changes before the reset', async () => {
  await using own = await server.fork()
  const created = await own.client.objects.create(configMap('before-reset', { x: '1' }))
  await own.reset()
  const at = created.metadata.resourceVersion
  expect(await read(`/at/${at}${pathOf('before-reset')}`, own.client)).toMatchObject({ data: { x: '1' } })
  const { items } = await read('/orch/v1/timeline?resource=configmaps&namespace=default&name=before-reset', own.client)
  expect(items.map(({ event }) => event)).toEqual(['deleted', 'created'])
  expect(await read(`/at/${at}/api/v1/configmaps`, own.client)).toMatchObject({ metadata: { resourceVersion: at } })
})

describe('in a test', () => {
  const named = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name })

  test('server.at() reads the state at a revision or a time', async () => {
    const [created, changed, deleted] = await aLife('code-at')
    const past = server.at(created)
    expect(past.url).toBe(`${server.url}/at/${created}`)
    expect(await past.get(named('code-at'))).toMatchObject({ data: { x: '1' } })
    const listed = await server.at(changed).list({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default' })
    expect(listed.find(({ metadata }) => metadata.name === 'code-at')).toMatchObject({ data: { x: '2' } })
    await expect(server.at(deleted).get(named('code-at'))).rejects.toMatchObject({ code: 404 })
    await expect(past.client.objects.create(configMap('no', {}))).rejects.toMatchObject({ code: 405 })
    const [, second] = await server.timeline(named('code-at'))
    expect(second?.revision).toBe(changed)
    expect(await server.at(second?.time ?? new Date()).list({ apiVersion: 'v1', kind: 'ConfigMap' })).not.toEqual([])
  })

  test('server.timeline() has the changes of an object, oldest first, with the object before and after each', async () => {
    const revisions = await aLife('code-timeline')
    const changes = await server.timeline(named('code-timeline'))
    expect(changes.map(({ revision }) => revision)).toEqual(revisions)
    expect(changes.map(({ event, changed }) => [event, changed])).toEqual([
      ['created', []],
      ['modified', ['data.x']],
      ['deleted', []],
    ])
    expect(changes[1]).toMatchObject({ before: { data: { x: '1' } }, after: { data: { x: '2' } } })
    expect(changes[0]?.time).toBeInstanceOf(Date)
    const newest = await server.timeline(undefined, { after: (revisions[0] ?? 0) - 1, limit: 2 })
    expect(newest.map(({ revision }) => revision)).toEqual(revisions.slice(1))
  })

  test('server.diff() has the objects that differ between two revisions, in either direction', async () => {
    const before = await server.client.objects.create(configMap('diff-a', { x: '1' }))
    const from = Number(before.metadata.resourceVersion)
    await server.client.objects.update({ ...configMap('diff-a', { x: '2' }), metadata: before.metadata })
    const [, , deleted] = await aLife('diff-gone')
    const last = await server.client.objects.create(configMap('diff-b', {}))
    const to = Number(last.metadata.resourceVersion)
    expect(deleted).toBeLessThan(to)
    const shown = async (a: number, b: number) =>
      (await server.diff(a, b)).map(({ event, name, before, after }) => [event, name, before?.metadata.name, after?.metadata.name])
    expect(await shown(from, to)).toEqual(
      [
        ['created', 'diff-b', undefined, 'diff-b'],
        ['modified', 'diff-a', 'diff-a', 'diff-a'],
      ].reverse(),
    )
    expect((await server.diff(to, from)).map(({ event, name }) => [event, name])).toEqual([
      ['modified', 'diff-a'],
      ['deleted', 'diff-b'],
    ])
    expect(await shown(to, to)).toEqual([])
  })

  test('server.diff() refuses a value other than a revision or a time', async () => {
    await expect(server.diff(Number.NaN, 5)).rejects.toThrow('expected a revision or a time, got NaN')
    await expect(server.diff(1, new Date('soon'))).rejects.toThrow('expected a revision or a time, got Invalid Date')
  })

  test('server.diff() names all objects of more than one page of changes', async () => {
    const from = server.snapshot().revision
    const names = Array.from({ length: 1_001 }, (_, index) => `paged-${index}`)
    const folder = mkdtempSync(join(tmpdir(), 'history-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'objects.json')
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: names.map((name) => configMap(name, {})) }))
    await server.load(file)
    const differences = await server.diff(from, server.snapshot().revision + 1_000)
    expect(differences.map(({ name }) => name)).toEqual(names)
  })

  test.each<[string, HistoryOption]>([
    ['soon', 'soon'],
    ['0s', '0s'],
    ['no bytes', { bytes: 0 }],
  ])('start({ history }) refuses %s', async (_what, history) => {
    await expect(start({ history })).rejects.toThrow("must be 'all', a time such as '5m', or { bytes } above 0")
  })
})

test('start({ history }) keeps changes of any age by default, and with a time the changes of that age', async () => {
  const clocks = [virtualClock(), virtualClock()] as const
  await using all = await start({ profile: 'kubernetes', clock: clocks[0] })
  await using short = await start({ profile: 'kubernetes', clock: clocks[1], history: '5m' })
  const events: string[][] = []
  for (const [index, own] of [all, short].entries()) {
    const made = await own.client.objects.create(configMap('old', { x: '1' }))
    await clocks[index]?.advance('1h')
    await own.client.objects.update({ ...configMap('old', { x: '2' }), metadata: made.metadata })
    events.push((await own.timeline({ apiVersion: 'v1', kind: 'ConfigMap', name: 'old' })).map(({ event }) => event))
  }
  expect(events).toEqual([['created', 'modified'], ['modified']])
  await expect(start({ history: 'all', watchHistoryMs: 1 })).rejects.toThrow('history: cannot be given beside watchHistoryMs')
})
