import { describe, expect, test } from 'vitest'
import { type Answer, aName, aNamespace, anApi, type Body, created, sharedApi } from './api.ts'

// No controller writes to quotas.
const server = sharedApi({ controllers: ['namespace', 'bootstrap', 'garbage-collector'] })

const csiNodes = '/apis/storage.orch.io/v1/csinodes'
const attachments = '/apis/storage.orch.io/v1/volumeattachments'
const nodes = '/api/v1/nodes'

/** The fields that the refusal names. */
const blamed = ({ status, body }: Answer) => ({
  status,
  fields: ((body['details'] as { causes?: { field: string }[] } | undefined)?.causes ?? []).map(({ field }) => field),
})

const quotasIn = (namespace: string) => `/api/v1/namespaces/${namespace}/resourcequotas`
const controllersIn = (namespace: string) => `/api/v1/namespaces/${namespace}/replicationcontrollers`

const statusOf = ({ status }: Body) => status as Record<string, unknown>
const specOf = ({ spec }: Body) => spec as Record<string, unknown>

describe('CSINode', () => {
  const csiNode = (spec: unknown, name = aName('csi')) => ({
    apiVersion: 'storage.orch.io/v1',
    kind: 'CSINode',
    metadata: { name },
    spec,
  })
  const drivers = (...list: unknown[]) => csiNode({ drivers: list })

  test('KIND-CSI-01, KIND-CSI-11, KIND-CSI-12, KIND-CSI-15: is served as described', async () => {
    const driver = { name: 'disk.example.com', nodeID: 'n-1', topologyKeys: ['example.com/zone'], allocatable: { count: 16 } }
    const made = await created(server.api, csiNodes, drivers(driver))
    expect(made).toMatchObject({ apiVersion: 'storage.orch.io/v1', kind: 'CSINode', spec: { drivers: [driver] } })
    expect(made.metadata).not.toHaveProperty('namespace')
  })

  test('KIND-CSI-02: has the name of a node', async () => {
    const { metadata } = await created(server.api, nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker-1.example.com' } })
    expect((await created(server.api, csiNodes, csiNode({ drivers: [] }, metadata.name))).metadata.name).toBe(metadata.name)
    expect(blamed(await server.api.post(csiNodes, csiNode({ drivers: [] }, 'Worker_1')))).toEqual({
      status: 422,
      fields: ['metadata.name'],
    })
  })

  test('KIND-CSI-03: has an owner reference to its node', async () => {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: '1f0d3c3e-0000-4000-8000-000000000000' }]
    const object = csiNode({ drivers: [] })
    const made = await created(server.api, csiNodes, { ...object, metadata: { ...object.metadata, ownerReferences } })
    expect(made.metadata['ownerReferences']).toEqual(ownerReferences)
  })

  test('KIND-CSI-05: is a 404 if it is absent', async () => {
    expect((await server.api.get(`${csiNodes}/none`)).status).toBe(404)
  })

  test('KIND-CSI-06, KIND-CSI-07, KIND-GEN-04: may lack spec and spec.drivers, as clients omit an empty list', async () => {
    for (const spec of [undefined, {}, { drivers: [] }]) {
      expect(specOf(await created(server.api, csiNodes, csiNode(spec)))).toEqual({ drivers: null })
    }
  })

  test('KIND-CSI-09: needs driver names, which are unique', async () => {
    const unnamed = blamed(await server.api.post(csiNodes, drivers({ nodeID: 'n' })))
    expect({ ...unnamed, fields: [...new Set(unnamed.fields)] }).toEqual({ status: 422, fields: ['spec.drivers[0].name'] })
    const twice = await server.api.post(csiNodes, drivers({ name: 'd', nodeID: 'a' }, { name: 'd', nodeID: 'b' }))
    expect(blamed(twice)).toEqual({ status: 422, fields: ['spec.drivers[1].name'] })
    expect(twice.body['message']).toContain('spec.drivers[1].name: Duplicate value: "d"')
  })

  test('KIND-CSI-10: needs a nodeID for each driver', async () => {
    expect(blamed(await server.api.post(csiNodes, drivers({ name: 'd' })))).toEqual({ status: 422, fields: ['spec.drivers[0].nodeID'] })
  })

  test('KIND-CSI-12, VAL-01: has a count that is an int32', async () => {
    for (const count of ['16', 1.5, 2 ** 31]) {
      expect((await server.api.post(csiNodes, drivers({ name: 'd', nodeID: 'n', allocatable: { count } }))).status).toBe(400)
    }
    const negative = await server.api.post(csiNodes, drivers({ name: 'd', nodeID: 'n', allocatable: { count: -1 } }))
    expect(blamed(negative)).toEqual({ status: 422, fields: ['spec.drivers[0].allocatable.count'] })
  })

  test('KIND-CSI-14, LIM-09: keeps an unset count unset', async () => {
    const [driver] = specOf(await created(server.api, csiNodes, drivers({ name: 'd', nodeID: 'n', allocatable: {} })))[
      'drivers'
    ] as object[]
    expect(driver).not.toHaveProperty('allocatable.count')
  })

  test('KIND-CSI-15: may have empty topologyKeys', async () => {
    const made = await created(server.api, csiNodes, drivers({ name: 'd', nodeID: 'n', topologyKeys: [] }))
    expect(made).toMatchObject({ spec: { drivers: [{ name: 'd', nodeID: 'n' }] } })
  })

  test('KIND-CSI-15: has topologyKeys that are label keys', async () => {
    const answer = await server.api.post(csiNodes, drivers({ name: 'd', nodeID: 'n', topologyKeys: ['a b'] }))
    expect(blamed(answer)).toEqual({ status: 422, fields: ['spec.drivers[0]'] })
  })

  test('KIND-CSI-16: has a list kind', async () => {
    expect((await server.api.get(csiNodes)).body).toMatchObject({ kind: 'CSINodeList', metadata: {}, items: expect.any(Array) })
  })
})

describe('ResourceQuota', () => {
  const quota = (spec: unknown, status?: unknown) => ({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: aName('quota') },
    spec,
    ...(status === undefined ? {} : { status }),
  })
  const post = (spec: unknown) => server.api.post(quotasIn('default'), quota(spec))
  const selector = (term: unknown) => ({ scopeSelector: { matchExpressions: [term] } })
  const at = 'spec.scopeSelector.matchExpressions'

  test('KIND-RQ-01, KIND-RQ-03, KIND-RQ-04, VER-11: is served as described', async () => {
    const namespace = await aNamespace(server.api)
    const spec = {
      hard: { pods: '10', 'requests.cpu': '1500m', 'requests.memory': '1Gi', 'count/configmaps': '3' },
      scopes: ['NotBestEffort'],
    }
    const made = await created(server.api, quotasIn(namespace), quota(spec))
    expect(made).toMatchObject({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { namespace }, spec })
  })

  test.each([
    ['1.5', '1500m'],
    ['0.5Gi', '512Mi'],
    ['1024Mi', '1Gi'],
    ['1000m', '1'],
    [2, '2'],
    ['1e3', '1e3'],
    // The server rounds quantities of resources to thousandths.
    ['0.1n', '1m'],
  ])('KIND-GEN-05, KIND-RQ-03: prints the quantity %j as %j', async (given, expected) => {
    const made = await created(server.api, quotasIn('default'), quota({ hard: { 'requests.memory': given } }))
    expect(specOf(made)).toEqual({ hard: { 'requests.memory': expected } })
  })

  test.each(['1x', 'one', '1 Gi', '1KiB', '', '--1'])('KIND-GEN-05, KIND-RQ-03: refuses the quantity %j', async (given) => {
    const { status, body } = await post({ hard: { pods: given } })
    expect({ status, reason: body['reason'] }).toEqual({ status: 400, reason: 'BadRequest' })
  })

  test('KIND-RQ-03: refuses a negative limit', async () => {
    expect(blamed(await post({ hard: { pods: '-1' } }))).toEqual({ status: 422, fields: ['spec.hard[pods]'] })
  })

  test('KIND-RQ-05, KIND-RQ-06: combines scopes and selector', async () => {
    const spec = {
      hard: { pods: '1' },
      scopes: ['NotTerminating'],
      scopeSelector: {
        matchExpressions: [
          { scopeName: 'PriorityClass', operator: 'In', values: ['high'] },
          { scopeName: 'BestEffort', operator: 'Exists' },
        ],
      },
    }
    expect(specOf(await created(server.api, quotasIn('default'), quota(spec)))).toEqual(spec)
  })

  test('KIND-RQ-07: requires scopeName', async () => {
    expect(blamed(await post(selector({ operator: 'Exists' })))).toEqual({ status: 422, fields: [`${at}.scopeName`] })
  })

  test('KIND-RQ-08: requires operator, one of four', async () => {
    expect(blamed(await post(selector({ scopeName: 'PriorityClass' })))).toEqual({ status: 422, fields: [`${at}.operator`] })
    const other = await post(selector({ scopeName: 'PriorityClass', operator: 'Like' }))
    expect(blamed(other)).toEqual({ status: 422, fields: [`${at}.operator`] })
    expect(other.body['details']).toMatchObject({ causes: [{ reason: 'FieldValueInvalid' }] })
  })

  test.each(['In', 'NotIn'])('KIND-RQ-09: requires values with %s', async (operator) => {
    const term = { scopeName: 'PriorityClass', operator }
    expect(blamed(await post(selector(term)))).toEqual({ status: 422, fields: [`${at}.values`] })
    expect((await post(selector({ ...term, values: ['a'] }))).status).toBe(201)
  })

  test.each(['Exists', 'DoesNotExist'])('KIND-RQ-10: refuses values with %s', async (operator) => {
    const term = { scopeName: 'PriorityClass', operator }
    expect(blamed(await post(selector({ ...term, values: ['a'] })))).toEqual({ status: 422, fields: [`${at}.values`] })
    expect((await post(selector(term))).status).toBe(201)
  })

  test('KIND-RQ-15: refuses unknown and contradicting scopes', async () => {
    expect((await post({ scopes: ['Sometimes'] })).status).toBe(422)
    expect((await post({ scopes: ['BestEffort', 'NotBestEffort'] })).status).toBe(422)
  })

  test('KIND-RQ-12, KIND-RQ-13: has limits and usage in its status', async () => {
    const made = await created(server.api, quotasIn('default'), quota({ hard: { pods: '1' } }, { used: { pods: '9' } }))
    const target = `${quotasIn('default')}/${made.metadata.name}/status`
    const status = { hard: { pods: '1' }, used: { pods: '0' } }
    const { body } = await server.api.put(target, { ...made, status })
    expect(statusOf(body)).toEqual(status)
  })

  test('KIND-RQ-14: has a list kind', async () => {
    expect((await server.api.get(quotasIn('default'))).body.kind).toBe('ResourceQuotaList')
  })
})

describe('Node', () => {
  const node = (spec: unknown = {}, status?: unknown) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: aName('node') },
    spec,
    ...(status === undefined ? {} : { status }),
  })
  const post = (spec: unknown) => server.api.post(nodes, node(spec))
  const withStatus = async (status: unknown) => {
    const made = await created(server.api, nodes, node())
    return server.api.put(`${nodes}/${made.metadata.name}/status`, { ...made, status })
  }

  test('KIND-NODE-01, KIND-NODE-11, KIND-NODE-12, KIND-NODE-13: is served as described', async () => {
    const spec = {
      podCIDR: '10.1.0.0/24',
      podCIDRs: ['10.1.0.0/24', 'fd00::/64'],
      providerID: 'cloud://zone/n-1',
      externalID: 'old',
      unschedulable: true,
      taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }],
    }
    const made = await created(server.api, nodes, node(spec))
    const notReady = { key: 'node.orch.io/not-ready', effect: 'NoSchedule' }
    expect(made).toMatchObject({ apiVersion: 'v1', kind: 'Node', spec: { ...spec, taints: [...spec.taints, notReady] } })
    expect(made.metadata).not.toHaveProperty('namespace')
  })

  test('KIND-NODE-17: is schedulable by default', async () => {
    expect(specOf(await created(server.api, nodes, node()))).not.toHaveProperty('unschedulable', true)
  })

  const configMap = { namespace: 'kube', name: 'c', kubeletConfigKey: 'kubelet' }

  test('KIND-NODE-02: still accepts configSource', async () => {
    expect((await post({ configSource: { configMap } })).status).toBe(201)
  })

  test('KIND-NODE-03: refuses an empty configSource', async () => {
    expect(blamed(await post({ configSource: {} }))).toEqual({ status: 422, fields: ['spec.configSource'] })
  })

  test.each([
    ['KIND-NODE-04', 'kubeletConfigKey'],
    ['KIND-NODE-05', 'name'],
    ['KIND-NODE-06', 'namespace'],
  ])('%s: requires configMap.%s', async (_id, field) => {
    const given = Object.fromEntries(Object.entries(configMap).filter(([name]) => name !== field))
    expect(blamed(await post({ configSource: { configMap: given } }))).toEqual({
      status: 422,
      fields: [`spec.configSource.configMap.${field}`],
    })
  })

  test.each([
    ['KIND-NODE-07', 'resourceVersion'],
    ['KIND-NODE-09', 'uid'],
  ])('%s: forbids configMap.%s in spec', async (_id, field) => {
    expect(blamed(await post({ configSource: { configMap: { ...configMap, [field]: '1' } } }))).toEqual({
      status: 422,
      fields: [`spec.configSource.configMap.${field}`],
    })
  })

  test.each([
    ['KIND-NODE-08', 'resourceVersion'],
    ['KIND-NODE-10', 'uid'],
  ])('%s: requires configMap.%s in status', async (_id, field) => {
    const given = Object.fromEntries(Object.entries({ ...configMap, resourceVersion: '1', uid: 'u' }).filter(([name]) => name !== field))
    expect(blamed(await withStatus({ config: { active: { configMap: given } } }))).toEqual({
      status: 422,
      fields: [`status.config.active.configMap.${field}`],
    })
  })

  test('KIND-NODE-13: uses podCIDR if the first of podCIDRs differs', async () => {
    const { body } = await post({ podCIDR: '10.1.0.0/24', podCIDRs: ['10.2.0.0/24'] })
    expect(body).toMatchObject({ spec: { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'] } })
  })

  test('KIND-NODE-12, KIND-NODE-13: copies podCIDR to podCIDRs, and the other way round', async () => {
    const ranges = { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'] }
    for (const field of ['podCIDR', 'podCIDRs'] as const) {
      expect((await post({ [field]: ranges[field] })).body).toMatchObject({ spec: ranges })
    }
  })

  test('KIND-NODE-14, LIM-08: has one podCIDR for each family', async () => {
    for (const podCIDRs of [
      ['10.1.0.0/24', '10.2.0.0/24'],
      ['fd00::/64', 'fd01::/64'],
    ]) {
      expect(blamed(await post({ podCIDR: podCIDRs[0], podCIDRs }))).toEqual({ status: 422, fields: ['spec.podCIDRs'] })
    }
    expect((await post({ podCIDR: 'nonsense' })).status).toBe(422)
  })

  test('KIND-NODE-16: requires the effect of a taint, one of three', async () => {
    for (const effect of ['NoSchedule', 'PreferNoSchedule', 'NoExecute']) {
      expect((await post({ taints: [{ key: 'k', effect }] })).status).toBe(201)
    }
    expect(blamed(await post({ taints: [{ key: 'k' }] }))).toEqual({ status: 422, fields: ['metadata.taints[0].effect'] })
    expect(blamed(await post({ taints: [{ key: 'k', effect: 'Never' }] }))).toEqual({ status: 422, fields: ['metadata.taints[0].effect'] })
  })

  test('KIND-NODE-35: gets no phase', async () => {
    const { metadata } = await created(server.api, nodes, node())
    await server.api.patch(`${nodes}/${metadata.name}/status`, { status: { volumesInUse: ['v'] } })
    expect(statusOf((await server.api.get(`${nodes}/${metadata.name}`)).body)).not.toHaveProperty('phase')
  })

  test('KIND-NODE-18: takes its status from a POST, and not from a PUT', async () => {
    const made = await created(server.api, nodes, node({}, { nodeInfo: undefined, phase: 'Running' }))
    expect(made['status']).toHaveProperty('phase', 'Running')
    const { body } = await server.api.put(`${nodes}/${made.metadata.name}`, { ...made, status: { volumesInUse: ['v'] } })
    expect(body['status'] ?? {}).not.toHaveProperty('volumesInUse')
  })

  test('KIND-NODE-18, EP-20: has a status subresource that writes nothing else', async () => {
    const made = await created(server.api, nodes, node())
    const { body } = await server.api.put(`${nodes}/${made.metadata.name}/status`, {
      ...made,
      spec: { unschedulable: true },
      status: { volumesInUse: ['v'] },
    })
    expect(statusOf(body)).toMatchObject({ volumesInUse: ['v'] })
    expect(specOf(body) ?? {}).not.toHaveProperty('unschedulable')
  })

  test('KIND-NODE-19, KIND-NODE-20, KIND-NODE-21, KIND-NODE-22: has addresses with an optional type and an optional address, and may have two of a type', async () => {
    const addresses = [
      { type: 'Hostname', address: 'h' },
      { type: 'InternalIP', address: '10.0.0.1' },
      { type: 'InternalIP', address: 'fd00::1' },
      { type: 'ExternalIP', address: '192.0.2.1' },
    ]
    expect(statusOf((await withStatus({ addresses })).body)['addresses']).toEqual(addresses)
    for (const lacking of [{ address: 'h' }, { type: 'Hostname' }]) {
      expect((await withStatus({ addresses: [lacking] })).status).toBe(200)
    }
  })

  test('KIND-NODE-23, KIND-NODE-24: has a capacity of quantities, which is the default of allocatable', async () => {
    const capacity = { cpu: '4', memory: '8Gi', pods: '110' }
    const { body } = await withStatus({ capacity })
    expect(statusOf(body)).toMatchObject({ capacity, allocatable: capacity })
    const allocatable = { cpu: '3' }
    expect(statusOf((await withStatus({ capacity, allocatable })).body)).toMatchObject({ capacity, allocatable })
  })

  test('KIND-NODE-25, KIND-NODE-26, KIND-NODE-27, KIND-NODE-28: has conditions', async () => {
    const condition = {
      type: 'Ready',
      status: 'True',
      lastHeartbeatTime: '2026-01-01T00:00:00Z',
      lastTransitionTime: '2026-01-01T00:00:00Z',
      reason: 'R',
      message: 'm',
    }
    expect(statusOf((await withStatus({ conditions: [condition] })).body)['conditions']).toEqual([condition])
    for (const status of ['True', 'False', 'Unknown', 'Maybe'])
      expect((await withStatus({ conditions: [{ type: 'Ready', status }] })).status).toBe(200)
    expect((await withStatus({ conditions: [{ status: 'True' }] })).status).toBe(200)
    expect((await withStatus({ conditions: [{ ...condition, lastHeartbeatTime: 'yesterday' }] })).status).toBe(400)
  })

  test('KIND-NODE-30, KIND-NODE-31: has a config with three sources and an error', async () => {
    const source = { configMap: { ...configMap, resourceVersion: '1', uid: 'u' } }
    const config = { active: source, assigned: source, lastKnownGood: source, error: 'broken' }
    expect(statusOf((await withStatus({ config })).body)['config']).toEqual(config)
  })

  test('KIND-NODE-32, KIND-NODE-37, KIND-NODE-42: has daemonEndpoints and volumesInUse', async () => {
    const status = { daemonEndpoints: { kubeletEndpoint: { Port: 10250 } }, volumesInUse: ['v-1'] }
    expect(statusOf((await withStatus(status)).body)).toMatchObject(status)
  })

  test('KIND-NODE-33: keeps image sizes beyond 2^53 exact', async () => {
    const made = await created(server.api, nodes, node())
    const target = `${nodes}/${made.metadata.name}/status`
    const size = '9007199254740993'
    const body = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"${made.metadata.name}"},"status":{"images":[{"names":["i:1"],"sizeBytes":${size}}]}}`
    const { status, text } = await server.api.put(target, body)
    expect({ status, isExact: text.includes(`"sizeBytes":${size}`) }).toEqual({ status: 200, isExact: true })
    expect((await server.api.get(`${nodes}/${made.metadata.name}`)).text).toContain(`"sizeBytes":${size}`)
    const { text: list } = await server.api.get(`${nodes}?fieldSelector=metadata.name%3D${made.metadata.name}`)
    expect(list).toContain(`"sizeBytes":${size}`)
    const { text: patched } = await server.api.patch(`${nodes}/${made.metadata.name}`, { metadata: { labels: { x: 'y' } } })
    expect(patched).toContain(`"sizeBytes":${size}`)
  })

  const info = {
    architecture: 'amd64',
    bootID: 'b',
    containerRuntimeVersion: 'c',
    kernelVersion: 'k',
    kubeProxyVersion: 'p',
    kubeletVersion: 'v',
    machineID: 'm',
    operatingSystem: 'linux',
    osImage: 'o',
    systemUUID: 'u',
  }

  test('KIND-NODE-34: has a nodeInfo of ten optional strings', async () => {
    expect(statusOf((await withStatus({ nodeInfo: info })).body)['nodeInfo']).toEqual(info)
    for (const name of Object.keys(info)) {
      const without = Object.fromEntries(Object.entries(info).filter(([key]) => key !== name))
      expect(statusOf((await withStatus({ nodeInfo: without })).body)['nodeInfo']).toEqual({ ...info, [name]: '' })
    }
  })

  test('KIND-NODE-36: has attached volumes with an optional path and an optional name', async () => {
    const volumesAttached = [{ name: 'v', devicePath: '/dev/x' }]
    expect(statusOf((await withStatus({ volumesAttached })).body)['volumesAttached']).toEqual(volumesAttached)
    for (const lacking of [{ name: 'v' }, { devicePath: '/dev/x' }]) {
      expect((await withStatus({ volumesAttached: [lacking] })).status).toBe(200)
    }
  })

  test('KIND-NODE-38: has a list kind', async () => {
    expect((await server.api.get(nodes)).body.kind).toBe('NodeList')
  })
})

describe('ReplicationController', () => {
  const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'example.com/i:1' }] } }
  const controller = (spec: unknown, metadata = {}) => ({
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name: aName('rc'), ...metadata },
    spec,
  })
  const path = controllersIn('default')
  const post = (spec: unknown) => server.api.post(path, controller(spec))
  const withStatus = async (status: unknown) => {
    const made = await created(server.api, path, controller({ template }))
    return server.api.put(`${path}/${made.metadata.name}/status`, { ...made, status })
  }

  test('KIND-RC-01, KIND-RC-02, KIND-RC-03, KIND-RC-06: has default labels, selector and replicas', async () => {
    const made = await created(server.api, path, controller({ template }))
    expect(made).toMatchObject({
      apiVersion: 'v1',
      kind: 'ReplicationController',
      metadata: { namespace: 'default', labels: { app: 'a' } },
      spec: { selector: { app: 'a' }, replicas: 1 },
      status: { replicas: 0 },
    })
  })

  test('KIND-RC-02: keeps given labels', async () => {
    expect((await created(server.api, path, controller({ template }, { labels: { mine: '1' } }))).metadata.labels).toEqual({ mine: '1' })
  })

  test('KIND-RC-04: needs a selector that matches the template', async () => {
    const answer = await post({ selector: { app: 'other' }, template })
    expect(blamed(answer)).toEqual({ status: 422, fields: ['spec.template.metadata.labels'] })
    expect(answer.body['message']).toContain('`selector` does not match template `labels`')
    expect((await post({ selector: { app: 'a' }, template })).status).toBe(201)
  })

  test('KIND-RC-05, KIND-GEN-06: requires a template, which gets its defaults', async () => {
    expect((await post({ selector: { app: 'a' } })).status).toBe(422)
    expect(specOf(await created(server.api, path, controller({ template })))['template']).toMatchObject({
      metadata: { labels: { app: 'a' } },
      spec: {
        restartPolicy: 'Always',
        terminationGracePeriodSeconds: 30,
        dnsPolicy: 'ClusterFirst',
        schedulerName: 'default-scheduler',
        securityContext: {},
        containers: [
          {
            name: 'c',
            image: 'example.com/i:1',
            imagePullPolicy: 'IfNotPresent',
            terminationMessagePath: '/dev/termination-log',
            terminationMessagePolicy: 'File',
            resources: {},
          },
        ],
      },
    })
  })

  test.each([
    ['another restart policy', { ...template.spec, restartPolicy: 'Never' }],
    ['no containers', { containers: [] }],
    ['a container without an image', { containers: [{ name: 'c' }] }],
    ['a container without a name', { containers: [{ image: 'i' }] }],
    ['two containers of one name', { containers: [...template.spec.containers, ...template.spec.containers] }],
    ['a deadline', { ...template.spec, activeDeadlineSeconds: 5 }],
  ])('KIND-RC-05, KIND-GEN-06: refuses a template with %s', async (_what, spec) => {
    const answer = await post({ template: { ...template, spec } })
    expect(answer.status).toBe(422)
    expect(blamed(answer).fields[0]).toMatch(/^spec\.template\.spec/)
  })

  test('KIND-RC-07: keeps zero replicas', async () => {
    expect(specOf(await created(server.api, path, controller({ template, replicas: 0 })))).toMatchObject({ replicas: 0 })
  })

  test('KIND-RC-08: has minReadySeconds of 0 by default, and refuses a negative value', async () => {
    expect(specOf(await created(server.api, path, controller({ template })))['minReadySeconds'] ?? 0).toBe(0)
    expect(specOf(await created(server.api, path, controller({ template, minReadySeconds: 7 })))).toMatchObject({ minReadySeconds: 7 })
    expect(blamed(await post({ template, minReadySeconds: -1 }))).toEqual({ status: 422, fields: ['spec.minReadySeconds'] })
    expect(blamed(await post({ template, replicas: -1 }))).toEqual({ status: 422, fields: ['spec.replicas'] })
  })

  test('KIND-RC-10, KIND-RC-11, KIND-RC-12, KIND-RC-13: has counts in its status', async () => {
    const status = { replicas: 4, fullyLabeledReplicas: 3, readyReplicas: 2, availableReplicas: 1, observedGeneration: 1 }
    expect(statusOf((await withStatus(status)).body)).toEqual(status)
    expect((await withStatus({ replicas: 1, readyReplicas: 2 })).status).toBe(422)
    expect(statusOf((await withStatus({ readyReplicas: 0 })).body)).toEqual({ replicas: 0 })
  })

  test('KIND-RC-11: has availableReplicas as an int32, at most readyReplicas, described as ready for minReadySeconds', async () => {
    const withAvailable = (availableReplicas: number, readyReplicas = 2) => withStatus({ replicas: 3, readyReplicas, availableReplicas })
    expect(statusOf((await withAvailable(2)).body)).toMatchObject({ availableReplicas: 2 })
    expect(blamed(await withAvailable(3))).toEqual({ status: 422, fields: ['status.availableReplicas'] })
    expect(blamed(await withAvailable(-1))).toMatchObject({ status: 422 })
    expect((await withAvailable(2 ** 31)).status).toBe(400)
    const { body } = await server.api.get('/openapi/v3/api/v1')
    const { schemas } = body['components'] as {
      schemas: Record<string, { properties?: Record<string, { description?: string; format?: string }> }>
    }
    const [, schema] = Object.entries(schemas).find(([name]) => name.endsWith('.ReplicationControllerStatus')) ?? []
    expect(schema?.properties?.['availableReplicas']).toMatchObject({
      format: 'int32',
      description: expect.stringContaining('minReadySeconds'),
    })
  })

  test('KIND-RC-15, KIND-RC-16, KIND-RC-17: has conditions', async () => {
    const condition = { type: 'ReplicaFailure', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z', reason: 'R', message: 'm' }
    expect(statusOf((await withStatus({ replicas: 0, conditions: [condition] })).body)['conditions']).toEqual([condition])
    for (const odd of [{ type: 'X', status: 'Maybe' }, { status: 'True' }]) {
      expect((await withStatus({ replicas: 0, conditions: [odd] })).status).toBe(200)
    }
  })

  test('KIND-RC-18: has a list kind', async () => {
    expect((await server.api.get(path)).body.kind).toBe('ReplicationControllerList')
  })
})

describe('VolumeAttachment', () => {
  const good = { attacher: 'disk.example.com', nodeName: 'n', source: { persistentVolumeName: 'pv' } }
  const attachment = (spec: unknown) => ({
    apiVersion: 'storage.orch.io/v1',
    kind: 'VolumeAttachment',
    metadata: { name: aName('va') },
    ...(spec === undefined ? {} : { spec }),
  })
  const post = (spec: unknown) => server.api.post(attachments, attachment(spec))
  const withStatus = async (status: unknown) => {
    const made = await created(server.api, attachments, attachment(good))
    return server.api.put(`${attachments}/${made.metadata.name}/status`, { ...made, status })
  }

  test('KIND-VA-01, KIND-VA-07: is served as described', async () => {
    const made = await created(server.api, attachments, attachment(good))
    expect(made).toMatchObject({ apiVersion: 'storage.orch.io/v1', kind: 'VolumeAttachment', spec: good })
    expect(made.metadata).not.toHaveProperty('namespace')
  })

  test('KIND-VA-02: requires a spec', async () => {
    expect((await post(undefined)).status).toBe(422)
  })

  test.each([
    ['KIND-VA-03', 'attacher'],
    ['KIND-VA-04', 'nodeName'],
    ['KIND-VA-05', 'source'],
  ])('%s: requires spec.%s', async (_id, field) => {
    const spec = Object.fromEntries(Object.entries(good).filter(([name]) => name !== field))
    const { status, fields } = blamed(await post(spec))
    expect({ status, fields: [...new Set(fields)] }).toEqual({ status: 422, fields: [`spec.${field}`] })
  })

  const inlineVolumeSpec = {
    accessModes: ['ReadWriteOnce'],
    csi: { driver: 'disk.example.com', volumeHandle: 'h' },
  }

  test('KIND-VA-06: has a source with exactly one member', async () => {
    expect(blamed(await post({ ...good, source: {} }))).toEqual({ status: 422, fields: ['spec.source'] })
    expect(blamed(await post({ ...good, source: { persistentVolumeName: 'pv', inlineVolumeSpec } }))).toEqual({
      status: 422,
      fields: ['spec.source'],
    })
  })

  test('KIND-VA-08, KIND-GEN-08: may have the volume itself as its source', async () => {
    const made = await created(server.api, attachments, attachment({ ...good, source: { inlineVolumeSpec } }))
    expect(made).toMatchObject({ spec: { source: { inlineVolumeSpec } } })
  })

  test('KIND-VA-08: accepts an inline volume of a CSI driver, without the other members of a PersistentVolume', async () => {
    const at = 'spec.source.inlineVolumeSpec'
    const { csi: _csi, ...others } = inlineVolumeSpec
    for (const [given, field] of [
      [{ ...others, hostPath: { path: '/x' } }, 'csi'],
      [{ ...inlineVolumeSpec, capacity: { storage: '1Gi' } }, 'capacity'],
      [{ ...inlineVolumeSpec, claimRef: { namespace: 'a', name: 'b' } }, 'claimRef'],
      [{ ...inlineVolumeSpec, persistentVolumeReclaimPolicy: 'Delete' }, 'persistentVolumeReclaimPolicy'],
    ] as const) {
      const answer = await post({ ...good, source: { inlineVolumeSpec: given } })
      expect(blamed(answer)).toEqual({ status: 422, fields: [`${at}.${field}`] })
    }
  })

  test('KIND-VA-09, KIND-VA-10, KIND-VA-11, KIND-VA-13: has a status subresource', async () => {
    const error = { time: '2026-01-01T00:00:00Z', message: 'm' }
    const status = { attached: true, attachmentMetadata: { path: '/dev/x' }, attachError: error, detachError: error }
    expect(statusOf((await withStatus(status)).body)).toEqual(status)
    expect(statusOf((await withStatus({ attachmentMetadata: {} })).body)).toEqual({ attached: false })
    const made = await created(server.api, attachments, { ...attachment(good), status: { attached: true } })
    expect(statusOf(made)?.['attached'] ?? false).toBe(false)
  })

  test('KIND-VA-15: has an immutable volume and node', async () => {
    const made = await created(server.api, attachments, attachment(good))
    const answer = await server.api.patch(`${attachments}/${made.metadata.name}`, { spec: { nodeName: 'other' } })
    expect(answer.status).toBe(422)
    expect(answer.body['message']).toContain('field is immutable')
  })

  test('KIND-VA-14: has a list kind', async () => {
    expect((await server.api.get(attachments)).body.kind).toBe('VolumeAttachmentList')
  })
})

describe('kinds mentioned by the statements', () => {
  test('KIND-MISC-01, KIND-MISC-02, KIND-MISC-03, KIND-MISC-04: exist', async () => {
    const { body } = await server.api.get('/api/v1')
    const names = (body['resources'] as { name: string }[]).map(({ name }) => name)
    expect(names).toEqual(
      expect.arrayContaining([
        'configmaps',
        'namespaces',
        'persistentvolumeclaims',
        'persistentvolumes',
        'pods',
        'pods/eviction',
        'pods/log',
        'secrets',
        'serviceaccounts',
        'services',
      ]),
    )
    expect((await server.api.get('/apis/node.orch.io/v1/runtimeclasses')).body.kind).toBe('RuntimeClassList')
  })

  test('KIND-MISC-05, KIND-MISC-06: include a Pod with runtime class, overhead, service account and security context', async () => {
    const namespace = await aNamespace(server.api)
    const spec = {
      serviceAccountName: 'robot',
      runtimeClassName: 'small',
      securityContext: { runAsUser: 1000, fsGroup: 2000 },
      containers: [{ name: 'c', image: 'i', securityContext: { privileged: false } }],
    }
    const runtimeClass = {
      apiVersion: 'node.orch.io/v1',
      kind: 'RuntimeClass',
      metadata: { name: 'small' },
      handler: 'h',
      overhead: { podFixed: { cpu: '100m' } },
    }
    await created(server.api, '/apis/node.orch.io/v1/runtimeclasses', runtimeClass)
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec }
    expect(await created(server.api, `/api/v1/namespaces/${namespace}/pods`, pod)).toMatchObject({
      spec: { ...spec, overhead: { cpu: '100m' } },
      status: { phase: 'Pending' },
    })
  })

  test('KIND-MISC-07: include a Service with an address, and a port on request', async () => {
    const namespace = await aNamespace(server.api)
    const path = `/api/v1/namespaces/${namespace}/services`
    const service = (name: string, spec: unknown) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec })
    const plain = await created(server.api, path, service('a', { ports: [{ port: 80 }] }))
    expect(specOf(plain)).toMatchObject({
      type: 'ClusterIP',
      clusterIP: expect.stringMatching(/^10\.0\.0\.\d+$/),
      ports: [{ port: 80, protocol: 'TCP' }],
    })
    const other = await created(server.api, path, service('b', { type: 'NodePort', ports: [{ port: 80 }] }))
    const [port] = specOf(other)['ports'] as { nodePort: number }[]
    expect(port!.nodePort).toBeGreaterThanOrEqual(30_000)
    expect(port!.nodePort).toBeLessThanOrEqual(32_767)
    expect(specOf(other)['clusterIP']).not.toBe(specOf(plain)['clusterIP'])
    const taken = await server.api.post(path, service('c', { clusterIP: specOf(plain)['clusterIP'], ports: [{ port: 80 }] }))
    expect(taken.status).toBe(422)
    const headless = await created(server.api, path, service('d', { clusterIP: 'None', ports: [{ port: 80 }] }))
    expect(specOf(headless)['clusterIP']).toBe('None')
  })

  test('KIND-MISC-07: include Services with distinct addresses and ports when they are created at the same time', async () => {
    const namespace = await aNamespace(server.api)
    const path = `/api/v1/namespaces/${namespace}/services`
    const made = await Promise.all(
      Array.from({ length: 40 }, (_, at) =>
        created(server.api, path, {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name: `s-${at}` },
          spec: { type: 'NodePort', ports: [{ port: 80 }] },
        }),
      ),
    )
    const specs = made.map((service) => specOf(service) as { clusterIP: string; ports: { nodePort: number }[] })
    expect(new Set(specs.map(({ clusterIP }) => clusterIP)).size).toBe(40)
    expect(new Set(specs.map(({ ports }) => ports[0]!.nodePort)).size).toBe(40)
  })

  test('KIND-MISC-07: include a Service that reports an exhausted range, and gets a released address', async () => {
    const api = await anApi({ serviceClusterIpRange: '10.9.0.0/29' })
    const path = `/api/v1/namespaces/${await aNamespace(api)}/services`
    const service = (name: string) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { ports: [{ port: 80 }] } })
    const answers: Answer[] = []
    for (let at = 0; at < 8; at++) answers.push(await api.post(path, service(`s-${at}`)))
    const refused = answers.filter(({ status }) => status !== 201)
    expect(refused.length).toBeGreaterThan(0)
    for (const { body } of refused) expect(body).toMatchObject({ kind: 'Status', message: expect.stringContaining('range is full') })
    expect((await api.get(path)).body.items).toHaveLength(8 - refused.length)
    expect((await api.delete(`${path}/s-0`)).status).toBe(200)
    expect((await api.post(path, service('again'))).status).toBe(201)
  })

  test('KIND-MISC-02: include Secrets with bytes, where stringData is written into data', async () => {
    const namespace = await aNamespace(server.api)
    const path = `/api/v1/namespaces/${namespace}/secrets`
    const made = await created(server.api, path, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's' },
      data: { a: 'AAEC' },
      stringData: { b: 'text' },
    })
    expect(made).toMatchObject({ type: 'Opaque', data: { a: 'AAEC', b: Buffer.from('text').toString('base64') } })
    expect(made).not.toHaveProperty('stringData')
    const bad = await server.api.post(path, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 't' }, data: { a: 'not base64!' } })
    expect(bad.status).toBe(400)
  })
})
