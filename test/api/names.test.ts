import { describe, expect, test } from 'vitest'
import { anApi, configMap, created, namesOfItems, sharedApi } from './api.ts'

const profiles = {
  orch: { domain: 'orch.io', label: 'orch.io', namespaces: ['default', 'orch-node-lease', 'orch-public', 'orch-system'], word: 'orch' },
  kubernetes: {
    domain: 'k8s.io',
    label: 'kubernetes.io',
    namespaces: ['default', 'kube-node-lease', 'kube-public', 'kube-system'],
    word: 'kubernetes',
  },
} as const

describe.each(Object.entries(profiles))('profile %s', (profile, expected) => {
  const server = sharedApi({ profile: profile as keyof typeof profiles })

  test('NAME-02: groups of the product end with its domain', async () => {
    const { body } = await server.api.get('/apis')
    const names = (body['groups'] as { name: string }[]).map(({ name }) => name).filter((name) => name.includes('.'))
    expect(names.map((name) => name.split('.').slice(-2).join('.'))).toEqual(names.map(() => expected.domain))
    expect(names).toContain(`storage.${expected.domain}`)
    expect(names).toContain(`admissionregistration.${expected.domain}`)
  })

  test('NAME-03: the namespaces of the start exist', async () => {
    expect(namesOfItems((await server.api.get('/api/v1/namespaces')).body)).toEqual(expected.namespaces)
  })

  test('NAME-01: a namespace has its name as a label, and the finalizer of the profile', async () => {
    const namespace = await created(server.api, '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'labelled' },
    })
    expect(namespace.metadata.labels).toEqual({ [`${expected.label}/metadata.name`]: 'labelled' })
    expect(namespace['spec']).toEqual({ finalizers: [expected.word] })
    expect(namespace['status']).toEqual({ phase: 'Active' })
  })

  test('NAME-01: the Service and Endpoints of the server have the name of the profile', async () => {
    const services = namesOfItems((await server.api.get('/api/v1/namespaces/default/services')).body)
    const endpoints = namesOfItems((await server.api.get('/api/v1/namespaces/default/endpoints')).body)
    expect({ services, endpoints }).toEqual({ services: [expected.word], endpoints: [expected.word] })
  })

  test('NAME-01: options are in the meta group of the profile', async () => {
    const { body } = await server.api.post('/api/v1/namespaces/default/configmaps?dryRun=x', configMap({ name: 'a' }))
    expect(body['message']).toBe(
      `CreateOptions.meta.${expected.domain} "" is invalid: dryRun: Unsupported value: ["x"]: supported values: "All"`,
    )
  })

  test('NAME-01: no other product name leaks into discovery, paths or headers', async () => {
    const texts = await Promise.all(
      ['/', '/api', '/apis', '/api/v1', `/apis/storage.${expected.domain}/v1`, '/api/v1/namespaces/default'].map(async (path) => {
        const { text, headers } = await server.api.get(path)
        return `${text}${JSON.stringify(headers)}`
      }),
    )
    const foreign = profile === 'orch' ? /kube|k8s/i : /orch/i
    expect(texts.filter((text) => foreign.test(text))).toEqual([])
  })
})

describe('a base path', () => {
  test('NAME-05: precedes the whole API', async () => {
    const api = await anApi({ pathPrefix: '/cluster-a' })
    expect(new URL(api.url).pathname).toBe('/cluster-a')
    const made = await created(api, '/api/v1/namespaces/default/configmaps', configMap({ name: 'a' }))
    expect((await api.get('/api/v1/namespaces/default/configmaps/a')).body).toEqual(made)
    expect((await api.get('/version')).status).toBe(200)
    expect((await api.get('/apis/storage.orch.io/v1/csinodes')).status).toBe(200)
    const index = await api.get('/openapi/v3')
    const { serverRelativeURL } = (index.body as unknown as { paths: Record<string, { serverRelativeURL: string }> }).paths['apis/apps/v1']!
    expect(serverRelativeURL).toMatch(/^\/cluster-a\/openapi\/v3\/apis\/apps\/v1\?hash=\w+$/)
    expect(await api.send('GET', serverRelativeURL, { isOutsidePrefix: true })).toMatchObject({ status: 200, body: { openapi: '3.0.0' } })
    for (const target of ['/version', '/api/v1/namespaces', '/cluster-ab/version']) {
      expect(await api.send('GET', target, { isOutsidePrefix: true })).toMatchObject({ status: 404 })
    }
  })
})

test('a LimitRange without a name is named by the server, and a no-op update leaves it', async () => {
  const api = await anApi({})
  const path = '/api/v1/namespaces/default/limitranges'
  const made = await created(api, path, { apiVersion: 'v1', kind: 'LimitRange', metadata: {}, spec: { limits: [] } })
  expect(made.metadata.name).toMatch(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  const { body } = await api.send('PUT', `${path}/${made.metadata.name}`, { body: made })
  expect(body).toMatchObject({ metadata: { resourceVersion: made.metadata.resourceVersion } })
})
