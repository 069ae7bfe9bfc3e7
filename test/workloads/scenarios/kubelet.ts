import type { ApiObject } from '@orch/core/meta'
import { nodeOfAffinity } from './names.ts'
import type { PodAction } from './scenario.ts'

/** A request about a Pod. */
export interface PodRequest {
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  readonly subresource?: string | undefined
  readonly body?: unknown
  readonly contentType?: string
}

interface Pod extends ApiObject {
  readonly spec: { readonly nodeName?: string; readonly containers: readonly { readonly name: string; readonly image?: string }[] }
  readonly status: { readonly podIP?: string }
}

type Container = Pod['spec']['containers'][number]

const merge = 'application/merge-patch+json'
const strategic = 'application/strategic-merge-patch+json'

/** Plays the scheduler and the kubelets of a scenario: returns the requests that an action on a Pod makes. */
export class PlayedKubelet {
  readonly #addresses = new Map<string, string>()

  /** `nowMs` is the server's time. */
  requests(object: ApiObject, action: PodAction, nowMs: number): readonly PodRequest[] {
    const pod = object as Pod
    const { name, namespace } = pod.metadata
    const { grace, body, sub } = action
    switch (action.do) {
      case 'bind':
        return bind(pod, action.node)
      case 'running':
      case 'ready':
      case 'succeed':
      case 'fail':
        return [...bind(pod, action.node), this.#status(pod, action, nowMs)]
      case 'end':
        return [this.#status(pod, { ...action, do: (action.exitCode ?? 0) === 0 ? 'succeed' : 'fail' }, nowMs), remove(0)]
      case 'delete':
        return [remove(grace)]
      case 'reap':
        return pod.metadata.deletionTimestamp == null ? [] : [remove(0)]
      case 'evict':
        return [
          { method: 'POST', subresource: 'eviction', body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } } },
        ]
      case 'patch':
        return [{ method: 'PATCH', subresource: sub, body, contentType: merge }]
    }
  }

  #status(pod: Pod, action: PodAction, nowMs: number): PodRequest {
    const time = new Date(nowMs - (action.age ?? 0) * 1000).toISOString().replace(/\.\d+Z/, 'Z')
    const body = { status: { ...this.#network(pod, action, time), ...statusOf(pod, action, time) } }
    return { method: 'PATCH', subresource: 'status', body, contentType: strategic }
  }

  #network(pod: Pod, { ip }: PodAction, startTime: string): object {
    const { uid = '' } = pod.metadata
    const count = this.#addresses.size
    const podIP = ip ?? pod.status.podIP ?? this.#addresses.get(uid) ?? `10.9.${Math.floor((count + 1) / 200)}.${((count + 1) % 200) + 1}`
    this.#addresses.set(uid, podIP)
    const hostIP = '192.168.7.1'
    return pod.status.podIP === undefined ? { podIP, podIPs: [{ ip: podIP }], hostIP, hostIPs: [{ ip: hostIP }], startTime } : {}
  }
}

/** The default action of a kubelet: images `exit/CODE` end, and images `stuck/` are never ready. */
export function actionByItself({ metadata, spec }: ApiObject & { readonly spec?: unknown }): PodAction {
  if (metadata.deletionTimestamp != null) return { do: 'reap' }
  const image = (spec as Pod['spec']).containers[0]?.image ?? ''
  const code = /^exit\/(\d+)/.exec(image)?.[1]
  if (code === undefined) return { do: image.startsWith('stuck/') ? 'running' : 'ready' }
  return code === '0' ? { do: 'succeed' } : { do: 'fail', exitCode: Number(code) }
}

function bind(pod: Pod, node: string | undefined): PodRequest[] {
  if (pod.spec.nodeName !== undefined) return []
  const target = { apiVersion: 'v1', kind: 'Node', name: node ?? nodeOfAffinity(pod) ?? 'node-a' }
  const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name: pod.metadata.name }, target }
  return [{ method: 'POST', subresource: 'binding', body }]
}

function remove(gracePeriodSeconds: number | undefined): PodRequest {
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds }
  return { method: 'DELETE', ...(gracePeriodSeconds !== undefined && { body }) }
}

function statusOf(pod: Pod, action: PodAction, time: string): object {
  const { restarts: restartCount = 0, exitCode = 1, codes, reason, target, condition } = action
  const containers = (of: (container: Container) => object) =>
    pod.spec.containers.map((container) => ({
      name: container.name,
      image: container.image,
      imageID: 'i',
      restartCount: 0,
      ready: false,
      started: false,
      ...of(container),
    }))
  const running = { running: { startedAt: time } }
  const ended = (code: number, why: string) => ({ terminated: { exitCode: code, reason: why, startedAt: time, finishedAt: time } })
  switch (action.do) {
    case 'ready': {
      const containerStatuses = containers(() => ({ ready: true, started: true, restartCount, state: running }))
      return { phase: 'Running', conditions: conditions('True', time), containerStatuses }
    }
    case 'running': {
      const containerStatuses = containers(() => ({ started: true, restartCount, state: running }))
      return { phase: 'Running', conditions: conditions('False', time), containerStatuses }
    }
    case 'succeed': {
      const containerStatuses = containers(() => ({ state: ended(0, 'Completed') }))
      const completed = conditions('False', time).map((one) => ({ ...one, reason: 'PodCompleted' }))
      return { phase: 'Succeeded', conditions: completed, containerStatuses }
    }
    default: {
      const containerStatuses = containers(({ name }) => ({ restartCount, state: ended(codes?.[name] ?? exitCode, 'Error') }))
      const disrupted = { type: 'DisruptionTarget', status: 'True', reason: target, message: '', lastTransitionTime: time }
      const more = [
        ...(target === undefined ? [] : [disrupted]),
        ...(condition === undefined ? [] : [{ ...condition, lastTransitionTime: time }]),
      ]
      return { phase: 'Failed', reason, conditions: [...conditions('False', time), ...more], containerStatuses }
    }
  }
}

function conditions(ready: 'True' | 'False', lastTransitionTime: string): object[] {
  const of = (type: string, status: string) => ({ type, status, lastTransitionTime })
  return [of('Initialized', 'True'), of('Ready', ready), of('ContainersReady', ready), of('PodScheduled', 'True')]
}
