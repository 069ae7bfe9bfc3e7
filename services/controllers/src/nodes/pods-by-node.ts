import type { InformerEvent } from '@orch/client'
import type { Pod } from '@orch/core/workloads'
import { keyOf } from '../informers/object-keys.ts'

const nothing: ReadonlySet<string> = new Set()

/** Keys of the Pods that are bound to each node, from events. */
export class PodsByNode {
  readonly #keys = new Map<string, Set<string>>()

  /** A Pod is bound once, to one node. */
  showPod({ kind, object: pod }: InformerEvent<Pod>): void {
    const node = nodeNameOf(pod)
    if (node === '') return
    const keys = this.#keys.get(node) ?? new Set()
    if (kind === 'deleted') keys.delete(keyOf(pod))
    else keys.add(keyOf(pod))
    if (keys.size === 0) this.#keys.delete(node)
    else this.#keys.set(node, keys)
  }

  keysOn(node: string): ReadonlySet<string> {
    return this.#keys.get(node) ?? nothing
  }
}

/** The node of a Pod; '' for none. */
export function nodeNameOf({ spec: { nodeName = '' } }: Pod): string {
  return nodeName
}
