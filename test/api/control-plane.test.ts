import { expect, test } from 'vitest'
import { type Api, anApi, type Body, created } from './api.ts'

const path = '/api/v1/componentstatuses'

/** The health message of each component. */
async function healthOf(api: Api): Promise<Record<string, string>> {
  const { body } = await api.get(path)
  return Object.fromEntries(body.items.map(({ metadata, conditions }) => [metadata.name, describe(conditions as Condition[])]))
}

interface Condition {
  readonly type: string
  readonly status: string
  readonly message?: string
  readonly error?: string
}

function describe(conditions: readonly Condition[]): string {
  return conditions.map(({ type, status, message, error }) => [type, status, message ?? error].join(' ')).join()
}

function aLease(name: string, { ageMs, holder = 'a' }: { readonly ageMs: number; readonly holder?: string }): object {
  const renewTime = `${new Date(Date.now() - ageMs).toISOString().slice(0, -1)}000Z`
  return { metadata: { name }, spec: { holderIdentity: holder, leaseDurationSeconds: 600, renewTime } }
}

const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'

test('MACH-OPS-06: componentstatuses list the controllers of the server, its store, and an absent scheduler', async () => {
  const api = await anApi({ profile: 'kubernetes' })
  const answer = await api.get(path)
  expect(answer.body).toMatchObject({ kind: 'ComponentStatusList', apiVersion: 'v1' })
  expect(await healthOf(api)).toEqual({
    'controller-manager': 'Healthy True ok',
    'etcd-0': 'Healthy True ok',
    scheduler: 'Healthy False no leader has renewed the Lease kube-system/kube-scheduler',
  })
})

test('one component is read by its name, in all forms; another name is a 404 that names componentstatus', async () => {
  const api = await anApi({ profile: 'kubernetes' })
  const { body } = await api.get(`${path}/etcd-0`)
  expect(body).toMatchObject({ kind: 'ComponentStatus', metadata: { name: 'etcd-0' }, conditions: [{ type: 'Healthy', status: 'True' }] })
  const table = await api.get(path, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })
  expect((table.body['rows'] as { cells: unknown[] }[]).map(({ cells }) => cells.slice(0, 2))).toEqual([
    ['controller-manager', 'Healthy'],
    ['etcd-0', 'Healthy'],
    ['scheduler', 'Unhealthy'],
  ])
  const metadata = await api.get(path, { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' })
  expect(metadata.body.items.map((item) => item.metadata.name)).toEqual(['controller-manager', 'etcd-0', 'scheduler'])
  expect((await api.get(path, { accept: 'application/vnd.kubernetes.protobuf' })).text).toContain('etcd-0')
  expect(await api.get(`${path}/nothing`)).toMatchObject({ status: 404, body: { message: 'componentstatus "nothing" not found' } })
})

test('components are selected by name, and have no labels', async () => {
  const api = await anApi()
  const namesOf = async (query: string) => (await api.get(`${path}?${query}`)).body.items.map((item: Body) => item.metadata.name)
  expect(await namesOf('fieldSelector=metadata.name%3Dscheduler')).toEqual(['scheduler'])
  expect(await namesOf('fieldSelector=metadata.name!%3Dscheduler')).toEqual(['controller-manager', 'etcd-0'])
  expect(await namesOf('labelSelector=a%3Db')).toEqual([])
  expect(await namesOf('labelSelector=!a')).toHaveLength(3)
})

test.each([
  { lease: aLease('kube-scheduler', { ageMs: 1_000 }), health: 'True ok', name: 'is renewed' },
  { lease: aLease('kube-scheduler', { ageMs: 1_200_000 }), health: 'False', name: 'was not renewed in time' },
  { lease: aLease('kube-scheduler', { ageMs: 0, holder: '' }), health: 'False', name: 'has no holder' },
  { lease: { metadata: { name: 'kube-scheduler' } }, health: 'False', name: 'says nothing' },
])('a scheduler whose Lease $name is $health', async ({ lease, health }) => {
  const api = await anApi({ profile: 'kubernetes' })
  await created(api, leases, lease)
  expect((await healthOf(api))['scheduler']).toContain(`Healthy ${health}`)
})

test('a server without controllers reports a controller manager while its Lease is renewed', async () => {
  const api = await anApi({ profile: 'kubernetes', controllers: ['bootstrap', 'flow-control'] })
  expect((await healthOf(api))['controller-manager']).toBe(
    'Healthy False no leader has renewed the Lease kube-system/controllers or kube-system/kube-controller-manager',
  )
  await created(api, leases, aLease('kube-controller-manager', { ageMs: 0 }))
  expect((await healthOf(api))['controller-manager']).toBe('Healthy True ok')
})
