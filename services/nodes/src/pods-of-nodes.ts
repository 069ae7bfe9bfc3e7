import type { InformerEvent } from '@orch/client'
import type { PodOnNode } from '@orch/core/contracts'
import { isFinishedPod, type Pod } from '@orch/core/workloads'
import { keyOf } from './requests.ts'

/** The bound Pods of each node, so that a start with many nodes looks at each Pod once. */
export class PodsOfNodes {
  readonly #byNode = new Map<string, Map<string, Pod>>()

  /** A bound Pod never changes its node. */
  apply({ kind, object: pod }: InformerEvent<Pod>): void {
    const { nodeName = '' } = pod.spec
    const pods = this.#byNode.get(nodeName) ?? new Map<string, Pod>()
    if (kind === 'deleted') pods.delete(keyOf(pod))
    else this.#byNode.set(nodeName, pods.set(keyOf(pod), pod))
    if (pods.size === 0) this.#byNode.delete(nodeName)
  }

  of(node: string): readonly Pod[] {
    return [...(this.#byNode.get(node)?.values() ?? [])]
  }

  /** The Pod at an address that has not finished; on the network of a node a Pod with this port. */
  placeAt(address: string, port: number): PodOnNode | undefined {
    for (const pods of this.#byNode.values()) {
      for (const pod of pods.values()) {
        if (!addressesOf(pod).includes(address) || isFinishedPod(pod) || (pod.spec.hostNetwork === true && !hasPort(pod, port))) continue
        return placeOf(pod)
      }
    }
    return undefined
  }
}

export function placeOf({ metadata: { namespace = '', name = '', uid = '' }, spec }: Pod): PodOnNode {
  return { node: spec.nodeName ?? '', namespace, name, uid }
}

export function addressesOf({ status: { podIP, podIPs } }: Pod): string[] {
  return [podIP ?? '', ...(podIPs ?? []).map(({ ip }) => ip ?? '')].filter((address) => address !== '')
}

function hasPort({ spec }: Pod, port: number): boolean {
  return (spec.containers ?? []).some(({ ports }) => ports?.some(({ containerPort }) => containerPort === port) === true)
}
