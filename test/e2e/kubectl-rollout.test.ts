import { setTimeout } from 'node:timers/promises'
import { startInformer } from '@orch/client'
import { type ApiObject, StatusError } from '@orch/core/meta'
import type { RunningServer } from 'orch'
import { expect, onTestFinished, test } from 'vitest'
import { aKubectl, describeKubectls, sharedServer } from './kubectl.ts'

const openServer = sharedServer({ controllers: ['*', 'workloads', '-serviceaccount', '-root-ca-cert-publisher'] })
const web = 'deployment/web'
const manifest = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {kubernetes.io/change-cause: first}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: 'img:1'}]}
`

const statefulManifest = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: c, image: 'img:1'}]}
`

const daemonManifest = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: c, image: 'img:1'}]}
`

interface Pod extends ApiObject {
  readonly status?: { readonly phase?: string }
}

/** Makes each Pod ready, as nodes would. */
function playNodes({ client }: RunningServer): void {
  const ending = new AbortController()
  const pods = client.resource<Pod>({ group: '', version: 'v1', plural: 'pods', namespaced: true })
  const ready = async ({ metadata: { name = '', namespace } }: Pod) => {
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: new Date().toISOString() }]
    const body = { status: { phase: 'Running', conditions } }
    await pods.patch(name, body, { type: 'merge', subresource: 'status', namespace }).catch((error: unknown) => {
      // The Pod has been deleted meanwhile.
      if (!(error instanceof StatusError && error.code === 404)) throw error
    })
  }
  const { done } = startInformer<Pod>({
    resource: pods,
    signal: ending.signal,
    sleep: (delayMs, signal) => setTimeout(delayMs, undefined, { signal }).catch(() => undefined),
    random: () => 0.5,
    onEvent: ({ kind, object }) => {
      if (kind === 'added') void ready(object)
    },
  })
  onTestFinished(async () => {
    ending.abort()
    await done
  })
}

describeKubectls('%s', { timeout: 180_000 }, (binary) => {
  test('WL-DEP-59: rolls out, prints the history, undoes, pauses, resumes, restarts and scales a Deployment', async () => {
    const { kubectl, withFile } = await aKubectl(binary, async () => {
      const server = await openServer()
      playNodes(server)
      return server
    })
    const images = async () => (await kubectl('get', 'pods', '-o', 'jsonpath={.items[*].spec.containers[0].image}')).split(' ')
    const isRolledOut = async () =>
      expect(await kubectl('rollout', 'status', web, '--timeout=60s')).toContain('deployment "web" successfully rolled out')
    await withFile('apply', manifest)
    await isRolledOut()
    await kubectl('set', 'image', web, 'c=img:2')
    await kubectl('annotate', web, 'kubernetes.io/change-cause=second', '--overwrite')
    await isRolledOut()
    await expect.poll(images).toEqual(['img:2', 'img:2'])
    await expect.poll(() => kubectl('rollout', 'history', web)).toMatch(/^1 +first\n2 +second$/m)
    expect(await kubectl('rollout', 'undo', web)).toContain('rolled back')
    await isRolledOut()
    await expect.poll(images).toEqual(['img:1', 'img:1'])
    await kubectl('rollout', 'pause', web)
    await kubectl('set', 'image', web, 'c=img:3')
    await kubectl('scale', web, '--replicas=3')
    await expect.poll(images).toEqual(['img:1', 'img:1', 'img:1'])
    await kubectl('rollout', 'resume', web)
    await isRolledOut()
    await expect.poll(images).toEqual(['img:3', 'img:3', 'img:3'])
    await kubectl('rollout', 'restart', web)
    await isRolledOut()
    const sets = await kubectl(
      'get',
      'replicasets',
      '-o',
      'jsonpath={.items[*].metadata.annotations.deployment\\.kubernetes\\.io/revision}',
    )
    expect(sets.split(' ').sort()).toEqual(['2', '3', '4', '5'])
    expect(await kubectl('wait', web, '--for=condition=Available', '--timeout=60s')).toContain('condition met')
  })

  test('autoscales a Deployment, creates a Job from a CronJob, and deletes owners with and without their dependants', async () => {
    const { kubectl, withFile } = await aKubectl(binary, async () => {
      const server = await openServer()
      playNodes(server)
      return server
    })
    const namesOf = async (kinds: string) => (await kubectl('get', kinds, '-o', 'name')).trim()
    await withFile('apply', manifest)
    expect(await kubectl('autoscale', web, '--min=3', '--max=5', '--cpu-percent=80')).toContain('web autoscaled')
    await kubectl('wait', web, '--for=jsonpath={.status.readyReplicas}=3', '--timeout=60s')
    await kubectl('delete', web, '--cascade=orphan')
    expect((await namesOf('pods')).split('\n')).toHaveLength(3)
    const set = await namesOf('replicasets')
    expect(set).toMatch(/^replicaset\.apps\/web-\w+$/)
    await kubectl('delete', set, '--cascade=background')
    await expect.poll(() => namesOf('pods'), { timeout: 60_000 }).toBe('')

    await kubectl('create', 'cronjob', 'tick', '--image=img:1', '--schedule=0 0 1 1 *')
    await kubectl('create', 'job', 'once', '--from=cronjob/tick')
    await expect.poll(() => namesOf('pods'), { timeout: 60_000 }).toMatch(/^pod\/once-\w+$/)
    const owner = 'jsonpath={.metadata.ownerReferences[0].name} {.metadata.annotations.cronjob\\.kubernetes\\.io/instantiate}'
    expect(await kubectl('get', 'job', 'once', '-o', owner)).toBe('tick manual')
    await kubectl('delete', 'cronjob', 'tick', '--cascade=foreground')
    expect(await namesOf('jobs,pods')).toBe('')
  })

  test('WL-STS-53: rolls out, prints the history, undoes, restarts and scales a StatefulSet', async () => {
    const { kubectl, withFile } = await aKubectl(binary, async () => {
      const server = await openServer()
      playNodes(server)
      return server
    })
    const db = 'statefulset/db'
    const images = async () => (await kubectl('get', 'pods', '-o', 'jsonpath={.items[*].spec.containers[0].image}')).split(' ')
    const isRolledOut = async (image: string, count = 2) => {
      await kubectl('rollout', 'status', db, '--timeout=60s')
      await expect.poll(images).toEqual(Array.from({ length: count }, () => image))
    }
    await withFile('apply', statefulManifest)
    await isRolledOut('img:1')
    expect(await kubectl('get', db, '-o', 'jsonpath={.status.readyReplicas}')).toBe('2')
    await kubectl('set', 'image', db, 'c=img:2')
    await isRolledOut('img:2')
    expect(await kubectl('rollout', 'history', db)).toMatch(/^1 +\S+\n2 +\S+$/m)
    expect(await kubectl('rollout', 'history', db, '--revision=1')).toContain('img:1')
    expect(await kubectl('rollout', 'undo', db)).toContain('rolled back')
    await isRolledOut('img:1')
    await kubectl('rollout', 'restart', db)
    await kubectl('rollout', 'status', db, '--timeout=60s')
    const restarted = 'jsonpath={.items[*].metadata.annotations.kubectl\\.kubernetes\\.io/restartedAt}'
    await expect.poll(async () => (await kubectl('get', 'pods', '-o', restarted)).split(' ').length).toBe(2)
    await kubectl('scale', db, '--replicas=3')
    await isRolledOut('img:1', 3)
    const numbers = await kubectl('get', 'controllerrevisions', '-o', 'jsonpath={.items[*].revision}')
    expect(numbers.split(' ').sort()).toEqual(['2', '3', '4'])
  })

  test('WL-DS-16, WL-DS-22: rolls out, prints the history, undoes and restarts a DaemonSet', async () => {
    const { kubectl, withFile } = await aKubectl(binary, async () => {
      const server = await openServer()
      playNodes(server)
      return server
    })
    const nodes = ['agent-node-a', 'agent-node-b']
    const manifestOf = (name: string) => `---\napiVersion: v1\nkind: Node\nmetadata: {name: ${name}, labels: {pool: agents}}\n`
    await withFile('apply', nodes.map(manifestOf).join(''))
    // Admission adds a taint to new nodes.
    for (const node of nodes) await kubectl('patch', 'node', node, '--type=merge', '-p', '{"spec":{"taints":null}}')
    const agent = 'daemonset/agent'
    const isRolledOut = async (image: string) => {
      await kubectl('rollout', 'status', agent, '--timeout=60s')
      await expect.poll(() => kubectl('get', 'pods', '-o', 'jsonpath={.items[*].spec.containers[0].image}')).toBe(`${image} ${image}`)
    }
    await withFile('apply', daemonManifest)
    await isRolledOut('img:1')
    await kubectl('set', 'image', agent, 'c=img:2')
    await isRolledOut('img:2')
    expect(await kubectl('rollout', 'history', agent)).toMatch(/^1 +\S+\n2 +\S+$/m)
    expect(await kubectl('rollout', 'history', agent, '--revision=1')).toContain('img:1')
    expect(await kubectl('rollout', 'undo', agent)).toContain('rolled back')
    await isRolledOut('img:1')
    await kubectl('rollout', 'restart', agent)
    const restarted = 'jsonpath={.items[*].metadata.annotations.kubectl\\.kubernetes\\.io/restartedAt}'
    await expect.poll(async () => (await kubectl('get', 'pods', '-o', restarted)).split(' ').length).toBe(2)
    await isRolledOut('img:1')
    const numbers = await kubectl('get', 'controllerrevisions', '-o', 'jsonpath={.items[*].revision}')
    expect(numbers.split(' ').sort()).toEqual(['2', '3', '4'])
  })
})
