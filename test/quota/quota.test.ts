import { type ApiObject, StatusError } from '@orch/core'
import { type StartOptions, start } from 'orch'
import { expect, onTestFinished, test, vi } from 'vitest'

const address = (plural: string, namespaced = true) => ({ group: '', version: 'v1', plural, namespaced })

async function aNamespace(options: StartOptions = {}) {
  const server = await start(options)
  onTestFinished(() => server.stop())
  const { client } = server
  await client.resource(address('namespaces', false)).create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } })
  const create = (plural: string, object: object) => client.resource(address(plural)).create(object as ApiObject, { namespace: 'team' })
  const pods = client.resource(address('pods'))
  const usedOf = async (name: string) => {
    const { status } = (await client.resource(address('resourcequotas')).get(name, { namespace: 'team' })) as { status?: { used?: object } }
    return status?.used
  }
  return { server, client, create, pods, usedOf }
}

const aQuota = (name: string, hard: Record<string, string>, spec: object = {}) => ({
  ...{ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name } },
  spec: { ...spec, hard },
})

const aPod = (name: string, resources: object = {}, spec: object = {}) => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name } },
  spec: { ...spec, containers: [{ name: 'c', image: 'i', resources }] },
})

async function refusal(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(error instanceof StatusError)) throw error ?? new Error('it was not refused')
  return `${error.code} ${error.status.message}`
}

test('ADM-BI-03, KIND-RQ-13: of 200 pods that are created at once, exactly those are that a quota of 50 allows', async () => {
  const { create, pods, usedOf } = await aNamespace()
  await create('resourcequotas', aQuota('q', { pods: '50' }))
  const results = await Promise.allSettled(Array.from({ length: 200 }, (_, index) => create('pods', aPod(`p${index}`))))
  const failed = results.filter((result) => result.status === 'rejected')
  expect(failed).toHaveLength(150)
  for (const { reason } of failed) {
    expect((reason as StatusError).status).toMatchObject({ code: 403, reason: 'Forbidden' })
    expect((reason as StatusError).message).toMatch(/is forbidden: exceeded quota: q, requested: pods=1, used: pods=50, limited: pods=50$/)
  }
  expect((await pods.list({ namespace: 'team' })).items).toHaveLength(50)
  expect(await usedOf('q')).toEqual({ pods: '50' })
})

test('KIND-RQ-02: what counts is the sum of a namespace, and of no other', async () => {
  const { client, create } = await aNamespace()
  await client.resource(address('namespaces', false)).create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } })
  await create('resourcequotas', aQuota('q', { 'requests.cpu': '1' }))
  const elsewhere = (name: string, cpu: string) =>
    client.resource(address('pods')).create(aPod(name, { requests: { cpu } }) as ApiObject, { namespace: 'other' })
  await elsewhere('big', '9')
  await create('pods', aPod('a', { requests: { cpu: '400m' } }))
  await create('pods', aPod('b', { requests: { cpu: '600m' } }))
  expect(await refusal(create('pods', aPod('c', { requests: { cpu: '1m' } })))).toBe(
    '403 pods "c" is forbidden: exceeded quota: q, requested: requests.cpu=1m, used: requests.cpu=1, limited: requests.cpu=1',
  )
  expect((await elsewhere('c', '1m')).metadata.name).toBe('c')
})

test('ADM-BI-03: what is created counts at once, what is deleted soon', async () => {
  const { create, pods, usedOf } = await aNamespace()
  await create('resourcequotas', aQuota('q', { pods: '2', 'requests.cpu': '1' }))
  await create('pods', aPod('a', { requests: { cpu: '600m' } }))
  expect(await usedOf('q')).toEqual({ pods: '1', 'requests.cpu': '600m' })
  expect(await refusal(create('pods', aPod('b', { requests: { cpu: '500m' } })))).toBe(
    '403 pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=600m, limited: requests.cpu=1',
  )
  expect(await refusal(create('pods', aPod('c')))).toBe('403 pods "c" is forbidden: failed quota: q: must specify requests.cpu for: c')
  await pods.delete('a', { namespace: 'team' }, { gracePeriodSeconds: 0 })
  await vi.waitFor(async () => expect(await usedOf('q')).toEqual({ pods: '0', 'requests.cpu': '0' }))
})
