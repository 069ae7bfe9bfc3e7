import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfiguration } from '@orch/client'
import { start } from 'orch'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  Api,
  aNamespace,
  anApi,
  type Body,
  configMap,
  configMapsIn,
  created,
  failure,
  namesOfItems,
  sharedApi,
  someConfigMaps,
  until,
} from './api.ts'

const server = sharedApi({ version: '1.25' })

/** Reads all pages of a list; runs a function after each page. */
async function pagesOf(api: Api, path: string, limit: number, query = '', between = async (_page: number) => {}): Promise<Body[]> {
  const pages: Body[] = []
  let token: string | undefined
  do {
    const target = `${path}?limit=${limit}${query}${token === undefined ? '' : `&continue=${token}`}`
    const { status, body, text } = await api.get(target)
    if (status !== 200) throw new Error(text)
    pages.push(body)
    await between(pages.length)
    token = body.metadata.continue
  } while (token)
  return pages
}

/** A server whose namespace `default` has ten thousand ConfigMaps. The test loads them into the store, because ten thousand creates take seconds. */
async function aLargeCollection() {
  const count = 10_000
  const data = { text: 'x'.repeat(1_000) }
  const items = Array.from({ length: count }, (_, at) =>
    configMap({ name: `m-${at}`, namespace: 'default', uid: randomUUID(), creationTimestamp: '2025-01-02T03:04:05Z', data }),
  )
  const folder = mkdtempSync(join(tmpdir(), 'large-collection-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'dump.json')
  writeFileSync(file, JSON.stringify({ kind: 'List', apiVersion: 'v1', items }))
  const { url, kubeconfig, load, stop } = await start({ version: '1.25' })
  const api = new Api([url], await parseConfiguration(kubeconfig), stop)
  onTestFinished(() => api.stop())
  await load(file)
  return { api, count }
}

describe('a collection', () => {
  test('LIST-01, LIST-02, LIST-03, LIST-08: has its kind, its version and its items', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const { status, body } = await server.api.get(path)
    expect(status).toBe(200)
    expect(body).toEqual({
      kind: 'ConfigMapList',
      apiVersion: 'v1',
      metadata: { resourceVersion: expect.stringMatching(/^[1-9]\d*$/) },
      items: [expect.objectContaining({ metadata: expect.objectContaining({ name: 'a' }) })],
    })
  })

  test('LIST-02: of a named group has the version of the group', async () => {
    const { body } = await server.api.get('/apis/storage.orch.io/v1/csinodes')
    expect(body).toMatchObject({ kind: 'CSINodeList', apiVersion: 'storage.orch.io/v1' })
  })

  test('LIST-10: that is empty has an empty array', async () => {
    const { body } = await server.api.get(await someConfigMaps(server.api))
    expect(body.items).toEqual([])
  })

  test('LIST-11: is consistent while others write', async () => {
    const path = await someConfigMaps(server.api, 'a', 'b')
    let isDone = false
    const writer = (async () => {
      for (let turn = 1; !isDone; turn++) {
        for (const name of ['a', 'b']) await server.api.patch(`${path}/${name}`, { data: { turn: String(turn) } })
      }
    })()
    for (let reading = 0; reading < 30; reading++) {
      const { body } = await server.api.get(path)
      const [first, second] = body.items.map(({ data }) => Number((data as { turn?: string } | undefined)?.turn ?? 0))
      expect(first! - second!).toBeOneOf([0, 1])
    }
    isDone = true
    await writer
  })
})

describe('pages', () => {
  const letters = ['a', 'b', 'c', 'd', 'e']

  test('LIST-04, LIST-05, LIST-07, QP-07: continue until the token is empty', async () => {
    const path = await someConfigMaps(server.api, ...letters)
    const pages = await pagesOf(server.api, path, 2)
    expect(pages.map(namesOfItems)).toEqual([['a', 'b'], ['c', 'd'], ['e']])
    const version = pages[0]!.metadata.resourceVersion
    expect(pages.map(({ metadata }) => metadata)).toEqual([
      { resourceVersion: version, continue: expect.stringMatching(/^[\w-]+$/), remainingItemCount: 3 },
      { resourceVersion: version, continue: expect.stringMatching(/^[\w-]+$/), remainingItemCount: 1 },
      { resourceVersion: version },
    ])
  })

  test('CHUNK-03: end without a further page if the limit equals the number of items', async () => {
    const { body } = await server.api.get(`${await someConfigMaps(server.api, 'a', 'b')}?limit=2`)
    expect(body.metadata).toEqual({ resourceVersion: expect.any(String) })
  })

  test('LIST-06, READ-12: have no remaining count with a selector', async () => {
    const path = await someConfigMaps(server.api, ...letters)
    for (const selector of ['labelSelector=!x', 'fieldSelector=metadata.name!=a']) {
      const { body } = await server.api.get(`${path}?limit=1&${selector}`)
      expect(body.metadata).toEqual({ resourceVersion: expect.any(String), continue: expect.stringMatching(/./) })
    }
  })

  test('CHUNK-07, CHUNK-08, READ-11, READ-12: show the state of the first page while others write', async () => {
    const path = await someConfigMaps(server.api, ...letters)
    const pages = await pagesOf(server.api, path, 2, '', async (page) => {
      await server.api.delete(`${path}/${letters[4 - page]}`)
      await created(server.api, path, configMap({ name: `c${page}` }))
      await server.api.patch(`${path}/e`, { data: { page: String(page) } })
    })
    expect(pages.flatMap(namesOfItems)).toEqual(letters)
    expect(pages.at(-1)!.items.at(-1)!['data']).toBeUndefined()
    expect(namesOfItems((await server.api.get(path)).body)).toEqual(['a', 'c1', 'c2', 'c3', 'e'])
  })

  test('CHUNK-05: may change their size and selector', async () => {
    const path = await someConfigMaps(server.api, ...letters)
    const { body } = await server.api.get(`${path}?limit=1`)
    const rest = await server.api.get(`${path}?limit=10&continue=${body.metadata.continue}`)
    expect(namesOfItems(rest.body)).toEqual(['b', 'c', 'd', 'e'])
    const some = await server.api.get(`${path}?limit=10&continue=${body.metadata.continue}&fieldSelector=metadata.name!=c`)
    expect(namesOfItems(some.body)).toEqual(['b', 'd', 'e'])
  })

  test('CHUNK-05: may end in the middle of a namespace', async () => {
    const [first, second] = [await aNamespace(server.api), await aNamespace(server.api)].sort()
    const tag = { crossing: first! }
    for (const [namespace, name] of [
      [first!, 'b'],
      [first!, 'c'],
      [second!, 'a'],
      [second!, 'd'],
    ] as const) {
      await created(server.api, configMapsIn(namespace), configMap({ name, labels: tag }))
    }
    const pages = await pagesOf(server.api, '/api/v1/configmaps', 1, `&labelSelector=crossing%3D${first}`)
    const seen = pages.flatMap(({ items }) => items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`))
    expect(seen).toEqual([`${first}/b`, `${first}/c`, `${second}/a`, `${second}/d`])
  })

  test('CHUNK-02: do not exist with the gate off', async () => {
    const api = await anApi({ version: '1.25', featureGates: ['APIListChunking=false'] })
    const path = await someConfigMaps(api, ...letters)
    const { body } = await api.get(`${path}?limit=2`)
    expect(namesOfItems(body)).toEqual(letters)
    expect(body.metadata).toEqual({ resourceVersion: expect.any(String) })
  })

  test('CHUNK-10, ERR-09: with an expired token get a 410 and a token that continues at that item', async () => {
    const api = await anApi({ version: '1.25', watchHistoryMs: 20 })
    const path = await someConfigMaps(api, ...letters)
    const { body: first } = await api.get(`${path}?limit=2`)
    await api.delete(`${path}/d`)
    const { body: gone } = await until(
      () => api.get(`${path}?limit=2&continue=${first.metadata.continue}`),
      ({ status }) => status !== 200,
    )
    expect(gone).toEqual({
      ...failure(
        410,
        'Expired',
        expect.stringMatching(
          /^The provided continue parameter is too old to display a consistent list result\. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results\. /,
        ) as unknown as string,
      ),
      metadata: { continue: expect.stringMatching(/^[\w-]+$/) },
    })
    // The latest revision then expires too, but the new token does not.
    const { body: then } = await api.get(path)
    await api.delete(`${path}/a`)
    const exact = `${path}?resourceVersionMatch=Exact&resourceVersion=${then.metadata.resourceVersion}`
    await until(
      () => api.get(exact),
      ({ status }) => status === 410,
    )
    const { status, body } = await api.get(`${path}?limit=10&continue=${gone.metadata.continue}`)
    expect({ status, names: namesOfItems(body) }).toEqual({ status: 200, names: ['c', 'e'] })
  })
})

describe('forged tokens', () => {
  const tokenOf = (content: unknown) => Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)).toString('base64url')
  const contentOf = (token: string) => JSON.parse(Buffer.from(token, 'base64url').toString()) as Record<string, unknown>

  test.each([
    ['no base64', '%00'],
    ['no base64url', '!!'],
    ['no JSON', tokenOf('no json')],
    ['no object', tokenOf([])],
    ['another version', tokenOf({ v: 'v9', rv: 1, start: 'a' })],
    ['no start', tokenOf({ v: 'meta.orch.io/v1', rv: 1 })],
    ['no revision', tokenOf({ v: 'meta.orch.io/v1', start: 'a\0' })],
    ['a revision without an epoch', tokenOf({ v: 'meta.orch.io/v1', rv: 1, start: 'a\0' })],
    ['very long', 'A'.repeat(20_000)],
  ])('CHUNK-05: that are %s are a bad request', async (_what, token) => {
    const path = await someConfigMaps(server.api, 'a')
    const { status, body } = await server.api.get(`${path}?limit=1&continue=${token}`)
    expect({ status, reason: body['reason'] }).toEqual({ status: 400, reason: 'BadRequest' })
    expect(body['message']).toMatch(/^invalid continue token: continue key is not valid: /)
  })

  test('CHUNK-05, RV-12: are reported before a version that must not be combined with them', async () => {
    const { status, body } = await server.api.get(`${await someConfigMaps(server.api)}?limit=1&continue=bogus&resourceVersion=7`)
    expect(status).toBe(400)
    expect(body['message']).toMatch(/^invalid continue token: /)
  })

  test.each(['../secrets/default/s', '/', '..', 'a/../../b', '\0', '../', '\uffff'])(
    'CHUNK-05: that begin at %j list no object of another collection',
    async (start) => {
      const path = await someConfigMaps(server.api, 'a', 'b')
      const { body: first } = await server.api.get(`${path}?limit=1`)
      const token = tokenOf({ ...contentOf(first.metadata.continue), start })
      const { status, body } = await server.api.get(`${path}?limit=10&continue=${token}`)
      if (status === 200) expect(namesOfItems(body).every((name) => name === 'a' || name === 'b')).toBe(true)
      else expect({ status, reason: body['reason'] }).toEqual({ status: 400, reason: 'BadRequest' })
    },
  )

  test('CHUNK-05: from one collection show nothing of it in another', async () => {
    const mine = await someConfigMaps(server.api, 'a', 'b', 'c')
    const others = await someConfigMaps(server.api, 'x', 'y')
    const { body } = await server.api.get(`${mine}?limit=1`)
    const { status, body: page } = await server.api.get(`${others}?limit=10&continue=${body.metadata.continue}`)
    if (status === 200) expect(namesOfItems(page).every((name) => name === 'x' || name === 'y')).toBe(true)
    else expect(status).toBe(400)
  })

  test('CHUNK-10: with a future revision, or of another store, are refused', async () => {
    const path = await someConfigMaps(server.api, 'a', 'b')
    const { body: first } = await server.api.get(`${path}?limit=1`)
    const content = contentOf(first.metadata.continue)
    const ahead = await server.api.get(`${path}?limit=1&continue=${tokenOf({ ...content, rv: Number(content['rv']) + 1_000_000 })}`)
    expect(ahead.status).toBeOneOf([400, 410, 504])
    const foreign = Object.fromEntries(Object.entries(content).map(([key, value]) => [key, key === 'e' ? 'another' : value]))
    expect((await server.api.get(`${path}?limit=1&continue=${tokenOf(foreign)}`)).status).toBe(410)
  })
})

describe('query parameters of a list', () => {
  const labelled = async () => {
    const path = configMapsIn(await aNamespace(server.api))
    for (const [name, labels] of [
      ['a', { app: 'web', tier: 'front' }],
      ['b', { app: 'web', tier: 'back' }],
      ['c', { app: 'db' }],
      ['d', {}],
    ] as const) {
      await created(server.api, path, configMap({ name, labels }))
    }
    return path
  }

  test.each([
    ['app=web', ['a', 'b']],
    ['app==web', ['a', 'b']],
    ['app!=web', ['c', 'd']],
    ['app in (web,db)', ['a', 'b', 'c']],
    ['app notin (web)', ['c', 'd']],
    ['app', ['a', 'b', 'c']],
    ['!app', ['d']],
    ['app=web,tier!=back', ['a']],
    ['app in (web),tier notin (front)', ['b']],
    ['', ['a', 'b', 'c', 'd']],
  ])('QP-10, QP-22: labelSelector %j selects', async (selector, expected) => {
    const { status, body } = await server.api.get(`${await labelled()}?labelSelector=${encodeURIComponent(selector)}`)
    expect({ status, names: namesOfItems(body) }).toEqual({ status: 200, names: expected })
  })

  test.each(['app=(', 'app in', 'a b', '=x', 'app in ()x', '!app=web', `${'a'.repeat(64)}=x`])(
    'QP-22: labelSelector %j is a bad request',
    async (selector) => {
      const { status, body } = await server.api.get(`/api/v1/configmaps?labelSelector=${encodeURIComponent(selector)}`)
      expect({ status, reason: body['reason'] }).toEqual({ status: 400, reason: 'BadRequest' })
      expect(body['message']).toMatch(/./)
    },
  )

  test.each([
    ['metadata.name=b', ['b']],
    ['metadata.name==b', ['b']],
    ['metadata.name!=b', ['a', 'c', 'd']],
    ['metadata.name!=b,metadata.name!=c', ['a', 'd']],
    ['metadata.namespace=elsewhere', []],
  ])('QP-12, QP-23: fieldSelector %j selects', async (selector, expected) => {
    const { status, body } = await server.api.get(`${await labelled()}?fieldSelector=${encodeURIComponent(selector)}`)
    expect({ status, names: namesOfItems(body) }).toEqual({ status: 200, names: expected })
  })

  test('QP-12, QP-23: metadata.name and metadata.namespace are selectable for every kind', async () => {
    const { body } = await server.api.get('/api/v1')
    const collections = (body['resources'] as { name: string; namespaced: boolean; verbs: string[] }[]).filter(({ verbs }) =>
      verbs.includes('list'),
    )
    const answers = await Promise.all(
      collections.map(async ({ name, namespaced }) => {
        const selector = namespaced ? 'metadata.name=none,metadata.namespace=default' : 'metadata.name=none'
        const { status, body: list } = await server.api.get(`/api/v1/${name}?fieldSelector=${encodeURIComponent(selector)}`)
        return { name, status, items: list.items }
      }),
    )
    expect(answers.length).toBeGreaterThan(10)
    expect(answers).toEqual(collections.map(({ name }) => ({ name, status: 200, items: [] })))
  })

  test('QP-23: Nodes are selected by spec.unschedulable, Pods by node and phase', async () => {
    const { api } = server
    await created(api, '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'open' } })
    await created(api, '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'closed' }, spec: { unschedulable: true } })
    expect(namesOfItems((await api.get('/api/v1/nodes?fieldSelector=spec.unschedulable%3Dtrue')).body)).toEqual(['closed'])
    const namespace = await aNamespace(api)
    for (const nodeName of ['open', 'closed']) {
      const spec = { nodeName, containers: [{ name: 'c', image: 'i' }] }
      await created(api, `/api/v1/namespaces/${namespace}/pods`, { apiVersion: 'v1', kind: 'Pod', metadata: { name: nodeName }, spec })
    }
    const selected = async (selector: string) =>
      namesOfItems((await api.get(`/api/v1/namespaces/${namespace}/pods?fieldSelector=${encodeURIComponent(selector)}`)).body)
    expect(await selected('spec.nodeName=open')).toEqual(['open'])
    expect(await selected('status.phase=Pending')).toEqual(['closed', 'open'])
    expect(await selected('status.phase!=Pending')).toEqual([])
  })

  test.each([
    ['data.x=1', '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"'],
    ['bogus', "invalid selector: 'bogus'; can't understand 'bogus'"],
  ])('QP-23: fieldSelector %j is a bad request', async (selector, message) => {
    const { status, body } = await server.api.get(`/api/v1/configmaps?fieldSelector=${encodeURIComponent(selector)}`)
    expect({ status, reason: body['reason'] }).toEqual({ status: 400, reason: 'BadRequest' })
    expect(body['message']).toContain(message)
  })

  test.each([
    ['/api/v1/pods', 'field label not supported: spec.size'],
    ['/apis/batch/v1/jobs', 'field label "spec.size" not supported for Job'],
  ])('QP-23: an unsupported field of a kind with selectable fields is a bad request (%s)', async (path, message) => {
    const { status, body } = await server.api.get(`${path}?fieldSelector=spec.size%3D1`)
    expect({ status, message: body['message'] }).toEqual({ status: 400, message })
  })

  test.each(['limit', 'timeoutSeconds'])('QP-06, QP-09: an invalid number in %s is a 400', async (parameter) => {
    const { status, body } = await server.api.get(`/api/v1/configmaps?${parameter}=abc`)
    expect({ status, reason: body['reason'] }).toEqual({ status: 400, reason: 'BadRequest' })
    expect(body['message']).toContain('strconv.ParseInt: parsing "abc": invalid syntax')
  })

  test('QP-06: a negative limit, and 0, is no limit', async () => {
    const path = await someConfigMaps(server.api, 'a', 'b')
    for (const limit of [-1, 0]) expect(namesOfItems((await server.api.get(`${path}?limit=${limit}`)).body)).toEqual(['a', 'b'])
  })

  test('QP-09: timeoutSeconds is accepted on a list', async () => {
    expect((await server.api.get('/api/v1/configmaps?timeoutSeconds=10')).status).toBe(200)
  })

  test('QP-03: unknown parameters are ignored', async () => {
    expect((await server.api.get('/api/v1/configmaps?bogus=1&resourceVersion=')).status).toBe(200)
  })

  test('QP-01, QP-21: pretty=true indents the answer', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const targets = [path, `${path}/a`, '/api', `${path}/none`]
    for (const target of targets) {
      const { text: indented, body } = await server.api.get(`${target}?pretty=true`)
      expect(indented).toMatch(/^\{\n {2}"/)
      const plain = await server.api.get(`${target}?pretty=false`)
      expect(plain.text).not.toContain('\n ')
      // Other clients write meanwhile, and each write changes the revision of every list.
      const { resourceVersion } = plain.body.metadata ?? {}
      expect(plain.body).toEqual(target === path ? { ...body, metadata: { ...body.metadata, resourceVersion } } : body)
    }
    // The version is always indented, as by kube-apiserver.
    expect((await server.api.get('/version?pretty=false')).text).toMatch(/^\{\n {2}"/)
    const { text } = await server.api.send('POST', `${path}?pretty=true`, { body: configMap({ name: 'b' }) })
    expect(text).toMatch(/^\{\n {2}"kind"/)
  })

  test('LIM-05: ten thousand objects are served in one list and in chunks', { timeout: 600_000 }, async () => {
    const { api, count } = await aLargeCollection()
    const path = configMapsIn('default')
    const { text, body } = await api.get(path)
    expect(text.length).toBeGreaterThan(10_000_000)
    expect(body.items).toHaveLength(count)
    const pages = await pagesOf(api, path, 500)
    expect(pages).toHaveLength(20)
    expect(pages.flatMap(namesOfItems)).toEqual(namesOfItems(body))
    // On a busy machine the load may take longer than the time limit of one request.
    const deleted = await until(
      () => api.delete(path),
      ({ status }) => status !== 504,
    )
    expect(deleted.status).toBe(200)
  })
})
