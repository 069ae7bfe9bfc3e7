import type { ApiObject } from '@orch/core/meta'
import { type RunningServer, start } from 'orch'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const namespace = 'default'
const services = `/api/v1/namespaces/${namespace}/services`

describe('NODE-IO-28: the proxy of a Service', () => {
  let server: RunningServer

  const aPod = (name: string, app: string) =>
    server.client.objects.create({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, labels: { app } } },
      spec: { containers: [{ name: 'main', image: 'img:1', ports: [{ name: 'http', containerPort: 8080 }] }] },
    } as ApiObject)

  const aService = (name: string, spec: object) =>
    server.client.objects.create({ ...{ apiVersion: 'v1', kind: 'Service', metadata: { name, namespace } }, spec } as ApiObject)

  const get = (path: string) =>
    server.client.request<string>({ method: 'GET', path: `${services}/${path}` }).catch((error: Error) => error.message)

  beforeAll(async () => {
    server = await start({ profile: 'kubernetes', nodes: 1 })
    await server.client.objects.create({
      ...{ apiVersion: 'simulation.orch.io/v1', kind: 'PodScript', metadata: { name: 'web', namespace } },
      spec: {
        selector: { matchLabels: { app: 'web' } },
        containers: [{ name: '*', ports: [{ port: 8080, http: { status: 200, contentType: 'application/json', body: '"hello"' } }] }],
      },
    } as ApiObject)
    await aPod('web', 'web')
    const ports = [
      { name: 'http', port: 80, targetPort: 'http' },
      { name: 'none', port: 90, targetPort: 9000 },
    ]
    await aService('web', { selector: { app: 'web' }, ports })
    await aService('plain', { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] })
    await aService('bare', { ports })
    await server.settled({ within: 60_000 })
  })
  afterAll(() => server?.stop())

  test('forwards to a Pod, by the name or the number of a port, or without a port', async () => {
    const answers = await Promise.all(['web:http/proxy/x', 'web:80/proxy/x', 'http:web:http/proxy/x', 'plain/proxy/x'].map(get))
    expect(answers).toEqual(['hello', 'hello', 'hello', 'hello'])
  })

  test('is refused if the port has no endpoints, and if the Service has no such port', async () => {
    const answers = await Promise.all(['web/proxy/', 'web:81/proxy/', 'bare:http/proxy/', 'web:none/proxy/', 'absent/proxy/'].map(get))
    expect(answers).toEqual([
      'no endpoints available for service "web"',
      'no service port 81 found for service "web"',
      'no endpoints available for service "bare"',
      expect.stringMatching(/^error trying to reach service: .*refused/),
      'services "absent" not found',
    ])
  })

  test('forwards to ready endpoints of slices, without an Endpoints object', async () => {
    const { status } = await server.client.objects.get<ApiObject & { status: { podIP: string } }>({
      ...{ apiVersion: 'v1', kind: 'Pod', namespace, name: 'web' },
    })
    const aSlice = (name: string, ready: boolean) =>
      server.client.objects.create({
        ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' },
        metadata: { name, namespace, labels: { 'kubernetes.io/service-name': name } },
        ...{ addressType: 'IPv4', ports: [{ name: 'http', port: 8080 }] },
        endpoints: [{ addresses: [status.podIP], conditions: { ready }, targetRef: { kind: 'Pod', namespace, name: 'web' } }],
      } as ApiObject)
    await Promise.all([
      aService('sliced', { ports: [{ name: 'http', port: 80 }] }),
      aService('unready', { ports: [{ name: 'http', port: 80 }] }),
    ])
    await Promise.all([aSlice('sliced', true), aSlice('unready', false)])
    expect(await Promise.all(['sliced:http/proxy/', 'unready:80/proxy/'].map(get))).toEqual([
      'hello',
      'no endpoints available for service "unready"',
    ])
  })

  test('forwards only to addresses of Pods', async () => {
    await server.client.objects.create({
      ...{ apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'bare', namespace } },
      subsets: [
        {
          addresses: [{ ip: '10.1.2.3' }, { ip: '10.1.2.4', targetRef: { kind: 'Pod', namespace, name: 'web' } }],
          ports: [{ name: 'http', port: 1 }],
        },
      ],
    } as ApiObject)
    expect(await get('bare:http/proxy/')).toBe('no endpoints available for service "bare"')
  })
})
