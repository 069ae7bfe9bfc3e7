import type { ApiObject } from '@orch/core/meta'
import { virtualClock } from 'orch'
import { expect, test } from 'vitest'
import { aKubectl, describeKubectls, ownServer } from './kubectl.ts'

const manifest = `
apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: v1
kind: Node
metadata: {name: n2}
---
apiVersion: v1
kind: Pod
metadata: {name: bare}
spec: {nodeName: n1, terminationGracePeriodSeconds: 0, containers: [{name: c, image: 'img:1'}]}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {terminationGracePeriodSeconds: 0, containers: [{name: c, image: 'img:1'}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
`

/** kubectl and a server whose clock the test moves, with two nodes; a bare Pod, and a Pod of a ReplicaSet with a budget, run on the first. */
async function aDrainable(binary: string) {
  const clock = virtualClock({ start: new Date('2026-01-01T00:00:00Z') })
  const controllers = ['*', 'workloads', 'nodelifecycle', 'podgc', '-serviceaccount', '-root-ca-cert-publisher']
  const server = await ownServer({ clock, controllers })
  const { kubectl, withFile } = await aKubectl(binary, async () => server)
  await withFile('create', manifest)
  await clock.advance('1s')
  const pods = server.client.resource<ApiObject>({ group: '', version: 'v1', plural: 'pods', namespaced: true })
  const nodes = server.client.resource<ApiObject>({ group: '', version: 'v1', plural: 'nodes', namespaced: false })
  const inDefault = { namespace: 'default' }
  const ready = { conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T00:00:00Z' }] }
  for (const name of ['n1', 'n2']) await nodes.patch(name, { status: ready }, { type: 'strategic', subresource: 'status' })
  const podOfSet = async () =>
    (await pods.list({ ...inDefault, labelSelector: 'app=web' })).items.map(({ metadata: { name = '' } }) => name)
  const [name = ''] = await podOfSet()
  await server.client.request({
    method: 'POST',
    path: `/api/v1/namespaces/default/pods/${name}/binding`,
    body: { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target: { kind: 'Node', name: 'n1' } },
  })
  const running = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
  await pods.patch(name, { status: running }, { type: 'strategic', subresource: 'status', ...inDefault })
  await clock.advance('1s')
  const podNames = async () => (await pods.list(inDefault)).items.map(({ metadata }) => metadata.name)
  /** The error output of a failing kubectl. */
  const failing = (...args: string[]) =>
    kubectl(...args).then(
      () => '',
      (error: { readonly stderr?: string }) => error.stderr ?? '',
    )
  return { kubectl, failing, clock, podNames, name }
}

describeKubectls('%s', { timeout: 180_000 }, (binary) => {
  test('NODE-LC-15, WL-NODE-10: cordons and uncordons a node, and the taint follows', async () => {
    const { kubectl, clock } = await aDrainable(binary)
    const taints = () => kubectl('get', 'node', 'n1', '-o', 'jsonpath={.spec.taints[*].key}')
    expect(await kubectl('cordon', 'n1')).toContain('node/n1 cordoned')
    await clock.advance('1s')
    expect([await taints(), await kubectl('get', 'nodes')]).toEqual([
      'node.kubernetes.io/unschedulable',
      expect.stringMatching(/^n1 +Ready,SchedulingDisabled/m),
    ])
    expect(await kubectl('uncordon', 'n1')).toContain('node/n1 uncordoned')
    await clock.advance('1s')
    expect(await taints()).toBe('')
  })

  test('NODE-LC-15: drains a node: Pods without a controller with --force, none in a dry run, and as many as a budget allows', async () => {
    const { kubectl, failing, clock, podNames, name } = await aDrainable(binary)
    expect(await failing('drain', 'n1')).toContain('declare no controller (use --force to override)')
    expect(await kubectl('drain', 'n1', '--force', '--dry-run=client')).toContain('node/n1 drained (dry run)')
    expect(await podNames()).toEqual(['bare', name])
    expect(await failing('drain', 'n1', '--force', '--timeout=2s')).toContain(
      "Cannot evict pod as it would violate the pod's disruption budget",
    )
    expect(await podNames()).toEqual([name])
    await kubectl('delete', 'pdb', 'web')
    expect(await kubectl('drain', 'n1', '--dry-run=server')).toContain('node/n1 drained (server dry run)')
    expect(await podNames()).toEqual([name])
    expect(await kubectl('drain', 'n1')).toContain('node/n1 drained')
    await clock.advance('1s')
    expect(await podNames()).not.toContain(name)
    expect(await kubectl('get', 'node', 'n1', '-o', 'jsonpath={.spec.unschedulable}')).toBe('true')
  })

  test('NODE-LC-16: deletes a node, and its Pods are deleted a minute later', async () => {
    const { kubectl, clock, podNames, name } = await aDrainable(binary)
    expect(await kubectl('delete', 'node', 'n1')).toContain('node "n1" deleted')
    await clock.advance('20s')
    expect(await podNames()).toEqual(['bare', name])
    await clock.advance('41s')
    const left = await podNames()
    expect([left.length, left.includes('bare'), left.includes(name)]).toEqual([1, false, false])
  })
})
