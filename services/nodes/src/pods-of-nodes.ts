import type { InformerEvent } from '@orch/client'
import type { Pod } from '@orch/core/workloads'
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
}
