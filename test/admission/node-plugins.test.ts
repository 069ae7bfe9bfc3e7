import { describe, expect, test } from 'vitest'
import { aName, aNamespace, created, sharedApi } from '../api/api.ts'

const server = sharedApi({ profile: 'kubernetes' })

type Fields = Record<string, unknown>

async function aNode(status: Fields, labels: Fields = {}): Promise<string> {
  const name = aName('node')
  await created(server.api, '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, status })
  return name
}

/** The path of a new Pod on a node. */
async function aPodOn(nodeName: string, spec: Fields = {}): Promise<string> {
  const path = `/api/v1/namespaces/${await aNamespace(server.api)}/pods`
  const containers = [{ name: 'c', image: 'i', resources: { requests: { cpu: '1', memory: '1Gi' } } }]
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { nodeName, containers, ...spec } }
  await created(server.api, path, pod)
  return `${path}/p`
}

async function resized(path: string, spec: Fields): Promise<unknown[]> {
  const headers = { 'content-type': 'application/strategic-merge-patch+json' }
  const { status, body } = await server.api.send('PATCH', `${path}/resize`, { headers, body: { spec } })
  const { message, details } = body as { message?: string; details?: { causes?: unknown } }
  return status === 200 ? [200] : [status, message, details?.causes]
}

const withCpu = (cpu: string) => ({ containers: [{ name: 'c', resources: { requests: { cpu } } }] })
const roomy = { allocatable: { cpu: '2', memory: '4Gi' } }

describe('PodTopologyLabels', () => {
  test('TODAY-POD-18: a Pod that is created on a node gets its zone and region labels, and no others', async () => {
    const place = { 'topology.kubernetes.io/zone': 'z1', 'topology.kubernetes.io/region': 'r1' }
    const path = await aPodOn(await aNode(roomy, { ...place, rack: '7' }))
    expect((await server.api.get(path)).body).toMatchObject({ metadata: { labels: place } })
    expect((await server.api.get(path)).body).not.toHaveProperty('metadata.labels.rack')
  })

  test('TODAY-POD-18: a Pod on an absent node keeps its labels', async () => {
    expect((await server.api.get(await aPodOn(aName('absent')))).body).not.toHaveProperty('metadata.labels')
  })
})

describe('PodResizeValidator', () => {
  test('TODAY-POD-05: a Pod may grow up to the allocatable resources of its node', async () => {
    const path = await aPodOn(await aNode(roomy))
    expect(await resized(path, withCpu('2'))).toEqual([200])
    expect(await resized(path, withCpu('2001m'))).toEqual([
      403,
      `pods "p" is forbidden: node didn't have enough allocatable resources: cpu, requested: 2001, allocatable: 2000`,
      [{ reason: 'NodeCapacity' }],
    ])
  })

  test('ADM-BI-03: a resize must not exceed the quotas and limit ranges of its namespace', async () => {
    const path = await aPodOn(await aNode({ allocatable: { cpu: '8', memory: '8Gi' } }))
    const inNamespace = (plural: string) => path.replace('pods/p', plural)
    const quota = { metadata: { name: 'q' }, spec: { hard: { 'requests.cpu': '2' } } }
    await created(server.api, inNamespace('resourcequotas'), { apiVersion: 'v1', kind: 'ResourceQuota', ...quota })
    await expect
      .poll(async () => (await server.api.get(inNamespace('resourcequotas/q'))).body)
      .toHaveProperty('status.used', { 'requests.cpu': '1' })
    expect(await resized(path, withCpu('1500m'))).toEqual([200])
    expect((await resized(path, withCpu('3')))[1]).toBe(
      'pods "p" is forbidden: exceeded quota: q, requested: requests.cpu=1500m, used: requests.cpu=1500m, limited: requests.cpu=2',
    )
    const range = { metadata: { name: 'r' }, spec: { limits: [{ type: 'Container', min: { cpu: '500m' } }] } }
    await created(server.api, inNamespace('limitranges'), { apiVersion: 'v1', kind: 'LimitRange', ...range })
    expect((await resized(path, withCpu('400m')))[1]).toBe(
      'pods "p" is forbidden: minimum cpu usage per Container is 500m, but request is 400m',
    )
  })

  test('TODAY-POD-05: a Pod is not resized on an absent node, or on a node without Linux', async () => {
    const [absent, other] = [aName('absent'), await aNode(roomy, { 'kubernetes.io/os': 'windows' })]
    expect(await resized(await aPodOn(absent), withCpu('2'))).toEqual([403, `pods "p" is forbidden: node "${absent}" not found`, undefined])
    expect(await resized(await aPodOn(other), withCpu('2'))).toEqual([
      403,
      `pods "p" is forbidden: pod resize is only supported on linux nodes, node "${other}" is "windows"`,
      [{ reason: 'UnsupportedPlatform' }],
    ])
  })
})

describe('NodeDeclaredFeatureValidator', () => {
  test('TODAY-POD-06: Pod-level resources are resized only on nodes that declare support', async () => {
    const own = { resources: { requests: { cpu: '1', memory: '1Gi' } } }
    const grown = { resources: { requests: { cpu: '1500m' } } }
    const node = await aNode(roomy)
    const feature = 'InPlacePodLevelResourcesVerticalScaling'
    expect(await resized(await aPodOn(node, own), grown)).toEqual([
      403,
      `pods "p" is forbidden: pod update requires features ${feature} which are not available on node "${node}"`,
      undefined,
    ])
    expect(await resized(await aPodOn(await aNode({ ...roomy, declaredFeatures: [feature] }), own), grown)).toEqual([200])
  })
})
