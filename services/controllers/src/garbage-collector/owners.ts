import type { DiscoveredResource } from '@orch/client'
import { checkPathSegment, foregroundFinalizer } from '@orch/core/meta'
import type { ControllerContext } from '../controller.ts'
import { getLive, type Identity } from './objects.ts'
import { groupOf, isOf, type Metadata, type OwnerReference } from './observed.ts'

/**
 * The state of an owner for an object that refers to it. `misplaced`: a cluster-scoped object refers to an owner in a namespace. `unserved`: no served
 * resource has the owner's kind, so that it may or may not exist.
 */
export type Standing = 'solid' | 'absent' | 'waiting' | 'misplaced' | 'unserved'

/** The cached state of one uid: deleted, or the result for each place of a reference. */
type Known = 'gone' | Map<string, 'solid' | 'absent'>

/** Maximum number of cached uids. */
const knownMax = 50_000
/** Maximum number of cached creations: dependants soon follow the creation of an owner. */
const createdMax = 4096
/** Maximum number of cached places of one uid: one, unless references are wrong. */
const placesMax = 100

/** Cached answers of the server about owners. */
export class Owners {
  readonly #context: ControllerContext
  readonly #resources: readonly DiscoveredResource[]
  readonly #known = new Map<string, Known>()
  /** Places of created objects that watches have shown, by uid, oldest first. */
  readonly #created = new Map<string, string>()
  /** Uids with open requests, each with their number. */
  readonly #asked = new Map<string, number>()
  /** Owners that were deleted without their dependants. */
  readonly #parted = new Set<string>()
  /** Number of resets. */
  #era = 0

  constructor(context: ControllerContext, resources: readonly DiscoveredResource[]) {
    this.#context = context
    this.#resources = resources
  }

  isKnownSolid(owner: OwnerReference, namespace: string | undefined): boolean {
    const place = this.#created.get(owner.uid)
    if (place !== undefined) return place === placeOf(owner, namespace) || place === placeOf(owner, undefined)
    const known = this.#known.get(owner.uid)
    if (known === undefined || known === 'gone') return false
    return (known.get(placeOf(owner, namespace)) ?? known.get(placeOf(owner, undefined))) === 'solid'
  }

  /** A watch has shown the creation of an object, which then need not be requested as an owner. */
  setCreated({ group, kind }: Pick<DiscoveredResource, 'group' | 'kind'>, { uid, name, namespace }: Identity): void {
    this.#created.set(uid, printPlace({ group, kind, namespace, name }))
    if (this.#created.size <= createdMax) return
    for (const [oldest] of this.#created) {
      this.#created.delete(oldest)
      return
    }
  }

  /** The owner was deleted. Without open requests it need not be cached. */
  setGone(uid: string, isNamed: boolean): void {
    this.#created.delete(uid)
    if (isNamed || this.#asked.has(uid)) this.#known.set(uid, 'gone')
    else this.#known.delete(uid)
  }

  isGone(uid: string): boolean {
    return this.#known.get(uid) === 'gone'
  }

  /** The owner is being deleted with orphaned dependants, including those reported after its deletion. */
  setParted(uid: string): void {
    if (this.#parted.size >= knownMax) this.#parted.clear()
    this.#parted.add(uid)
  }

  isParted(uid: string): boolean {
    return this.#parted.has(uid)
  }

  /** A uid never returns, unless an older state is restored; then all cached answers are dropped. */
  forgetAll(): void {
    this.#known.clear()
    this.#created.clear()
    this.#era += 1
  }

  /** The state of the owner, from the cache or the server. */
  async standingOf(owner: OwnerReference, dependantNamespace: string | undefined): Promise<Standing> {
    const resource = this.resourceOf(owner)
    if (resource === undefined) return 'unserved'
    if (resource.namespaced && dependantNamespace === undefined) return 'misplaced'
    const namespace = resource.namespaced ? dependantNamespace : undefined
    const place = placeOf(owner, namespace)
    const known = this.#knownAt(owner.uid, place)
    if (known !== undefined) return known
    // No object has such a name, and a path with it could mean something else.
    if (checkPathSegment(owner.name).length > 0) return 'absent'
    const era = this.#era
    const metadata = await this.#askServer(resource, { ...owner, namespace })
    if (metadata !== undefined && isWaiting(metadata)) return 'waiting'
    // The owner may have been deleted while the answer was in transit.
    const standing = this.#knownAt(owner.uid, place) ?? (metadata === undefined ? 'absent' : 'solid')
    if (era === this.#era) this.#rememberStanding(owner.uid, place, standing)
    return standing
  }

  /** The resource of an owner's kind, in any version; undefined if unserved. */
  resourceOf(owner: OwnerReference): DiscoveredResource | undefined {
    return this.#resources.find((resource) => isOf(owner, resource))
  }

  async #askServer(resource: DiscoveredResource, identity: Identity): Promise<Metadata | undefined> {
    const { uid } = identity
    this.#asked.set(uid, (this.#asked.get(uid) ?? 0) + 1)
    try {
      return await getLive(this.#context, resource, identity)
    } finally {
      const others = (this.#asked.get(uid) ?? 0) - 1
      if (others > 0) this.#asked.set(uid, others)
      else this.#asked.delete(uid)
    }
  }

  #knownAt(uid: string, place: string): 'solid' | 'absent' | undefined {
    if (this.#created.get(uid) === place) return 'solid'
    const known = this.#known.get(uid)
    return known === 'gone' ? 'absent' : known?.get(place)
  }

  #rememberStanding(uid: string, place: string, standing: 'solid' | 'absent'): void {
    if (this.#known.size >= knownMax) this.#known.clear()
    const known = this.#known.get(uid)
    if (known === 'gone') return
    if (known === undefined || known.size >= placesMax) this.#known.set(uid, new Map([[place, standing]]))
    else known.set(place, standing)
  }
}

/** The place of a reference: its absence there says nothing about other references to the same uid. */
function placeOf(owner: OwnerReference, namespace: string | undefined): string {
  return printPlace({ group: groupOf(owner), kind: owner.kind, namespace, name: owner.name })
}

interface Place extends Omit<Identity, 'uid'> {
  readonly group: string
  readonly kind: string
}

function printPlace({ group, kind, namespace = '', name }: Place): string {
  return `${group}/${kind}/${namespace}/${name}`
}

function isWaiting({ deletionTimestamp, finalizers }: Metadata): boolean {
  return deletionTimestamp != null && finalizers?.includes(foregroundFinalizer) === true
}
