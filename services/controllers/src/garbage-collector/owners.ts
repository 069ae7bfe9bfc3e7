import type { DiscoveredResource } from '@orch/client'
import { checkPathSegment, foregroundFinalizer } from '@orch/core/meta'
import type { ControllerContext } from '../controller.ts'
import { getLive, type Identity } from './objects.ts'
import { groupOf, isOf, type Metadata, type OwnerReference } from './observed.ts'

/**
 * An owner's standing towards an object that names it. `misplaced`: a cluster-scoped object names an owner in a namespace. `unserved`:
 * no resource is of the owner's kind, so that it may exist or not.
 */
export type Standing = 'solid' | 'absent' | 'waiting' | 'misplaced' | 'unserved'

/** The cached state of one uid: gone for good, or the result at each place that a reference names. */
type Known = 'gone' | Map<string, 'solid' | 'absent'>

/** Uids that are remembered. */
const knownMax = 50_000
/** Created objects that are remembered: an owner is named soon after its creation. */
const createdMax = 4096
/** Places that are remembered of one uid: there is one, unless references are wrong. */
const placesMax = 100

/** Cached answers of the server about owners. */
export class Owners {
  readonly #context: ControllerContext
  readonly #resources: readonly DiscoveredResource[]
  readonly #known = new Map<string, Known>()
  /** Places of objects whose creation the watches have shown, by uid, oldest first. */
  readonly #created = new Map<string, string>()
  /** Uids that the server is being asked about, each with how often. */
  readonly #asked = new Map<string, number>()
  /** Owners that were deleted without their dependants. */
  readonly #parted = new Set<string>()
  /** Number of times that everything was forgotten. */
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

  /** A watch has shown the creation of an object, which need not be asked for where it is named as an owner. */
  setCreated({ group, kind }: Pick<DiscoveredResource, 'group' | 'kind'>, { uid, name, namespace }: Identity): void {
    this.#created.set(uid, printPlace({ group, kind, namespace, name }))
    if (this.#created.size <= createdMax) return
    for (const [oldest] of this.#created) {
      this.#created.delete(oldest)
      return
    }
  }

  /** The owner was deleted. When it is no longer asked for, it need not be remembered. */
  setGone(uid: string, isNamed: boolean): void {
    this.#created.delete(uid)
    if (isNamed || this.#asked.has(uid)) this.#known.set(uid, 'gone')
    else this.#known.delete(uid)
  }

  isGone(uid: string): boolean {
    return this.#known.get(uid) === 'gone'
  }

  /** The owner is being deleted, and its dependants are to stay: also those reported only after its deletion. */
  setParted(uid: string): void {
    if (this.#parted.size >= knownMax) this.#parted.clear()
    this.#parted.add(uid)
  }

  isParted(uid: string): boolean {
    return this.#parted.has(uid)
  }

  /** A uid never returns, except when an older state is restored; then all cached answers are void. */
  forgetAll(): void {
    this.#known.clear()
    this.#created.clear()
    this.#era += 1
  }

  /** The owner's standing, from the server unless it is cached. */
  async standingOf(owner: OwnerReference, dependantNamespace: string | undefined): Promise<Standing> {
    const resource = this.resourceOf(owner)
    if (resource === undefined) return 'unserved'
    if (resource.namespaced && dependantNamespace === undefined) return 'misplaced'
    const namespace = resource.namespaced ? dependantNamespace : undefined
    const place = placeOf(owner, namespace)
    const known = this.#knownAt(owner.uid, place)
    if (known !== undefined) return known
    // No object is called so, and a path could mean something else.
    if (checkPathSegment(owner.name).length > 0) return 'absent'
    const era = this.#era
    const metadata = await this.#askServer(resource, { ...owner, namespace })
    if (metadata !== undefined && isWaiting(metadata)) return 'waiting'
    // It may have been deleted while the answer was on its way.
    const standing = this.#knownAt(owner.uid, place) ?? (metadata === undefined ? 'absent' : 'solid')
    if (era === this.#era) this.#rememberStanding(owner.uid, place, standing)
    return standing
  }

  /** The resource of an owner's kind, whose version does not matter; undefined: none is served. */
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

/** The place that a reference names: its absence there says nothing about other references to the same uid. */
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
