import { createSecureServer } from 'node:http2'
import { createServer } from 'node:https'
import type { ApiObject } from '@orch/core/meta'
import { aCertificate, anAuthority } from '@orch/platform/any-certificate'
import { type RunningServer, start } from 'orch'
import { beforeAll, describe, expect, test } from 'vitest'

const namespace = 'shop'
/** The first address of the first node's Pods. */
const podIp = '10.244.0.2'
const names = ['hook.shop.svc', 'api.shop.svc', podIp]

describe('NODE-IO-28: a call to a simulated Pod is answered by the port of its script', () => {
  let server: RunningServer
  let caBundle = ''
  /** The paths that the webhooks' server has served, and its connections. */
  const served: string[] = []
  let connections = 0

  const create = (object: object) => server.client.objects.create(object as ApiObject)
  const aService = (name: string, targetPort: number) =>
    create({
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { name, namespace } },
      spec: { selector: { app: 'operator' }, ports: [{ port: 443, targetPort }] },
    })
  const aConfigMap = (name: string, labels: object) =>
    create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels }, data: {} })
  const aWebhook = (name: string, service: string) => aWebhookAt(name, { service: { namespace, name: service, path: '/validate' } })
  const aWebhookAt = (name: string, place: object, rest: object = {}) =>
    create({
      ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration', metadata: { name } },
      webhooks: [
        {
          name: `${name}.example.com`,
          clientConfig: { ...place, caBundle },
          ...rest,
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
          objectSelector: { matchLabels: { asks: name } },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    })

  beforeAll(async () => {
    const authority = await anAuthority('operator')
    caBundle = Buffer.from(authority.certificate).toString('base64')
    const { certificate: cert, key } = await aCertificate({ issuer: authority, commonName: 'hook', use: 'server', dnsNames: names })
    const hooks = createServer({ cert, key }, async (request, response) => {
      let text = ''
      for await (const chunk of request) text += String(chunk)
      served.push(request.url ?? '')
      const { request: asked, ...review } = JSON.parse(text === '' ? '{}' : text)
      const answer = request.url?.startsWith('/convert')
        ? {
            convertedObjects: asked.objects.map((one: object) => ({ ...one, apiVersion: asked.desiredAPIVersion })),
            result: { status: 'Success' },
          }
        : { allowed: false, status: { message: `not ${asked?.name}` } }
      response.end(JSON.stringify({ ...review, response: { uid: asked?.uid, ...answer } }))
    })
    hooks.on('secureConnection', () => connections++)
    const group = 'shop.example.com'
    const apis = createSecureServer({ cert, key, allowHTTP1: true }, (request, response) => {
      const resources = [{ name: 'orders', singularName: 'order', namespaced: false, kind: 'Order', verbs: ['get'] }]
      const list = { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${group}/v1`, resources }
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify(request.url === `/apis/${group}/v1` ? list : { kind: 'Order', asked: request.url, over: request.httpVersion }),
      )
    })
    server = await start({ profile: 'kubernetes', nodes: 1 })
    server.nodes.script({ labels: { app: 'operator' } }, (c) => {
      c.port(8443, hooks)
      c.port(9443, apis)
    })
    await create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
    await create({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'operator', namespace, labels: { app: 'operator' } } },
      spec: { containers: [{ name: 'main', image: 'img:1' }] },
    })
    await Promise.all([aService('hook', 8443), aService('api', 9443), aService('silent', 7443)])
    await server.settled({ within: 60_000 })
    return () => server.stop()
  })

  test('a webhook, on one connection for several calls', async () => {
    await aWebhook('answered', 'hook')
    for (const name of ['a', 'b']) {
      await expect(aConfigMap(name, { asks: 'answered' })).rejects.toThrow(
        `admission webhook "answered.example.com" denied the request: not ${name}`,
      )
    }
    expect([served, connections]).toEqual([['/validate?timeout=10s', '/validate?timeout=10s'], 1])
  })

  test('a webhook whose URL has the address of the Pod', async () => {
    await aWebhookAt('direct', { url: `https://${podIp}:8443/validate` })
    await expect(aConfigMap('d', { asks: 'direct' })).rejects.toThrow('admission webhook "direct.example.com" denied the request: not d')
  })

  test('not for an endpoint that names the Pod, and has another address', async () => {
    await create({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'stray', namespace }, spec: { ports: [{ port: 443 }] } })
    const { metadata } = await server.client.objects.get({ apiVersion: 'v1', kind: 'Pod', namespace, name: 'operator' })
    const targetRef = { kind: 'Pod', namespace, name: 'operator', uid: metadata.uid }
    await create({
      ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4', ports: [{ name: '', port: 8443 }] },
      metadata: { name: 'stray', namespace, labels: { 'kubernetes.io/service-name': 'stray' } },
      endpoints: [{ addresses: ['10.244.0.200'], nodeName: 'node-1', targetRef }],
    })
    await aWebhookAt('stray', { service: { namespace, name: 'stray', path: '/validate' } }, { timeoutSeconds: 1 })
    await expect(aConfigMap('e', { asks: 'stray' })).rejects.toThrow('failed calling webhook "stray.example.com": failed to call webhook')
  })

  test('a conversion webhook', async () => {
    const version = (name: string, storage: boolean) => ({
      ...{ name, served: true, storage },
      schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    })
    const client = { service: { namespace, name: 'hook', path: '/convert' }, caBundle }
    await create({
      ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'carts.example.com' } },
      spec: {
        ...{ group: 'example.com', scope: 'Namespaced', names: { plural: 'carts', kind: 'Cart' } },
        versions: [version('v1', true), version('v2', false)],
        conversion: { strategy: 'Webhook', webhook: { clientConfig: client, conversionReviewVersions: ['v1'] } },
      },
    })
    await server.settled({ within: 60_000 })
    await create({ apiVersion: 'example.com/v1', kind: 'Cart', metadata: { name: 'a', namespace } })
    const path = `/apis/example.com/v2/namespaces/${namespace}/carts/a`
    expect(await server.client.request({ method: 'GET', path })).toMatchObject({ apiVersion: 'example.com/v2' })
    expect(served).toContain('/convert?timeout=30s')
  })

  test('an APIService, over HTTP/2', async () => {
    await create({
      ...{ apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { name: 'v1.shop.example.com' } },
      spec: {
        ...{ group: 'shop.example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 10, caBundle },
        service: { namespace, name: 'api' },
      },
    })
    await server.settled({ within: 60_000 })
    const path = '/apis/shop.example.com/v1/orders/a'
    expect(await server.client.request({ method: 'GET', path })).toEqual({ kind: 'Order', asked: path, over: '2.0' })
  })

  test('the proxy of a Service over HTTPS', async () => {
    const path = `/api/v1/namespaces/${namespace}/services/https:api:443/proxy/x`
    expect(await server.client.request({ method: 'GET', path })).toMatchObject({ asked: '/x', over: '1.1' })
  })

  test('a call to a port without a script fails at once, and its error names the Pod', async () => {
    await aWebhook('unanswered', 'silent')
    const refused = 'no script answers on port 7443 of pod shop/operator: dial tcp4 127.0.0.1:7443: connect: connection refused'
    await expect(aConfigMap('c', { asks: 'unanswered' })).rejects.toThrow(
      `Post "https://silent.shop.svc:443/validate?timeout=10s": ${refused}`,
    )
    const path = `/api/v1/namespaces/${namespace}/services/https:silent:443/proxy/x`
    await expect(server.client.request({ method: 'GET', path })).rejects.toThrow(`error trying to reach service: ${refused}`)
  })
})
