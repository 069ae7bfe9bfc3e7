import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import type { ApiObject } from '@orch/core/meta'
import { virtualClock } from '@orch/platform'
import { aCertificate } from '@orch/platform/any-certificate'
import { expect, onTestFinished, test } from 'vitest'
import { start } from '../start/start.ts'

interface Pod extends ApiObject {
  readonly status?: { readonly containerStatuses: readonly [{ readonly ready: boolean; readonly restartCount: number }] }
}

const namespace = 'default'

async function aServer() {
  const clock = virtualClock({ start: new Date('2030-01-01T00:00:00Z') })
  const server = await start({ nodes: 1, clock, seed: 7, controllers: ['namespace'] })
  onTestFinished(() => server.stop())
  const settled = () => server.settled({ within: 60_000 })
  const pods = server.client.resource<Pod>({ group: '', version: 'v1', plural: 'pods', namespaced: true })
  const create = async (name: string, container: object, spec: object = {}) => {
    await pods.create({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, labels: { app: name } } },
      spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'img:1', ...container }], ...spec },
    })
    await settled()
  }
  const read = async (name: string) => {
    const { ready, restartCount } = (await pods.get(name, { namespace })).status?.containerStatuses[0] ?? {}
    return { ready, restartCount }
  }
  const messages = async (reason: string) => {
    const { items } = await server.client.resource<ApiObject & { reason: string; message: string }>(events).list({ namespace })
    return items.filter((event) => event.reason === reason).map(({ message }) => message)
  }
  await settled()
  return { server, clock, settled, pods, create, read, messages }
}

const events = { group: '', version: 'v1', plural: 'events', namespaced: true } as const

/** A server whose status the test sets, and the requests that it has seen. */
function aWebServer() {
  const seen: string[] = []
  const state = { status: 200, headers: {} as Record<string, string> }
  const web = createServer(({ method, url, headers }: IncomingMessage, response) => {
    const { host, 'x-own': own = '', 'user-agent': agent, accept = '' } = headers
    seen.push(`${method} ${url} ${host} ${own} ${agent} ${accept}`.replace(/ +/g, ' ').trim())
    if (state.status === 0) response.destroy()
    else response.writeHead(url?.endsWith('/end') ? 200 : state.status, state.headers).end('seen')
  })
  return { web, seen, state }
}

test('a probe by HTTP gets the answer of the server at the port that a script serves', async () => {
  const { server, clock, create, read, messages } = await aServer()
  const { web, seen, state } = aWebServer()
  server.nodes.script({}, (c) => c.port(8080, web))
  const own = ['yes', 'or no'].map((value) => ({ name: 'X-Own', value }))
  const httpGet = { port: 'http', path: 'ready?now', httpHeaders: [...own, { name: 'Accept', value: '' }] }
  state.status = 503
  await create('web', { ports: [{ name: 'http', containerPort: 8080 }], readinessProbe: { httpGet, periodSeconds: 5 } })
  expect(await read('web')).toEqual({ ready: false, restartCount: 0 })
  expect(seen).toEqual(['GET /ready?now 10.244.0.2:8080 yes, or no kube-probe/1.37'])
  expect(await messages('Unhealthy')).toEqual(['Readiness probe failed: HTTP probe failed with statuscode: 503'])
  state.status = 302
  await clock.advance('5s')
  expect(await read('web')).toEqual({ ready: true, restartCount: 0 })
  expect(await messages('ProbeWarning')).toEqual(['Readiness probe warning: Probe terminated redirects, Response body: seen'])
})

test('a probe by HTTP follows redirects of the same host, ten requests at most', async () => {
  const { server, clock, create, read, messages } = await aServer()
  const { web, seen, state } = aWebServer()
  server.nodes.script({}, (c) => c.port(8080, web))
  Object.assign(state, { status: 301, headers: { location: '/again' } })
  const httpGet = { port: 8080, httpHeaders: [{ name: 'Host', value: 'shop.example' }] }
  await create('web', { readinessProbe: { httpGet, periodSeconds: 1, failureThreshold: 1 } })
  expect(await read('web')).toMatchObject({ ready: false })
  expect(seen.map((line) => line.slice(0, 'GET /again shop.example'.length))).toEqual([
    'GET / shop.example kube',
    ...Array(9).fill('GET /again shop.example'),
  ])
  expect(await messages('Unhealthy')).toEqual(['Readiness probe failed: Get "http://10.244.0.2:8080/again": stopped after 10 redirects'])
  state.headers = { location: 'http://10.244.0.2:8080/end' }
  await clock.advance('1s')
  expect(await read('web')).toMatchObject({ ready: true })
  expect(seen.at(-1)).toMatch(/^GET \/end 10\.244\.0\.2:8080/)
  state.headers = { location: 'http://elsewhere:8080/end' }
  await clock.advance('1s')
  expect(await messages('ProbeWarning')).toHaveLength(1)
  state.headers = { location: 'ftp://10.244.0.2/end' }
  await clock.advance('1s')
  expect((await messages('Unhealthy')).at(-1)).toContain('unsupported protocol scheme "ftp"')
})

test('the probes of a container are called side by side', async () => {
  const { server, create, read } = await aServer()
  const isAlive = Promise.withResolvers<void>()
  const web = createServer(async ({ url }, response) => {
    if (url === '/alive') isAlive.resolve()
    await isAlive.promise
    response.end()
  })
  server.nodes.script({}, (c) => c.port(8080, web))
  const probe = (path: string) => ({ httpGet: { port: 8080, path }, timeoutSeconds: 10 })
  await create('web', { readinessProbe: probe('/ready'), livenessProbe: probe('/alive') })
  expect(await read('web')).toEqual({ ready: true, restartCount: 0 })
})

test('a probe whose port no script serves passes', async () => {
  const { create, read } = await aServer()
  await create('web', { readinessProbe: { httpGet: { port: 8080 } }, livenessProbe: { tcpSocket: { port: 8081 } } })
  expect(await read('web')).toEqual({ ready: true, restartCount: 0 })
})

test('a probe by HTTPS trusts any certificate', async () => {
  const { server, create, read } = await aServer()
  const { certificate: cert, key } = await aCertificate({ use: 'server' })
  let status = 500
  server.nodes.script({}, (c) =>
    c.port(
      8443,
      createHttpsServer({ cert, key }, (_request, response) => void response.writeHead(status).end()),
    ),
  )
  const readinessProbe = { httpGet: { port: 8443, scheme: 'HTTPS' } }
  await create('sick', { readinessProbe })
  status = 200
  await create('web', { readinessProbe })
  expect([await read('sick'), await read('web')]).toMatchObject([{ ready: false }, { ready: true }])
})

test('a fixed answer of a PodScript decides about a probe by HTTP', async () => {
  const { server, create, read, clock } = await aServer()
  const ports = [{ port: 80, http: { status: 500 } }]
  await server.client.objects.create({
    ...{ apiVersion: 'simulation.orch.io/v1', kind: 'PodScript', metadata: { name: 'sick', namespace } },
    spec: { containers: [{ name: '*', ports }] },
  })
  await server.settled({ within: 60_000 })
  await create('sick', { livenessProbe: { httpGet: { port: 80 }, periodSeconds: 1, failureThreshold: 2 } })
  expect(await read('sick')).toEqual({ ready: true, restartCount: 0 })
  await clock.advance('1s')
  expect(await read('sick')).toMatchObject({ restartCount: 1 })
})

test('a probe by TCP fails after its script is gone, and where a script cannot reach its server', async () => {
  const { server, clock, create, read, messages } = await aServer()
  const script = server.nodes.script({}, (c) => c.port(8080, createServer()))
  await create('web', { readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1, failureThreshold: 1 } })
  expect(await read('web')).toMatchObject({ ready: true })
  script[Symbol.dispose]()
  await clock.advance('1s')
  expect(await read('web')).toMatchObject({ ready: false })
  expect((await messages('Unhealthy')).join()).toMatch(/^Readiness probe failed: dial tcp 10\.244\.0\.2:8080: .*connection refused/)
  // No program of a machine listens there.
  await server.client.objects.create({
    ...{ apiVersion: 'simulation.orch.io/v1', kind: 'PodScript', metadata: { name: 'lost', namespace } },
    spec: { containers: [{ name: '*', ports: [{ port: 8081, forwardTo: '127.0.0.1:1' }] }] },
  })
  await server.settled({ within: 60_000 })
  await create('lost', { readinessProbe: { tcpSocket: { port: 8081 } } })
  expect(await read('lost')).toMatchObject({ ready: false })
})

test('a probe by gRPC gets the status of the health service', async () => {
  const { server, clock, create, read, messages } = await aServer()
  const asked: string[] = []
  let status = 2
  const grpc = createHttp2Server((request, response) => {
    request.on('data', (chunk: Buffer) => asked.push(`${request.url} ${chunk.toString('hex')}`))
    request.on('end', () => {
      response.setHeader('content-type', 'application/grpc')
      response.addTrailers({ 'grpc-status': '0' })
      response.end(Buffer.from([0, 0, 0, 0, 2, 8, status]))
    })
  })
  server.nodes.script({}, (c) => c.port(9000, grpc))
  await create('web', { readinessProbe: { grpc: { port: 9000, service: 'shop' }, periodSeconds: 1 } })
  expect(await read('web')).toMatchObject({ ready: false })
  expect(await messages('Unhealthy')).toEqual(['Readiness probe failed: service unhealthy (responded with "NOT_SERVING")'])
  status = 1
  await clock.advance('1s')
  expect(await read('web')).toMatchObject({ ready: true })
  // A message of seven bytes: field 1, whose length of 4 is in two bytes.
  expect(asked[0]).toBe('/grpc.health.v1.Health/Check 00000000070a840073686f70')
  await create('long', { readinessProbe: { grpc: { port: 9000, service: 's'.repeat(300) } } })
  expect(asked.at(-1)).toMatch(/Check 000000012f0aac02(?:73){300}$/)
})

test('the requests of hooks reach the server of a script: a failed postStart kills the container, preStop precedes the signal', async () => {
  const { server, settled, pods, create, read, messages } = await aServer()
  const { web, seen, state } = aWebServer()
  server.nodes.script({}, (c) => c.port(8080, web))
  const lifecycle = { postStart: { httpGet: { port: 8080, path: '/began' } }, preStop: { httpGet: { port: 8080, path: '/ends' } } }
  await create('web', { lifecycle })
  expect(await read('web')).toEqual({ ready: true, restartCount: 0 })
  expect(seen).toEqual(['GET /began 10.244.0.2:8080 kube-lifecycle/1.37 */*'])
  state.status = 0
  await pods.delete('web', { namespace })
  await settled()
  expect((await pods.list({ namespace })).items).toEqual([])
  expect(seen.slice(1)).toEqual(['GET /ends 10.244.0.2:8080 kube-lifecycle/1.37 */*'])
  expect(await messages('FailedPreStopHook')).toEqual(['PreStopHook failed'])
  await create('sick', { lifecycle }, { restartPolicy: 'Never' })
  expect(await read('sick')).toMatchObject({ ready: false })
  expect(await messages('FailedPostStartHook')).toEqual(['PostStartHook failed'])
  // As with a kubelet, the status of an answer does not matter.
  state.status = 500
  await create('odd', { lifecycle })
  expect(await read('odd')).toMatchObject({ ready: true })
})
