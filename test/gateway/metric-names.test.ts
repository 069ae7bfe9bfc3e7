import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMetrics } from '@orch/platform'
import { aCertificate } from '@orch/platform/any-certificate'
import { createFakeClock } from '@orch/testkit'
import { afterAll, describe, expect, test } from 'vitest'
import { InProcessExchange } from '../../services/gateway/src/exchange/in-process.ts'
import { aNamespace, configMap, configMapsIn, sharedApi } from '../api/api.ts'
import { certificateRequest } from '../api/certificate-request.ts'
import { aGateway, allConfigMaps, anAdmission, collection, saidNothing } from './own-gateway.ts'

const root = join(import.meta.dirname, '../..')
const upstream: { metrics: readonly string[]; newer: readonly string[] } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'kube-apiserver-metrics.json'), 'utf8'),
)
const page = readFileSync(join(root, 'docs/how-to/telemetry.md'), 'utf8')
const isOnPage = (name: string): boolean => page.slice(page.indexOf('### Metrics of kube-apiserver')).includes(`\`${name}\``)

const folder = mkdtempSync(join(tmpdir(), 'metric-names-'))
afterAll(() => rmSync(folder, { recursive: true }))
const policy = join(folder, 'policy.yaml')
writeFileSync(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: None }]\n')
const auditFlags = [`--audit-policy-file=${policy}`, `--audit-log-path=${join(folder, 'audit.log')}`]
const server = sharedApi({
  version: '1.25',
  profile: 'kubernetes',
  controllers: [],
  flags: [...auditFlags, '--show-hidden-metrics-for-version=1.24'],
})
/** A server at a level with initial events of watches. */
const today = sharedApi({ version: '1.36', profile: 'kubernetes', controllers: [] })
const metrics = async ({ api } = server) => (await api.get('/metrics')).text
const exposed = async () => [...(await metrics()).matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name)

/** The sum of all series of a metric that have these labels. */
const sumOf = (name: string, ...labels: readonly string[]): Promise<number> => sumAt(server, name, ...labels)

async function sumAt(at: typeof server, name: string, ...labels: readonly string[]): Promise<number> {
  const lines = (await metrics(at)).split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
  return lines
    .filter((line) => labels.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

test('every metric of kube-apiserver is exposed by a gateway, or explained in docs/how-to/telemetry.md', async () => {
  const names = new Set(await exposed())
  const all = [...upstream.metrics, ...upstream.newer]
  expect(all.filter((name) => !names.has(name) && !isOnPage(name))).toEqual([])
  expect(all.filter((name) => names.has(name) && isOnPage(name))).toEqual([])
  expect(upstream.metrics).toHaveLength(146)
})

describe('the gateway metrics', () => {
  /** The change of a value while an action runs. */
  async function change(name: string, labels: readonly string[], work: () => Promise<unknown>): Promise<number> {
    const before = await sumOf(name, ...labels)
    await work()
    return (await sumOf(name, ...labels)) - before
  }

  test('count requests of the process to itself', async () => {
    const own = createMetrics({ process: false })
    const { call } = await aGateway(undefined, { metrics: own })
    await call('GET', collection)
    expect((await own.text()).split('\n').filter((line) => line.startsWith('apiserver_selfrequest_total{'))).toEqual([
      'apiserver_selfrequest_total{verb="LIST",resource="configmaps",subresource=""} 1',
    ])
  })

  test('show the remaining validity of client certificates', async () => {
    const count = 'apiserver_client_certificate_expiration_seconds_count'
    // The request for the metrics also counts.
    expect(await change(count, [], () => server.api.get('/version'))).toBe(2)
    expect(await change(count, [], () => server.api.as({})('GET', '/version'))).toBe(1)
  })

  test.each([
    ['?fieldValidation=Strict', 'Strict'],
    ['?fieldValidation=Ignore', 'Ignore'],
    ['', 'Warn'],
  ])('count writes with %j like writes with the field validation %s', async (query, word) => {
    const path = `${configMapsIn(await aNamespace(server.api))}${query}`
    const labels = `{field_validation="${word}"}`
    expect(await change(`field_validation_request_duration_seconds_count${labels}`, [], () => server.api.post(path, configMap()))).toBe(1)
  })

  test('count lists', async () => {
    const path = configMapsIn(await aNamespace(server.api))
    const labels = ['resource_prefix="/core/configmaps"', 'index=""']
    expect(await change('apiserver_cache_list_total', labels, () => server.api.get(path))).toBeGreaterThanOrEqual(1)
    expect(
      await change('apiserver_cache_list_total', ['resource_prefix="/core/podtemplates"'], () => server.api.get('/api/v1/podtemplates')),
    ).toBe(1)
  })

  test('count objects returned by lists, complete and by pages', async () => {
    const path = configMapsIn(await aNamespace(server.api))
    for (const name of ['a', 'b', 'c']) await server.api.post(path, { ...configMap(), metadata: { name } })
    const returned = (query: string) =>
      change('apiserver_cache_list_returned_objects_total', ['resource_prefix="/core/configmaps"'], () => server.api.get(`${path}${query}`))
    expect([await returned(''), await returned('?limit=2'), await returned('?fieldSelector=metadata.name=b')]).toEqual([3, 2, 1])
  })

  test('have the scope of a single resource for a create', async () => {
    const path = configMapsIn(await aNamespace(server.api))
    const labels = ['verb="POST"', 'resource="configmaps"', 'scope="resource"', 'code="201"']
    const create = () => server.api.post(path, { ...configMap(), metadata: { name: 'a' } })
    expect(await change('apiserver_request_total', labels, create)).toBe(1)
  })

  test('count watch events with their bytes, and measure the time to the end of the initial state', async () => {
    const path = `/api/v1/namespaces/${await aNamespace(today.api)}/limitranges`
    const labels = ['group=""', 'version="v1"']
    const kind = [...labels, 'kind="LimitRange"']
    const resource = [...labels, 'resource="limitranges"', 'scope="namespace"']
    const watch = await today.api.watch(
      `${path}?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan`,
    )
    expect(await watch.next()).toMatchObject({ type: 'BOOKMARK' })
    expect(await sumAt(today, 'apiserver_watch_list_duration_seconds_count', ...resource)).toBe(1)
    const [bytes, events] = [
      await sumAt(today, 'apiserver_watch_events_sizes_sum', ...kind),
      await sumAt(today, 'apiserver_watch_events_sizes_count', ...kind),
    ]
    await today.api.post(path, { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'a' }, spec: { limits: [] } })
    let event = await watch.next()
    while (event?.type === 'BOOKMARK') event = await watch.next()
    const length = Buffer.byteLength(JSON.stringify(event)) + 1
    expect(await sumAt(today, 'apiserver_watch_events_sizes_count', ...kind)).toBe(events + 1)
    expect(await sumAt(today, 'apiserver_watch_events_sizes_sum', ...kind)).toBe(bytes + length)
  })

  test('count decisions of authorizers', async () => {
    const labels = (decision: string) => ['type="RBAC"', 'name="rbac"', `decision="${decision}"`]
    const asAnonymous = (path: string) => () => server.api.as({})('GET', path)
    expect(await change('apiserver_authorization_decisions_total', labels('allowed'), asAnonymous('/version'))).toBe(1)
    expect(await change('apiserver_authorization_decisions_total', labels('allowed'), asAnonymous('/api/v1/pods'))).toBe(0)
  })

  test('count allocated addresses of Services, requested ones separately, and failed allocations', async () => {
    const path = `/api/v1/namespaces/${await aNamespace(server.api)}/services`
    const service = (spec: object) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { generateName: 's-' },
      spec: { ports: [{ port: 1 }], ...spec },
    })
    const allocated = (result: string, scope: string, spec: object, query = '') =>
      change(`kube_apiserver_clusterip_allocator_${result}_total`, ['cidr="10.0.0.0/24"', `scope="${scope}"`], () =>
        server.api.post(`${path}${query}`, service(spec)),
      )
    expect(await allocated('allocation', 'dynamic', {})).toBe(1)
    expect(await allocated('allocation', 'dynamic', {}, '?dryRun=All')).toBe(0)
    expect(await allocated('allocation', 'dynamic', { clusterIP: 'None' })).toBe(0)
    expect(await allocated('allocation', 'static', { clusterIP: '10.0.0.9' })).toBe(1)
    expect(await allocated('allocation_errors', 'static', { clusterIP: '10.0.0.9' })).toBe(1)
  })

  test('show used and free addresses', async () => {
    const path = `/api/v1/namespaces/${await aNamespace(server.api)}/services`
    const [taken, free] = ['allocated', 'available'].map((word) => `kube_apiserver_clusterip_allocator_${word}_ips`) as [string, string]
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [{ port: 1 }] } }
    const before = await sumOf(taken, 'cidr="10.0.0.0/24"')
    expect(before + (await sumOf(free, 'cidr="10.0.0.0/24"'))).toBe(254)
    expect(await change(taken, [], () => server.api.post(path, service))).toBe(1)
    expect(await change(free, [], () => server.api.delete(`${path}/s`))).toBe(1)
    expect(await sumOf(taken)).toBe(before)
  })

  test('count certificates with a requested duration, and those issued with it', async () => {
    const { certificate } = await aCertificate({})
    const { validFrom, validTo } = new X509Certificate(certificate)
    const lifetime = (Date.parse(validTo) - Date.parse(validFrom)) / 1000
    const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
    const issue = async (spec: object) => {
      const { body } = await server.api.post(path, {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { generateName: 'r-' },
        spec: { request: certificateRequest, usages: ['client auth'], ...spec },
      })
      const given = { status: { certificate: btoa(certificate) } }
      const status = (query: string) => server.api.patch(`${path}/${body.metadata.name}/status${query}`, given)
      const answers = [await status('?dryRun=All'), await status(''), await status('')]
      expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200])
    }
    const words = ['requested', 'honored']
    const countsOf = (signer: string) =>
      Promise.all(words.map((word) => sumOf(`apiserver_certificates_registry_csr_${word}_duration_total`, `signerName="${signer}"`)))
    const counted = async (signer: string, spec: object) => {
      const before = await countsOf(signer)
      await issue(spec)
      return (await countsOf(signer)).map((count, index) => count - (before[index] ?? 0))
    }
    const signerName = 'kubernetes.io/kube-apiserver-client'
    expect(await counted(signerName, { signerName })).toEqual([0, 0])
    expect(await counted(signerName, { signerName, expirationSeconds: lifetime })).toEqual([1, 1])
    expect(await counted(signerName, { signerName, expirationSeconds: lifetime + lifetime / 10 })).toEqual([1, 0])
    expect(await counted('other', { signerName: 'example.com/own', expirationSeconds: lifetime })).toEqual([1, 1])
  })

  test('measure the compilation and evaluation of rules of custom objects', async () => {
    const item = {
      type: 'object',
      properties: { a: { type: 'integer' } },
      'x-kubernetes-validations': [{ rule: 'self.a > 0' }, { rule: 'self.a < 9' }],
    }
    const openAPIV3Schema = { type: 'object', properties: { items: { type: 'array', maxItems: 5, items: item } } }
    const names = { plural: 'ruleds', singular: 'ruled', kind: 'Ruled', listKind: 'RuledList' }
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }]
    const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'ruleds.example.com' } }
    const made = await server.api.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      ...definition,
      spec: { group: 'example.com', scope: 'Cluster', names, versions },
    })
    expect(made.status).toBe(201)
    const evaluations = 'apiserver_cel_evaluation_duration_seconds_count'
    const compilations = 'apiserver_cel_compilation_duration_seconds_count'
    const create = (name: string) => async () =>
      expect(
        (
          await server.api.post('/apis/example.com/v1/ruleds', {
            apiVersion: 'example.com/v1',
            kind: 'Ruled',
            metadata: { name },
            items: [{ a: 1 }, { a: 2 }, { a: 3 }],
          })
        ).status,
      ).toBe(201)
    expect(await change(compilations, [], create('a'))).toBe(1)
    expect(await change(compilations, [], create('b'))).toBe(0)
    expect(await change(evaluations, [], create('c'))).toBe(3)
  })

  test('measure executing and waiting reads and writes over time', async () => {
    const [asked, mayGoOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const own = createMetrics({ process: false })
    const clock = createFakeClock()
    const { call } = await aGateway(
      (storage) => ({
        async get(request, context) {
          if (request.key.endsWith('/held')) {
            asked.resolve()
            await mayGoOn.promise
          }
          return storage.get(request, context)
        },
      }),
      { metrics: own, clock, flowControl: { readsMax: 4, writesMax: 2, isFair: false } },
    )
    const reading = call('GET', `${collection}/held`)
    await asked.promise
    clock.advance(1_000)
    const sums = async () =>
      Object.fromEntries(
        [
          ...(await own.text()).matchAll(
            /^apiserver_flowcontrol_read_vs_write_current_requests_sum\{phase="(\w+)",request_kind="(\w+)"\} (\d+)/gm,
          ),
        ].map(([, phase, kind, sum]) => [`${phase} ${kind}`, Number(sum) / 1e6]),
      )
    const none = { 'executing mutating': 0, 'waiting readOnly': 0, 'waiting mutating': 0 }
    expect(await sums()).toEqual({ ...none, 'executing readOnly': 250 })
    mayGoOn.resolve()
    await reading
    clock.advance(1_000)
    expect(await sums()).toEqual({ ...none, 'executing readOnly': 250 })
  })

  test('show feature gates with their stage', async () => {
    const text = await metrics()
    expect(text).toContain('kubernetes_feature_enabled{name="APIListChunking",stage="BETA"} 1\n')
    expect(text).toContain('kubernetes_feature_enabled{name="HPAScaleToZero",stage="ALPHA"} 0\n')
  })

  test('count failed handshakes', async () => {
    const failed = async () => {
      const socket = connect(Number(new URL(server.api.url).port), '127.0.0.1')
      socket.end('GET / HTTP/1.1\r\n\r\n')
      socket.resume()
      await once(socket, 'close')
    }
    expect(await change('apiserver_tls_handshake_errors_total', [], failed)).toBe(1)
  })

  test('count aborted answers', async () => {
    const own = createMetrics({ process: false })
    const { send } = await aGateway(
      (storage) => ({
        list(request, context) {
          const listed = storage.list(request, context)
          if (request.scope.resource !== 'core/configmaps') return listed
          const broken = (async function* () {
            yield* listed
            // The answer so far is longer than the buffer of answers that the gateway sends at once.
            yield { kind: 'chunk' as const, bytes: Buffer.alloc(4 * 1024 * 1024, ' '), count: 1 }
            throw new Error('storage has gone')
          })()
          return Object.assign(broken, { close: () => listed.close() })
        },
      }),
      { metrics: own },
    )
    const { status, body } = await send({ method: 'GET', path: collection, headers: {} })
    expect(status).toBe(200)
    const read = async () => {
      for await (const _chunk of body);
    }
    await expect(read()).rejects.toThrow('the answer was broken off')
    const lines = (await own.text()).split('\n').filter((line) => line.startsWith('apiserver_request_aborts_total{'))
    expect(lines).toEqual([
      'apiserver_request_aborts_total{verb="LIST",group="",version="v1",resource="configmaps",subresource="",scope="namespace"} 1',
    ])
  })

  test('count requests that are refused as too many', async () => {
    const [asked, mayGoOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const own = createMetrics({ process: false })
    const { gateway } = await aGateway(
      (storage) => ({
        list(request, context) {
          const listed = storage.list(request, context)
          if (request.scope.resource !== 'core/configmaps') return listed
          asked.resolve()
          const late = (async function* () {
            await mayGoOn.promise
            yield* listed
          })()
          return Object.assign(late, { close: () => listed.close() })
        },
      }),
      { metrics: own, anonymousAuth: { isAllowed: () => true }, flowControl: { readsMax: 1, writesMax: 1, isFair: false } },
    )
    const send = async () => {
      const exchange = new InProcessExchange({ method: 'GET', path: collection, headers: {} }, { kind: 'unknown' })
      gateway.handle(exchange)
      const { status, body } = await exchange.response
      for await (const _chunk of body);
      return status
    }
    const first = send()
    await asked.promise
    expect(await send()).toBe(429)
    mayGoOn.resolve()
    expect(await first).toBe(200)
    const lines = (await own.text()).split('\n').filter((line) => line.startsWith('apiserver_request_terminations_total{'))
    expect(lines).toEqual([expect.stringMatching(/code="429",verb="GET",.* 1$/)])
  })

  test('measure the duration of requests without webhooks: mutating calls are added, and validating calls count once', async () => {
    const own = createMetrics({ process: false })
    const clock = createFakeClock()
    const admission = anAdmission(allConfigMaps)
    const step = (webhook: string, durationMs: number) => ({ plugin: 'p', webhook, durationMs, isRejected: false })
    admission.admit = async ({ phase }) => {
      clock.advance(4_000)
      const steps = phase === 'mutate' ? [step('a', 500), step('', 100), step('b', 500)] : [step('c', 3_000), step('d', 1_000)]
      return { ...saidNothing, kind: 'allowed', steps } as never
    }
    const { call } = await aGateway(undefined, { metrics: own, clock, admission })
    expect((await call('POST', collection, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } })).code).toBe(201)
    const lines = (await own.text()).split('\n')
    const sumOfPost = (name: string) =>
      Number(
        lines
          .find((line) => line.startsWith(`${name}_sum{`) && line.includes('verb="POST"'))
          ?.split(' ')
          .at(-1),
      )
    expect(sumOfPost('apiserver_request_duration_seconds')).toBe(8)
    expect([sumOfPost('apiserver_request_sli_duration_seconds'), sumOfPost('apiserver_request_slo_duration_seconds')]).toEqual([4, 4])
  })
})
