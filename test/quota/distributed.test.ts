import { createClient, createHttpsTransport, parseConfiguration } from '@orch/client'
import type { ApiObject, StatusError } from '@orch/core'
import { clusterMode, sharedBackends } from '@orch/testkit'
import { expect, onTestFinished, test, vi } from 'vitest'

const address = (plural: string, namespaced = true) => ({ group: '', version: 'v1', plural, namespaced })

test.runIf(clusterMode() === 'distributed')(
  'ADM-BI-03: a quota holds across two gateways and two admission processes over gRPC',
  { timeout: 120_000 },
  async () => {
    const { startDistributed } = await import('orch/distributed')
    const options = { ...(await sharedBackends()), gateways: 2, storages: 2, watches: 1, admissions: 2 }
    const { kubeconfig, urls, stop } = await startDistributed({}, options)
    onTestFinished(() => stop())
    const configuration = await parseConfiguration(kubeconfig)
    const clients = urls.map((server) => createClient(createHttpsTransport({ ...configuration, server })))
    onTestFinished(() => {
      for (const client of clients) client.close()
    })
    const [first, second] = clients
    if (first === undefined || second === undefined) throw new Error('there are not two gateways')
    const quotas = first.resource<ApiObject & { status?: { used?: object } }>(address('resourcequotas'))
    await quotas.create({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'q', namespace: 'default' },
      spec: { hard: { pods: '20' } },
    })
    const create = (index: number) =>
      (index % 2 === 0 ? first : second).resource(address('pods')).create({
        ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: `p${index}`, namespace: 'default' } },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      })
    const results = await Promise.allSettled(Array.from({ length: 80 }, (_, index) => create(index)))
    const refused = results.filter((result) => result.status === 'rejected')
    expect(refused).toHaveLength(60)
    for (const { reason } of refused)
      expect((reason as StatusError).message).toContain('exceeded quota: q, requested: pods=1, used: pods=20')
    const used = async () => (await quotas.get('q', { namespace: 'default' })).status?.used
    expect(await used()).toEqual({ pods: '20' })
    const { items } = await second.resource(address('pods')).list({ namespace: 'default' })
    await second.resource(address('pods')).delete(items[0]?.metadata.name ?? '', { namespace: 'default' }, { gracePeriodSeconds: 0 })
    await vi.waitFor(async () => expect(await used()).toEqual({ pods: '19' }), { timeout: 20_000 })
  },
)
