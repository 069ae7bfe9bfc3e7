import { parseYaml } from '@orch/core/yaml'
import { describe, expect, test } from 'vitest'
import { type Api, anApi, sharedApi } from './api.ts'

const server = sharedApi({ version: '1.25' })

interface ApiResource {
  name: string
  singularName: string
  namespaced: boolean
  kind: string
  verbs: string[]
  group?: string
  version?: string
  shortNames?: string[]
  categories?: string[]
}

interface ApiGroup {
  name: string
  versions: { groupVersion: string; version: string }[]
  preferredVersion: { groupVersion: string; version: string }
}

const resourcesOf = async (api: Api, base: string) => ((await api.get(base)).body['resources'] ?? []) as ApiResource[]
const groupsOf = async (api: Api) => (await api.get('/apis')).body['groups'] as ApiGroup[]

test.each(['/openapi/v2', '/openapi/v3/apis/apps/v1'])('ADDR-18: %s has the same time of creation in each request', async (path) => {
  const [first, second] = [await server.api.get(path), await server.api.get(path)]
  const made = first.headers['last-modified'] ?? ''
  expect(new Date(made).toUTCString()).toBe(made)
  expect(Date.parse(made)).toBeLessThanOrEqual(Date.now())
  expect(second.headers['last-modified']).toBe(made)
})

test('ADDR-18: every document of the index exists, and discovery documents contain their path', async () => {
  const { paths } = (await server.api.get('/openapi/v3')).body as unknown as { paths: Record<string, { serverRelativeURL: string }> }
  for (const name of ['.well-known/openid-configuration', 'api', 'apis', 'apis/apps', 'openid/v1/jwks', 'version']) {
    const { status, body } = await server.api.get(paths[name]?.serverRelativeURL ?? 'none')
    expect({ status, paths: Object.keys(body['paths'] as object) }).toEqual({ status: 200, paths: [`/${name}/`] })
  }
})

describe('discovery', () => {
  test('ADDR-17: describes /api', async () => {
    const { body } = await server.api.get('/api')
    expect(body).toEqual({
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: new URL(server.api.url).host }],
    })
  })

  test('ADDR-17: omits apiVersion in resources of the core group, and has it in others', async () => {
    expect((await server.api.get('/api/v1')).body).toMatchObject({ kind: 'APIResourceList', groupVersion: 'v1' })
    expect((await server.api.get('/api/v1')).body).not.toHaveProperty('apiVersion')
    expect((await server.api.get('/apis/apps/v1')).body).toMatchObject({
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: 'apps/v1',
    })
  })

  test('ADDR-17: describes /apis and one group', async () => {
    const { body } = await server.api.get('/apis')
    expect(body).toMatchObject({ kind: 'APIGroupList', apiVersion: 'v1' })
    expect((await server.api.get('/apis/')).body).toEqual(body)
    const storage = (body['groups'] as ApiGroup[]).find(({ name }) => name === 'storage.orch.io')
    expect(storage).toEqual({
      name: 'storage.orch.io',
      versions: [
        { groupVersion: 'storage.orch.io/v1', version: 'v1' },
        { groupVersion: 'storage.orch.io/v1beta1', version: 'v1beta1' },
      ],
      preferredVersion: { groupVersion: 'storage.orch.io/v1', version: 'v1' },
    })
    expect((await server.api.get('/apis/storage.orch.io')).body).toEqual({ kind: 'APIGroup', apiVersion: 'v1', ...storage })
  })

  test('VER-01, VER-02, VER-03, VER-08: lists versions by stability, the most stable first', async () => {
    for (const { versions, preferredVersion } of await groupsOf(server.api)) {
      expect(versions.map(({ version }) => version).filter((version) => !/^v\d+((alpha|beta)\d+)?$/.test(version))).toEqual([])
      expect(preferredVersion).toEqual(versions[0])
      const ranks = versions.map(({ version }) => (version.includes('alpha') ? 2 : version.includes('beta') ? 1 : 0))
      expect(ranks).toEqual([...ranks].sort())
    }
  })

  test('ADDR-17, ADDR-09: lists the resources of a group version with their verbs', async () => {
    const { body } = await server.api.get('/api/v1')
    expect(body).toMatchObject({ kind: 'APIResourceList', groupVersion: 'v1' })
    const resources = body['resources'] as ApiResource[]
    const named = (name: string) => resources.find((resource) => resource.name === name)
    expect(named('configmaps')).toMatchObject({ namespaced: true, kind: 'ConfigMap', shortNames: ['cm'] })
    expect([...named('configmaps')!.verbs].sort()).toEqual([
      'create',
      'delete',
      'deletecollection',
      'get',
      'list',
      'patch',
      'update',
      'watch',
    ])
    expect(named('nodes')).toMatchObject({ namespaced: false, kind: 'Node', shortNames: ['no'] })
    expect([...named('nodes/status')!.verbs].sort()).toEqual(['get', 'patch', 'update'])
    expect(named('replicationcontrollers/scale')).toMatchObject({ group: 'autoscaling', version: 'v1', kind: 'Scale' })
    expect(named('pods/eviction')).toMatchObject({ group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] })
    expect(named('serviceaccounts/token')).toMatchObject({ group: 'authentication.orch.io', kind: 'TokenRequest', verbs: ['create'] })
    expect(named('pods')).toMatchObject({ categories: ['all'] })
    expect((await server.api.get('/apis/storage.orch.io/v1')).body).toMatchObject({ kind: 'APIResourceList', apiVersion: 'v1' })
  })

  test('KIND-CSI-01, KIND-VA-01, KIND-NODE-01, KIND-RQ-01: has the five kinds and their scopes', async () => {
    const storage = await resourcesOf(server.api, '/apis/storage.orch.io/v1')
    const core = await resourcesOf(server.api, '/api/v1')
    const scopes = [...storage, ...core].map(({ name, namespaced }) => [name, namespaced])
    expect(scopes).toEqual(
      expect.arrayContaining([
        ['csinodes', false],
        ['volumeattachments', false],
        ['volumeattachments/status', false],
        ['nodes', false],
        ['nodes/status', false],
        ['resourcequotas', true],
        ['resourcequotas/status', true],
        ['replicationcontrollers', true],
        ['replicationcontrollers/status', true],
      ]),
    )
    expect(storage.map(({ name }) => name)).not.toContain('csinodes/status')
  })

  test.each([
    [26, ['v2']],
    [27, ['v2', 'v2beta1']],
    [32, ['v2', 'v2beta1']],
    [33, ['v2']],
  ])('READ-18: at 1.%d is aggregated as %j', async (level, expected) => {
    const api = await anApi({ controllers: [], flags: [`--emulated-version=1.${level}`] })
    const answers = await Promise.all(
      ['v2', 'v2beta1'].map(async (version) => {
        const accept = `application/json;g=apidiscovery.orch.io;v=${version};as=APIGroupDiscoveryList`
        const { status, headers, body } = await api.get('/apis', { accept })
        if (status === 200) expect(headers['content-type']).toBe(accept)
        return status === 200 ? String(body.apiVersion).replace('apidiscovery.orch.io/', '') : undefined
      }),
    )
    expect(answers.filter((version) => version !== undefined)).toEqual(expected)
  })

  test('READ-18: has no aggregated v2beta1; clients that request it get the plain form, which they also accept', async () => {
    const beta = 'application/json;g=apidiscovery.orch.io;v=v2beta1;as=APIGroupDiscoveryList'
    expect((await server.api.get('/apis', { accept: `${beta},application/json` })).body.kind).toBe('APIGroupList')
  })

  test('MACH-DISC-01, READ-19: has an ETag, and is not sent again to clients with the same ETag', async () => {
    const accept = 'application/json;g=apidiscovery.orch.io;v=v2;as=APIGroupDiscoveryList'
    const { headers } = await server.api.get('/apis', { accept })
    const again = await server.api.get('/apis', { accept, 'if-none-match': String(headers.etag) })
    expect([again.status, again.text, again.headers.etag]).toEqual([304, '', headers.etag])
    for (const path of ['/openapi/v2', '/openapi/v3/apis/apps/v1']) {
      const { headers: own } = await server.api.get(path)
      const known = await server.api.get(path, { 'if-none-match': String(own.etag) })
      expect([known.status, known.headers['content-type'], known.headers['content-length']]).toEqual([304, undefined, undefined])
    }
  })

  test('MACH-DISC-01, ADDR-17, READ-18: is aggregated on request', async () => {
    const accept = 'application/json;g=apidiscovery.orch.io;v=v2;as=APIGroupDiscoveryList'
    const { headers, body } = await server.api.get('/apis', { accept: `${accept},application/json` })
    expect(String(headers['content-type']).replaceAll(' ', '')).toBe(accept)
    expect(body).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.orch.io/v2' })
    const storage = body.items.find(({ metadata }) => metadata.name === 'storage.orch.io')
    const [version] = storage!['versions'] as { version: string; freshness: string; resources: { resource: string }[] }[]
    expect(version).toMatchObject({ version: 'v1', freshness: 'Current' })
    expect(version!.resources.find(({ resource }) => resource === 'volumeattachments')).toMatchObject({
      responseKind: { group: '', version: '', kind: 'VolumeAttachment' },
      scope: 'Cluster',
      subresources: [{ subresource: 'status' }],
    })
  })

  test('MACH-DISC-01: is aggregated in Protobuf and YAML too, with the same ETag', async () => {
    const form = ';g=apidiscovery.orch.io;v=v2;as=APIGroupDiscoveryList'
    const json = await server.api.get('/apis', { accept: `application/json${form}` })
    expect([json.headers['cache-control'], json.headers['vary']]).toEqual(['public', 'Accept'])
    const yaml = await server.api.get('/apis', { accept: `application/yaml${form}` })
    expect([yaml.headers['content-type'], yaml.headers.etag]).toEqual([`application/yaml${form}`, json.headers.etag])
    expect(parseYaml(yaml.text)).toMatchObject({ value: json.body })
    const type = `application/vnd.orch.protobuf${form}`
    const protobuf = await server.api.get('/apis', { accept: type })
    expect([protobuf.headers['content-type'], protobuf.headers.etag]).toEqual([type, json.headers.etag])
  })

  test('MACH-OPS-02: metrics count health checks from level 1.27 on, and are served as Protobuf too', async () => {
    expect((await server.api.get('/metrics/slis')).status).toBe(404)
    const api = await anApi({ controllers: [], flags: ['--emulated-version=1.37'] })
    expect((await api.get('/readyz?exclude=shutdown')).status).toBe(200)
    await api.get('/livez/ping')
    const { headers, text } = await api.get('/metrics/slis')
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8; escaping=underscores')
    expect(text).toContain('kubernetes_healthcheck{name="etcd-readiness",type="readyz"} 1')
    expect(text).toContain('kubernetes_healthchecks_total{name="ping",status="success",type="livez"} 1')
    expect(text).not.toContain('name="shutdown"')
    const protobuf = 'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited'
    const typeOf = async (accept: string) => String((await api.get('/metrics', { accept })).headers['content-type'])
    expect(await typeOf(protobuf)).toBe(`${protobuf}; escaping=underscores`)
    expect(await typeOf(`${protobuf};escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.9`)).toMatch(/^text\/plain; version=0\.0\.4/)
    expect(await typeOf('application/openmetrics-text;version=1.0.0;escaping=allow-utf-8')).toMatch(
      /^text\/plain; .*; escaping=allow-utf-8$/,
    )
    expect((await api.get('/metrics/slis', { accept: protobuf })).text).toContain('kubernetes_healthchecks_total')
  })

  test('VER-09: the server reports API version 1.25', async () => {
    const { body } = await server.api.get('/version')
    expect(body).toMatchObject({ major: '1', minor: '25', gitVersion: expect.stringMatching(/^v1\.25\./) })
    for (const field of ['gitCommit', 'gitTreeState', 'buildDate', 'goVersion', 'compiler', 'platform'])
      expect(body[field]).toBeTypeOf('string')
  })
})

describe('runtime configuration', () => {
  const namesIn = async (api: Api) => (await groupsOf(api)).flatMap(({ versions }) => versions.map(({ groupVersion }) => groupVersion))

  test('VER-04, VER-05: leaves alpha versions off and beta versions on', async () => {
    const names = await namesIn(server.api)
    expect(names.filter((name) => name.includes('alpha'))).toEqual([])
    expect(names.filter((name) => name.includes('beta'))).toEqual(
      expect.arrayContaining(['flowcontrol.apiserver.orch.io/v1beta2', 'storage.orch.io/v1beta1']),
    )
    expect((await server.api.get('/apis/networking.orch.io/v1alpha1/clustercidrs')).status).toBe(404)
  })

  test('RTC-01, RTC-02, RTC-04, RTC-06: switches a group version on by its name', async () => {
    const api = await anApi({ version: '1.25', runtimeConfig: ['networking.orch.io/v1alpha1'] })
    expect(await namesIn(api)).toContain('networking.orch.io/v1alpha1')
    expect((await api.get('/apis/networking.orch.io/v1alpha1/clustercidrs')).status).toBe(200)
  })

  test('RTC-03, RTC-06: switches a group version off with its paths', async () => {
    const api = await anApi({ version: '1.25', runtimeConfig: ['storage.orch.io/v1beta1=false', 'batch/v1=false'] })
    const names = await namesIn(api)
    expect(names).toContain('storage.orch.io/v1')
    expect(names).not.toContain('storage.orch.io/v1beta1')
    expect(names).not.toContain('batch/v1')
    for (const path of [
      '/apis/storage.orch.io/v1beta1',
      '/apis/batch',
      '/apis/batch/v1/jobs',
      '/apis/batch/v1/namespaces/default/jobs/a',
    ]) {
      expect((await api.get(path)).status).toBe(404)
    }
    expect((await api.get('/openapi/v3')).text).not.toContain('apis/batch/v1')
  })

  test('RTC-05, RTC-07: switches one resource of a version off', async () => {
    const api = await anApi({ version: '1.25', runtimeConfig: ['storage.orch.io/v1/csinodes=false'] })
    expect((await api.get('/apis/storage.orch.io/v1/csinodes')).status).toBe(404)
    expect((await api.get('/apis/storage.orch.io/v1/volumeattachments')).status).toBe(200)
    const names = (await resourcesOf(api, '/apis/storage.orch.io/v1')).map(({ name }) => name)
    expect(names).not.toContain('csinodes')
    expect(names).toContain('volumeattachments')
  })

  test('RTC-01: may have several keys, also for a stability', async () => {
    const api = await anApi({ version: '1.25', runtimeConfig: ['api/beta=false', 'storage.orch.io/v1beta1=true', 'api/alpha=true'] })
    const names = await namesIn(api)
    expect(names.filter((name) => name.includes('beta'))).toEqual(['storage.orch.io/v1beta1'])
    expect(names).toContain('networking.orch.io/v1alpha1')
  })

  test('RTC-01: with an unknown key is refused', async () => {
    await expect(anApi({ version: '1.25', runtimeConfig: ['nothing.orch.io/v1=false'] })).rejects.toThrow('nothing.orch.io/v1')
  })

  test('GATE-01, GATE-02, GATE-04: cannot switch gates that are GA or unknown', async () => {
    await expect(anApi({ version: '1.25', featureGates: ['NoSuchGate=true'] })).rejects.toThrow('NoSuchGate')
    await expect(anApi({ version: '1.25', featureGates: ['AdvancedAuditing=false'] })).rejects.toThrow('AdvancedAuditing')
  })
})

describe('gates of GA features', () => {
  test('GATE-03: may be set to their own value', async () => {
    const api = await anApi({ version: '1.25', featureGates: ['AdvancedAuditing=true'] })
    expect((await api.get('/readyz')).status).toBe(200)
  })
})

describe('versions of one object', () => {
  test('STORE-06, VER-13: an object written in one version is read in another', async () => {
    const scaler = {
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'a' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
        minReplicas: 2,
        maxReplicas: 5,
        targetCPUUtilizationPercentage: 60,
      },
    }
    const made = await server.api.post('/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers', scaler)
    expect(made).toMatchObject({ status: 201, body: { apiVersion: 'autoscaling/v1', spec: scaler.spec } })
    const { body } = await server.api.get('/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/a')
    expect(body).toMatchObject({
      apiVersion: 'autoscaling/v2',
      metadata: { uid: made.body.metadata.uid },
      spec: {
        minReplicas: 2,
        maxReplicas: 5,
        metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } }],
      },
    })
    const list = await server.api.get('/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers')
    expect(list.body).toMatchObject({ apiVersion: 'autoscaling/v2', items: [body] })
    const again = await server.api.get('/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers/a')
    expect(again.body).toEqual(made.body)
    const watch = await server.api.watch('/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers?watch=1')
    expect(await watch.next()).toEqual({ type: 'ADDED', object: body })
    await server.api.patch('/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers/a', { spec: { maxReplicas: 6 } })
    expect(await watch.next()).toMatchObject({ type: 'MODIFIED', object: { apiVersion: 'autoscaling/v2', spec: { maxReplicas: 6 } } })
    await server.api.delete('/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers/a')
    expect(await watch.next()).toMatchObject({ type: 'DELETED', object: { apiVersion: 'autoscaling/v2', spec: { maxReplicas: 6 } } })
  })

  test('STORE-06: are the same events in both groups', async () => {
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'a' },
      involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
      reason: 'R',
      message: 'm',
      type: 'Normal',
    }
    expect((await server.api.post('/api/v1/namespaces/default/events', event)).status).toBe(201)
    const { body } = await server.api.get('/apis/events.orch.io/v1/namespaces/default/events/a')
    expect(body).toMatchObject({ apiVersion: 'events.orch.io/v1', regarding: event.involvedObject, reason: 'R', note: 'm', type: 'Normal' })
  })
})

describe('OpenAPI', () => {
  test('ADDR-18, STORE-02: version 2 describes every path and kind', async () => {
    const { status, headers, body } = await server.api.get('/openapi/v2')
    expect(status).toBe(200)
    expect(headers.etag).toMatch(/^"[0-9A-F]{128}"$/)
    expect(body['swagger']).toBe('2.0')
    const { paths, definitions } = body as unknown as {
      paths: Record<string, Record<string, unknown>>
      definitions: Record<string, object>
    }
    expect(paths['/api/v1/namespaces/{namespace}/configmaps']).toMatchObject({ get: { 'x-kubernetes-action': 'list' } })
    expect(paths['/apis/storage.orch.io/v1/csinodes/{name}']).toBeDefined()
    expect(definitions['io.orch.api.core.v1.Pod']).toMatchObject({
      'x-kubernetes-group-version-kind': [{ group: '', kind: 'Pod', version: 'v1' }],
    })
    for (const tags of [headers.etag, `W/${headers.etag}`, `"other", ${headers.etag}`]) {
      const kept = await server.api.get('/openapi/v2', { 'if-none-match': String(tags) })
      expect({ tags, status: kept.status, text: kept.text }).toEqual({ tags, status: 304, text: '' })
      expect(kept.headers).toMatchObject({ etag: headers.etag, 'last-modified': headers['last-modified'], vary: 'Accept-Encoding, Accept' })
    }
    expect((await server.api.get('/openapi/v2', { 'if-none-match': '"other"' })).status).toBe(200)
    expect((await server.api.get('/openapi/v2', { accept: 'text/html' })).status).toBe(406)
  })

  test('ADDR-18: version 2 is served in Protobuf, under a type without an @', async () => {
    const { status, headers } = await server.api.get('/openapi/v2', {
      accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
    })
    expect(status).toBe(200)
    expect(headers['content-type']).not.toContain('@')
  })

  test('ADDR-18, READ-19: version 3 has a document per group version, cached for a year by its hash', async () => {
    const { body } = await server.api.get('/openapi/v3')
    const paths = body['paths'] as Record<string, { serverRelativeURL: string }>
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['api/v1', 'apis/storage.orch.io/v1', 'apis/apps/v1']))
    const url = paths['apis/storage.orch.io/v1']!.serverRelativeURL
    expect(url).toMatch(/^\/openapi\/v3\/apis\/storage\.orch\.io\/v1\?hash=[0-9A-F]+$/)
    const right = await server.api.get(url)
    expect(right.headers).toMatchObject({ 'cache-control': 'public, immutable', expires: expect.stringMatching(/GMT$/) })
    const days = (Date.parse(String(right.headers.expires)) - Date.now()) / 86_400_000
    expect(Math.round(days)).toBe(365)
    expect(right.body).toMatchObject({ openapi: '3.0.0' })
    const { schemas } = right.body['components'] as { schemas: Record<string, object> }
    expect(Object.keys(schemas)).toContain('io.orch.api.storage.v1.CSINode')
    const wrong = await server.api.get(url.replace(/hash=.*/, 'hash=00'))
    expect({ status: wrong.status, location: wrong.headers.location }).toEqual({ status: 301, location: url })
    const none = await server.api.get(url.replace(/\?.*/, ''))
    expect({ status: none.status, cache: none.headers['cache-control'] }).toEqual({ status: 200, cache: 'no-cache, private' })
    expect((await server.api.get('/openapi/v3/apis/none/v1')).status).toBe(404)
  })

  test('QP-16: shows that the server validates fields', async () => {
    type Parameter = { name: string }
    const { text } = await server.api.get('/openapi/v3/api/v1')
    const { paths } = JSON.parse(text) as { paths: Record<string, { parameters: Parameter[]; patch: { parameters: Parameter[] } }> }
    const { parameters, patch } = paths['/api/v1/namespaces/{namespace}/configmaps/{name}']!
    expect([...parameters, ...patch.parameters].map(({ name }) => name)).toEqual(
      expect.arrayContaining(['dryRun', 'fieldManager', 'fieldValidation', 'force', 'pretty']),
    )
  })
})

describe('probes', () => {
  test.each(['healthz', 'livez', 'readyz'])('MACH-OPS-01: /%s lists its checks, each with a path', async (probe) => {
    const { text } = await server.api.get(`/${probe}?verbose`)
    const names = [...text.matchAll(/^\[\+\](\S+) ok$/gm)].map(([, name = '']) => name)
    expect(names.length).toBeGreaterThanOrEqual(25)
    for (const name of names) expect(await server.api.get(`/${probe}/${name}?verbose`)).toMatchObject({ status: 200, text: 'ok' })
    const { body } = await server.api.get('/')
    const listed = (body['paths'] as string[]).filter((path) => path.startsWith(`/${probe}/`))
    expect(listed).toEqual(names.map((name) => `/${probe}/${name}`).sort())
    expect(await server.api.get(`/${probe}/nosuch`)).toMatchObject({ status: 404, text: '404 page not found\n' })
  })

  test('exclude checks by name, one for each parameter, and warn about unknown names', async () => {
    const { status, text } = await server.api.get('/readyz?verbose&exclude=etcd&exclude=none&exclude=ping,log&exclude=shutdown')
    expect(status).toBe(200)
    const lines = text.split('\n')
    expect(lines).toEqual(expect.arrayContaining(['[+]ping ok', '[+]log ok', '[+]etcd excluded: ok', '[+]etcd-readiness ok']))
    expect(lines.slice(-4)).toEqual([
      '[+]shutdown excluded: ok',
      'warn: some health checks cannot be excluded: no matches for "none","ping,log"',
      'readyz check passed',
      '',
    ])
  })

  test.each(['healthz', 'livez', 'readyz'])('AUTHN-ANON-05: /%s needs no credentials', async (probe) => {
    const stranger = server.api.as({})
    const plain = await stranger('GET', `/${probe}`)
    expect(plain).toMatchObject({ status: 200, text: 'ok', headers: { 'content-type': 'text/plain; charset=utf-8' } })
    expect((await stranger('GET', `/${probe}/ping`)).status).toBe(403)
    expect((await server.api.get(`/${probe}/ping`)).text).toBe('ok')
    const { text } = await stranger('GET', `/${probe}?verbose`)
    expect(text).toMatch(/^\[\+\]ping ok\n/)
    expect(text).toMatch(new RegExp(`${probe} check passed\n$`))
    expect((await stranger('GET', `/${probe}?verbose&exclude=ping`)).text).not.toContain('[+]ping ok')
    expect((await server.api.get(`/${probe}/none`)).status).toBe(404)
  })
})
