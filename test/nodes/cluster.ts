import type { ApiObject } from '@orch/core/meta'
import type { Node, Pod } from '@orch/core/workloads'
import { type RunningServer, type StartOptions, start, type VirtualClock, virtualClock } from 'orch'

const resource = (plural: string, namespaced = true) => ({ group: '', version: 'v1', plural, namespaced })

interface Event extends ApiObject {
  readonly type?: string
  readonly reason?: string
  readonly message?: string
  readonly source?: { readonly component?: string }
}

/** A server with the node controllers, whose clock the test moves, and the steps of tests about nodes. */
export interface NodeCluster {
  readonly server: RunningServer
  readonly clock: VirtualClock
  /** The clock's time in the format of objects. */
  now(): string
  node(name: string): Promise<Node>
  /** Undefined: the object no longer exists. */
  pod(name: string): Promise<Pod | undefined>
  createNode(name: string, rest?: { readonly metadata?: object; readonly spec?: object }): Promise<void>
  patchNode(name: string, patch: object): Promise<void>
  deleteNode(name: string): Promise<void>
  /** Sets conditions of a node with the present time, like a heartbeat of its kubelet. */
  report(name: string, conditions?: Readonly<Record<string, string>>): Promise<void>
  /** Renews a node's lease like its kubelet; the first call creates the lease. */
  renewLease(name: string): Promise<void>
  createPod(name: string, parts?: { readonly metadata?: object; readonly spec?: object }): Promise<void>
  patchPod(name: string, status: object): Promise<void>
  deletePod(name: string): Promise<void>
  podNames(): Promise<string[]>
  /** Events as `component reason about: message`, sorted. */
  events(): Promise<string[]>
}

export async function openNodeCluster(options: StartOptions & { readonly version: string }): Promise<NodeCluster> {
  const clock = virtualClock({ start: new Date('2026-01-01T00:00:00Z') })
  const server = await start({ clock, seed: 1, profile: 'kubernetes', controllers: ['nodes'], ...options })
  const { client } = server
  const nodes = client.resource<Node>(resource('nodes', false))
  const pods = client.resource<Pod>(resource('pods'))
  const leases = client.resource({ group: 'coordination.k8s.io', version: 'v1', plural: 'leases', namespaced: true })
  const namespace = 'default'
  const now = () => new Date(clock.now()).toISOString().replace('.000Z', 'Z')
  return {
    server,
    clock,
    now,
    node: (name) => nodes.get(name),
    pod: async (name) => (await pods.list({ namespace })).items.find(({ metadata }) => metadata.name === name),
    async createNode(name, { metadata = {}, spec = {} } = {}) {
      await client.objects.create({ apiVersion: 'v1', kind: 'Node', metadata: { name, ...metadata }, spec })
    },
    async patchNode(name, patch) {
      await nodes.patch(name, patch, { type: 'merge' })
    },
    async deleteNode(name) {
      await nodes.delete(name)
    },
    async report(name, conditions = { Ready: 'True' }) {
      const list = Object.entries(conditions).map(([type, status]) => ({
        type,
        status,
        ...{ reason: 'Reported', message: 'by the test', lastHeartbeatTime: now(), lastTransitionTime: now() },
      }))
      await nodes.patch(name, { status: { conditions: list } }, { type: 'strategic', subresource: 'status' })
    },
    async renewLease(name) {
      const renewTime = new Date(clock.now()).toISOString().replace('Z', '000Z')
      const inLeases = { namespace: 'kube-node-lease' }
      const { items } = await leases.list(inLeases)
      if (items.some(({ metadata }) => metadata.name === name)) {
        await leases.patch(name, { spec: { renewTime } }, { type: 'merge', ...inLeases })
        return
      }
      const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime }
      await client.objects.create({
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name, ...inLeases },
        spec,
      } as ApiObject)
    },
    async createPod(name, { metadata = {}, spec = {} } = {}) {
      const containers = [{ name: 'c', image: 'registry.example/app:1' }]
      await client.objects.create({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace, ...metadata },
        spec: { containers, ...spec },
      } as ApiObject)
    },
    async patchPod(name, status) {
      await pods.patch(name, { status }, { type: 'strategic', subresource: 'status', namespace })
    },
    async deletePod(name) {
      await pods.delete(name, { namespace })
    },
    podNames: async () => (await pods.list({ namespace })).items.map(({ metadata }) => metadata.name ?? ''),
    events: async () =>
      (await client.resource<Event>(resource('events')).list({ namespace })).items
        .map(({ source, type, reason, message }) => `${source?.component} ${type} ${reason} ${message}`)
        .sort(),
  }
}
