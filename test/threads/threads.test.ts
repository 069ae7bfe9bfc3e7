import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { ApiObject } from '@orch/core/meta'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { canSharePorts } from '../../services/gateway/src/index.ts'
import { AddressTakenError } from '../../services/orch/src/process/terminal.ts'
import { openPage } from '../console/page.ts'
import { type Connection, get, maps, post, startThreaded, type ThreadedServer, textOf } from './threaded-server.ts'

const aMap = (name: string, data: Record<string, string> = {}, namespace = 'default'): ApiObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data }) as ApiObject
const mapNamed = (name: string, namespace = 'default') => ({ apiVersion: 'v1', kind: 'ConfigMap', name, namespace })

/** The value of a metric, by its name and labels as printed. */
const numberOf = (text: string, series: string) => {
  const line = text.split('\n').find((line) => line.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}

// On other systems one thread takes all requests; the unit tests show this.
describe.skipIf(!canSharePorts)('--threads=2', () => {
  let server: ThreadedServer
  beforeAll(async () => {
    server = await startThreaded(['--console=true'], () => {})
    return () => server.stop()
  })

  test('shows writes acknowledged by one thread in reads and watches of the other', async () => {
    const [first, other] = [await server.connect('first'), await server.connect('other')]
    for (const [writer, reader, name] of [
      [first, other, 'by-first'],
      [other, first, 'by-other'],
    ] as const) {
      const controller = new AbortController()
      const watch = await reader.transport.send({ method: 'GET', path: `${maps}?watch=1`, headers: {}, signal: controller.signal })
      await writer.client.objects.create(aMap(name, { round: '0' }))
      expect(await reader.client.objects.get(mapNamed(name))).toMatchObject({ data: { round: '0' } })
      for (let round = 1; round <= 20; round += 1) {
        const text = JSON.stringify({ data: { round: String(round) } })
        const headers = { 'content-type': 'application/merge-patch+json' }
        await textOf(await writer.transport.send({ method: 'PATCH', path: `${maps}/${name}`, headers, body: text }))
        expect(await reader.client.objects.get(mapNamed(name))).toMatchObject({ data: { round: String(round) } })
        expect(JSON.parse((await get(reader, maps)).text).items).toContainEqual(
          expect.objectContaining({ metadata: expect.objectContaining({ name }), data: { round: String(round) } }),
        )
      }
      let events = ''
      for await (const chunk of watch.body) {
        events += Buffer.from(chunk).toString()
        if (events.includes('"round":"20"')) break
      }
      expect([...events.matchAll(/"round":"(\d+)"/g)].map(([, round]) => Number(round)).at(-1)).toBe(20)
      controller.abort()
    }
  })

  test('shows the same objects in a list of each thread, with any earlier lists', async () => {
    const [first, other] = [await server.connect('first'), await server.connect('other')]
    const namespace = 'listed'
    await first.client.objects.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } } as ApiObject)
    const aTemplate = (name: string, image: string) =>
      ({
        apiVersion: 'v1',
        kind: 'PodTemplate',
        metadata: { name, namespace },
        template: { spec: { containers: [{ name: 'a', image }] } },
      }) as ApiObject
    const read = async ({ transport }: Connection, accept: string) => {
      const path = `/api/v1/namespaces/${namespace}/podtemplates`
      const body = JSON.parse(await textOf(await transport.send({ method: 'GET', path, headers: { accept } })))
      return (body.rows ?? body.items) as readonly (ApiObject & { readonly cells?: readonly string[] })[]
    }
    const as = (form: string) => `application/json;as=${form};v=v1;g=meta.orch.io`
    const areAlike = async (names: readonly string[]) => {
      for (const accept of ['application/json', as('Table'), as('PartialObjectMetadataList')]) {
        const objects = await read(first, accept)
        expect(objects.map(({ cells, metadata }) => cells?.[0] ?? metadata.name)).toEqual(names)
        expect(await read(other, accept)).toEqual(objects)
      }
    }
    for (const name of ['a', 'b', 'c']) await first.client.objects.create(aTemplate(name, 'one'))
    await areAlike(['a', 'b', 'c'])
    await areAlike(['a', 'b', 'c'])
    await first.client.objects.update(aTemplate('b', 'two'))
    await other.client.objects.delete({ apiVersion: 'v1', kind: 'PodTemplate', name: 'a', namespace })
    await other.client.objects.create(aTemplate('d', 'one'))
    await areAlike(['b', 'c', 'd'])
  })

  test('refuses its port to another server, with and without threads', async () => {
    const { port } = server
    for (const threads of [1, 2]) {
      const start = startThreaded([`--secure-port=${port}`, `--threads=${threads}`])
      await expect(start).rejects.toThrow(AddressTakenError)
      await expect(start).rejects.toThrow(`port ${port} on 127.0.0.1 is in use by another program; choose another with --secure-port`)
    }
  })

  test('opens sessions of the console at a separate port of each thread', async () => {
    const links = []
    for (const thread of ['first', 'other', 'other'] as const) {
      const { text } = await post(await server.connect(thread), '/console/ticket', {})
      links.push(String(JSON.parse(text).url))
    }
    const ports = links.map((link) => new URL(link).port)
    expect([new Set(ports).size, ports[1] === ports[2]]).toEqual([2, true])
    for (const link of links) {
      const { ask } = await openPage(link)
      expect((await ask('/console/api/api/v1/namespaces/default')).status).toBe(200)
      await expect(openPage(link)).rejects.toThrow('401')
    }
  })

  test('accepts a token in one thread that the other has signed', async () => {
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace: 'default' } }
    await (await server.connect('first')).client.objects.create(account as ApiObject)
    for (const [signer, reader] of [
      ['first', 'other'],
      ['other', 'first'],
    ] as const) {
      const administrator = await server.connect(signer)
      const answer = await post(administrator, '/api/v1/namespaces/default/serviceaccounts/robot/token', {
        apiVersion: 'authentication.orch.io/v1',
        kind: 'TokenRequest',
        spec: {},
      })
      expect(answer.status).toBe(201)
      const robot = await server.connect(reader, { headers: { authorization: `Bearer ${JSON.parse(answer.text).status.token}` } })
      await expect.poll(() => get(robot, '/api')).toMatchObject({ status: 200 })
    }
  })

  test('enforces a quota over the writes of both threads', async () => {
    const [first, other] = [await server.connect('first'), await server.connect('other')]
    await first.client.objects.create({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'three', namespace: 'default' },
      spec: { hard: { 'count/podtemplates': '3' } },
    } as ApiObject)
    const isCounted = async () => {
      const quota = await other.client.objects.get({ apiVersion: 'v1', kind: 'ResourceQuota', name: 'three', namespace: 'default' })
      return Object.hasOwn((quota as { status?: { used?: object } }).status?.used ?? {}, 'count/podtemplates')
    }
    await expect.poll(isCounted).toBe(true)
    const template = { spec: { containers: [{ name: 'a', image: 'a' }] } }
    const aTemplate = (name: string) => ({ apiVersion: 'v1', kind: 'PodTemplate', metadata: { name }, template })
    const writes = Array.from({ length: 12 }, (_, index) =>
      post(index % 2 === 0 ? first : other, '/api/v1/namespaces/default/podtemplates', aTemplate(`template-${index}`)),
    )
    const codes = (await Promise.all(writes)).map(({ status }) => status)
    expect(codes.filter((code) => code === 201)).toHaveLength(3)
    expect(codes.filter((code) => code === 403)).toHaveLength(9)
  })

  test('calls admission in each thread: a write in one is followed by a write in the other', async () => {
    const [first, other] = [await server.connect('first'), await server.connect('other')]
    const create = async ({ transport }: Connection, path: string, object: object) => {
      const headers = { 'content-type': 'application/json' }
      const response = await transport.send({ method: 'POST', path, headers, body: JSON.stringify(object) })
      return { status: response.status, object: JSON.parse(await textOf(response)) }
    }
    const aMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
    for (const [index, [one, another]] of [[first, other] as const, [other, first] as const].entries()) {
      const name = `made-by-${index}`
      const inNamespace = `/api/v1/namespaces/${name}`
      expect((await create(one, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })).status).toBe(201)
      // A client that has just learned of the namespace may use it through any thread.
      expect((await create(another, `${inNamespace}/configmaps`, aMap('a'))).status).toBe(201)
      const limits = [{ type: 'PersistentVolumeClaim', max: { storage: '1Gi' } }]
      await create(one, `${inNamespace}/limitranges`, { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'a' }, spec: { limits } })
      const claim = {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'a' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } },
      }
      const refusal = async () => (await create(another, `${inNamespace}/persistentvolumeclaims?dryRun=All`, claim)).object.message
      await expect.poll(refusal).toContain('maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi')
    }
  })

  test('reports metrics of the process, from any thread', async () => {
    const [first, other] = [await server.connect('first'), await server.connect('other')]
    for (const [connection, count] of [
      [first, 2],
      [other, 3],
    ] as const) {
      for (let index = 0; index < count; index += 1) await get(connection, '/api/v1/namespaces/default/podtemplates/absent')
    }
    const series = /^apiserver_request_total\{.*verb="GET".*resource="podtemplates".*code="404".*\} (\d+)$/gm
    for (const connection of [first, other]) {
      const { text } = await get(connection, '/metrics')
      expect([...text.matchAll(series)].map(([, count]) => count)).toEqual(['5'])
      expect(text.match(/^orch_build_info\{.*$/gm)).toEqual([expect.stringMatching(/ 1$/)])
      expect(text.match(/^# TYPE apiserver_request_total /gm)).toHaveLength(1)
    }
  })
})

describe.skipIf(!canSharePorts)('limits of a process with two threads', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'threads-'))
    return () => rmSync(folder, { recursive: true })
  })

  test('include seats of priority levels, divided among the threads', async () => {
    const seatsOf = async (server: ThreadedServer, thread: 'first' | 'other') => {
      const { text } = await get(await server.connect(thread), '/metrics')
      const lines = text.match(/^apiserver_flowcontrol_request_concurrency_limit\{.*$/gm) ?? []
      return lines.sort()
    }
    const [one, two] = [await startThreaded(['--threads=1']), await startThreaded()]
    const areAlike = async () => {
      const seats = await seatsOf(one, 'first')
      return (
        seats.length > 5 && isDeepStrictEqual(await seatsOf(two, 'other'), seats) && isDeepStrictEqual(await seatsOf(two, 'first'), seats)
      )
    }
    await expect.poll(areAlike).toBe(true)
  })

  test('include requests in flight, divided among the threads', async () => {
    const tokens = join(folder, 'tokens.csv')
    writeFileSync(tokens, 'secret,user,uid\n')
    const server = await startThreaded([
      '--enable-priority-and-fairness=false',
      '--max-mutating-requests-inflight=2',
      `--token-auth-file=${tokens}`,
      '--authorization-mode=AlwaysAllow',
      // Writes of other clients also count.
      '--controllers=pvc-protection',
    ])
    const user = { headers: { authorization: 'Bearer secret' } }
    const [first, other] = [await server.connect('first', user), await server.connect('other', user)]
    const series = 'apiserver_current_inflight_requests{request_kind="mutating"}'
    const administrator = await server.connect('first')
    const inFlight = async (count: number) => {
      await expect.poll(async () => numberOf((await get(administrator, '/metrics')).text, series)).toBe(count)
    }
    const hook = await heldWebhook()
    await administrator.client.objects.create(hook.configuration)
    for (const connection of [first, other]) {
      const name = connection === first ? 'probe-of-first' : 'probe-of-other'
      const isAsked = async () => {
        await post(connection, `${maps}?dryRun=All`, aMap(name))
        return hook.asked().includes(name)
      }
      await expect.poll(isAsked).toBe(true)
    }
    await inFlight(0)
    const held = [post(first, maps, aMap('held-by-first'))]
    await inFlight(1)
    expect(await post(first, maps, aMap('one-too-many'))).toMatchObject({ status: 429 })
    held.push(post(other, maps, aMap('held-by-other')))
    await inFlight(2)
    expect(await post(other, maps, aMap('one-too-many'))).toMatchObject({ status: 429 })
    hook.release()
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([201, 201])
    expect(hook.asked().filter((name) => name.startsWith('held'))).toEqual(['held-by-first', 'held-by-other'])
  })
})

/** An admission webhook for ConfigMaps. It holds answers about names that begin with held- until the test releases them. */
async function heldWebhook() {
  const { serveWebhooks } = await import('../../services/orch/src/start/webhook-endpoint.ts')
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const names: string[] = []
  const endpoint = await serveWebhooks(async (review) => {
    const { request } = review as unknown as { readonly request: { readonly name: string } }
    names.push(request.name)
    if (request.name.startsWith('held')) await released
    return { allowed: true }
  })
  onTestFinished(() => endpoint.close())
  const configuration = {
    apiVersion: 'admissionregistration.orch.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'held' },
    webhooks: [
      {
        name: 'held.example.com',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy: 'Fail',
        timeoutSeconds: 30,
        clientConfig: {
          url: `https://${endpoint.host}:${endpoint.port}/`,
          caBundle: Buffer.from(endpoint.certificateAuthority).toString('base64'),
        },
        namespaceSelector: { matchLabels: { 'orch.io/metadata.name': 'default' } },
        rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
      },
    ],
  } as unknown as ApiObject
  return { configuration, release, asked: () => names }
}
