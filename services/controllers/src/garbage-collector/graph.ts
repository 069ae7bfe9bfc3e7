import type { DiscoveredResource } from '@orch/client'
import { shareWith } from '@orch/core/json'
import { getOrMake } from '@orch/core/memo'
import { isOf, mayOwn, type Observed, type OwnerReference } from './observed.ts'

/** An object with owners or under deletion. Other objects are not stored. */
export interface Node extends Observed {
  readonly resource: DiscoveredResource
}

/**
 * Dependants and their owners, by uid.
 *
 *   put(replicaSet owned by d), put(pod owned by r)   dependantsOf(d) → [replicaSet]   dependantsOf(r) → [pod]
 */
export class Graph {
  readonly #nodes = new Map<string, Node>()
  readonly #dependants = new Map<string, Set<string>>()

  get(uid: string): Node | undefined {
    return this.#nodes.get(uid)
  }

  /** True if the owner is in the graph at the place of a reference and not under deletion. */
  hasLive(owner: OwnerReference, namespace: string | undefined): boolean {
    const node = this.#nodes.get(owner.uid)
    if (node?.phase !== 'live' || node.name !== owner.name || !isOf(owner, node.resource)) return false
    return node.namespace === undefined || node.namespace === namespace
  }

  /** Returns the previous node. Equal references of an earlier state, or of another dependant, are stored once. */
  put({ owners, ...rest }: Node): Node | undefined {
    const known = this.#nodes.get(rest.uid)
    const node = { ...rest, owners: shareWith(owners, (known ?? this.#siblingOf(owners))?.owners) }
    if (known !== undefined && haveSameOwners(known, node)) {
      this.#nodes.set(node.uid, node)
      return known
    }
    const before = this.remove(node.uid)
    this.#nodes.set(node.uid, node)
    for (const owner of node.owners) {
      getOrMake(this.#dependants, owner.uid, () => new Set()).add(node.uid)
    }
    return before
  }

  #siblingOf(owners: readonly OwnerReference[]): Node | undefined {
    const [sibling] = this.#dependants.get(owners[0]?.uid ?? '') ?? []
    return sibling === undefined ? undefined : this.#nodes.get(sibling)
  }

  /** Returns the removed node. */
  remove(uid: string): Node | undefined {
    const node = this.#nodes.get(uid)
    if (node === undefined) return undefined
    this.#nodes.delete(uid)
    for (const owner of node.owners) {
      const dependants = this.#dependants.get(owner.uid)
      dependants?.delete(uid)
      if (dependants?.size === 0) this.#dependants.delete(owner.uid)
    }
    return node
  }

  /** All objects with a reference to the uid, valid or not. */
  namersOf(uid: string): Node[] {
    return [...(this.#dependants.get(uid) ?? [])].flatMap((dependant) => this.#nodes.get(dependant) ?? [])
  }

  dependantsOf(owner: Node): Node[] {
    return this.namersOf(owner.uid).filter((dependant) => mayOwn(owner, dependant))
  }

  /** Dependants that block the foreground deletion of the owner. */
  blockersOf(owner: Node): Node[] {
    return this.dependantsOf(owner).filter((dependant) => blocks(dependant, owner.uid))
  }

  /** True if an object under foreground deletion waits for another such object, directly or through others. */
  isWaitingFor(node: Node, uid: string): boolean {
    const seen = new Set<string>()
    const reach = [uid]
    for (let next = reach.pop(); next !== undefined; next = reach.pop()) {
      const other = this.#nodes.get(next)
      if (other?.phase !== 'foreground' || seen.has(next)) continue
      seen.add(next)
      if (blocks(other, node.uid) && mayOwn(node, other)) return true
      reach.push(...other.owners.flatMap((owner) => (owner.blockOwnerDeletion === true ? [owner.uid] : [])))
    }
    return false
  }

  /** Uids of the objects of one resource. */
  uidsOf(resource: DiscoveredResource): string[] {
    return [...this.#nodes.values()].flatMap((node) => (node.resource === resource ? [node.uid] : []))
  }

  /** Uids of the objects that refer to an owner of this resource. */
  uidsOwnedBy(resource: DiscoveredResource): string[] {
    return [...this.#nodes.values()].flatMap(({ uid, owners }) => (owners.some((owner) => isOf(owner, resource)) ? [uid] : []))
  }
}

function blocks(dependant: Node, ownerUid: string): boolean {
  return dependant.owners.some((owner) => owner.uid === ownerUid && owner.blockOwnerDeletion === true)
}

/** Most changes of an object do not change its owners. */
function haveSameOwners({ owners: left }: Observed, { owners: right }: Observed): boolean {
  return left.length === right.length && left.every(({ uid }, index) => uid === right[index]?.uid)
}
