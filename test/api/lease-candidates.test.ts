import { expect, test } from 'vitest'
import { aNamespace, anApi, created, until } from './api.ts'

test('the schema of a LeaseCandidate requires its spec from 1.36 on, and the members that it needs at each level', async () => {
  const requiredAt = async (version: string) => {
    const api = await anApi({ version, profile: 'kubernetes', runtimeConfig: ['coordination.k8s.io/v1beta1=true'] })
    const { body } = await api.get('/openapi/v3/apis/coordination.k8s.io/v1beta1')
    const { schemas } = body['components'] as { readonly schemas: Readonly<Record<string, { readonly required?: readonly string[] }>> }
    return ['', 'Spec'].map((part) => schemas[`io.k8s.api.coordination.v1beta1.LeaseCandidate${part}`]?.required)
  }
  const members = ['leaseName', 'binaryVersion', 'strategy']
  expect([await requiredAt('1.33'), await requiredAt('1.37')]).toEqual([
    [undefined, members],
    [['spec'], members],
  ])
})

test.each([
  ['1.32', 'v1alpha2'],
  ['1.33', 'v1beta1'],
])('at level %s a LeaseCandidate of %s that has renewed becomes the holder of its Lease', async (version, candidates) => {
  const api = await anApi({
    version,
    profile: 'kubernetes',
    controllers: ['leader-election'],
    featureGates: ['CoordinatedLeaderElection=true'],
    runtimeConfig: [`coordination.k8s.io/${candidates}=true`],
  })
  const namespace = await aNamespace(api)
  // A time to come, so that the answer is in time however long the request takes.
  const renewTime = new Date(Date.now() + 3_600_000).toISOString().replace('Z', '000Z')
  await created(api, `/apis/coordination.k8s.io/${candidates}/namespaces/${namespace}/leasecandidates`, {
    metadata: { name: 'a' },
    spec: { leaseName: 'l', binaryVersion: '1.32.0', emulationVersion: '1.32.0', strategy: 'OldestEmulationVersion', renewTime },
  })
  const { body } = await until(
    () => api.get(`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/l`),
    ({ status }) => status === 200,
  )
  expect(body['spec']).toMatchObject({ holderIdentity: 'a', strategy: 'OldestEmulationVersion' })
})
