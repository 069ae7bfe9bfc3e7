import { createClient, createHttpsTransport, parseConfiguration } from '@orch/client'
import { namesOf } from '@orch/core/names'
import { silentLog, systemChance } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { start } from '../start/start.ts'
import { keepIdentityLease } from './kube-apiserver.ts'

test('the Lease of a server identifies it, and is renewed twice in its time until the server stops', async () => {
  const server = await start({ profile: 'kubernetes' })
  onTestFinished(() => server.stop())
  const client = createClient(createHttpsTransport(await parseConfiguration(server.kubeconfig)))
  onTestFinished(() => client.close())
  const leases = client.resource({ group: 'coordination.k8s.io', version: 'v1', plural: 'leases', namespaced: true })
  const read = async () =>
    (await leases.list({ namespace: 'kube-system', labelSelector: 'apiserver.kubernetes.io/identity=kube-apiserver' })).items
  const clock = createFakeClock()
  const keep = (isOn: boolean) =>
    keepIdentityLease({
      ...{ client, clock, chance: systemChance, log: silentLog },
      catalogue: { names: namesOf('kubernetes'), isGateOn: (gate) => isOn && gate === 'APIServerIdentity' },
    })
  keep(false)
  const stop = keep(true)
  await expect.poll(read).toMatchObject([
    {
      metadata: { name: expect.stringMatching(/^apiserver-[a-z2-7]{26}$/), labels: { 'kubernetes.io/hostname': expect.any(String) } },
      spec: { leaseDurationSeconds: 3600, holderIdentity: expect.stringContaining('_') },
    },
  ])
  const [first] = await read()
  const renewTime = async () => JSON.stringify((await read()).map(({ spec }) => spec))
  const before = await renewTime()
  clock.advance(1_800_000)
  await expect.poll(renewTime).not.toBe(before)
  stop()
  const after = await read()
  clock.advance(3_600_000)
  expect([await read(), after[0]?.metadata.uid]).toEqual([after, first?.metadata.uid])
})
