import type { Client } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { sleep, systemClock } from '@orch/platform'

const namespace = 'default'

/** A Pod as the checker and the simulated nodes see it. */
export interface RolloutPod extends ApiObject {
  readonly spec: { readonly nodeName?: string; readonly containers: readonly { readonly image?: string }[] }
  readonly status: { readonly phase?: string; readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

/** One change of a Pod, in store order. */
export interface PodChange {
  readonly type: string
  readonly object: RolloutPod
}

/** The state after a round of rollouts and Jobs, with all changes of Pods since the round began. */
export interface RoundResult {
  /** The Pods at the beginning of the round. */
  readonly before: readonly RolloutPod[]
  readonly changes: readonly PodChange[]
  readonly after: readonly RolloutPod[]
  /** The names of the existing ReplicaSets and Jobs. */
  readonly owners: readonly string[]
  readonly deployment: { readonly replicas: number; readonly maxSurge: number; readonly image: string }
  readonly job: { readonly name: string; readonly completions: number; readonly succeeded: number }
}

/** The resources of the run. */
export const pods = { group: '', version: 'v1', plural: 'pods', namespaced: true }

/** The violations of a round: Pods beyond the surge, missing Pods, Pods of an old template, orphans, and Jobs with wrong counts. */
export function findRolloutFaults({ before, changes, after, owners, deployment, job }: RoundResult): string[] {
  const faults: string[] = []
  const isOf = (pod: RolloutPod, prefix: string) => ownerOf(pod)?.startsWith(prefix) === true
  const isActive = ({ metadata, status }: RolloutPod) =>
    metadata.deletionTimestamp == null && status.phase !== 'Succeeded' && status.phase !== 'Failed'
  const active = new Set(before.filter((pod) => isOf(pod, 'ReplicaSet/') && isActive(pod)).map(uidOf))
  const succeeded = new Set<string>()
  const most = deployment.replicas + deployment.maxSurge
  let peak = active.size
  for (const { type, object } of changes) {
    const uid = uidOf(object)
    if (isOf(object, 'ReplicaSet/')) {
      if (type !== 'DELETED' && isActive(object)) active.add(uid)
      else active.delete(uid)
      peak = Math.max(peak, active.size)
    }
    if (ownerOf(object) === `Job/${job.name}` && object.status.phase === 'Succeeded') succeeded.add(uid)
  }
  // The bound allows one more Pod: the controller process may have ended before it received the answer to a create.
  if (peak > most + 1) faults.push(`${peak} Pods at a time, ${most} are allowed`)
  const wanted = after.filter((pod) => isOf(pod, 'ReplicaSet/') && isActive(pod))
  if (wanted.length !== deployment.replicas) faults.push(`${wanted.length} Pods are left of ${deployment.replicas}`)
  for (const pod of wanted) {
    const image = pod.spec.containers[0]?.image
    if (image !== deployment.image) faults.push(`${pod.metadata.name} has ${image}, not ${deployment.image}`)
  }
  for (const pod of after) {
    const owner = ownerOf(pod)
    if (owner === undefined || !owners.includes(owner)) faults.push(`${pod.metadata.name} is an orphan of ${owner}`)
  }
  if (job.succeeded !== succeeded.size) faults.push(`the Job counts ${job.succeeded} Pods, ${succeeded.size} have succeeded`)
  if (job.succeeded !== job.completions) faults.push(`the Job counts ${job.succeeded} Pods of ${job.completions}`)
  return faults
}

function uidOf({ metadata: { uid = '' } }: RolloutPod): string {
  return uid
}

function ownerOf({ metadata: { ownerReferences = [] } }: RolloutPod): string | undefined {
  const owner = ownerReferences.find(({ controller }) => controller === true)
  return owner === undefined ? undefined : `${owner.kind}/${owner.name}`
}

/** Simulates the scheduler and the kubelets: binds Pods, makes them ready, ends the Pods of Jobs successfully and removes deleted Pods. */
export class PlayedNodes {
  readonly #clientOf: () => Client
  readonly #isOver = new AbortController()
  readonly #running: Promise<void>

  /** `clientOf` returns a client of the running server. */
  constructor(clientOf: () => Client) {
    this.#clientOf = clientOf
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#isOver.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#isOver.signal.aborted) {
      // The server may be down; the next pass then does the remaining work.
      await this.#look().catch(() => {})
      await sleep(systemClock, 10)
    }
  }

  async #look(): Promise<void> {
    const client = this.#clientOf()
    const { items } = await client.resource<RolloutPod>(pods).list({ namespace })
    await Promise.all(items.map((pod) => act(client, pod).catch(() => {})))
  }
}

async function act(client: Client, pod: RolloutPod): Promise<void> {
  const { name = '', deletionTimestamp } = pod.metadata
  const path = `/api/v1/namespaces/${namespace}/pods/${name}`
  if (deletionTimestamp != null) return void (await client.request({ method: 'DELETE', path, body: { gracePeriodSeconds: 0 } }))
  if ((pod.spec.nodeName ?? '') === '') {
    const target = { kind: 'Node', name: 'played' }
    await client.request({
      method: 'POST',
      path: `${path}/binding`,
      body: { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target },
    })
  }
  const phase = ownerOf(pod)?.startsWith('Job/') === true ? 'Succeeded' : 'Running'
  if (pod.status.phase === phase) return
  const lastTransitionTime = new Date().toISOString().replace(/\.\d+Z/, 'Z')
  const status = phase === 'Running' ? 'True' : 'False'
  const body = { status: { phase, conditions: [{ type: 'Ready', status, lastTransitionTime }] } }
  await client.request({ method: 'PATCH', path: `${path}/status`, body, contentType: 'application/strategic-merge-patch+json' })
}
