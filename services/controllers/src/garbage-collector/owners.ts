import type { DiscoveredResource } from '@orch/client'
import { foregroundFinalizer } from '@orch/core'
import type { ControllerContext } from '../controller.ts'
import { getLive } from './objects.ts'
import type { Metadata, OwnerReference } from './observed.ts'

/** How an owner stands to an object that names it. `misplaced`: an object of the whole cluster names one in a namespace. */
export type Standing = 'solid' | 'absent' | 'waiting' | 'misplaced'

/** What is known of one uid: gone for good, or what was found in a namespace ('' for the whole cluster). */
type Known = 'gone' | Map<string, 'solid' | 'absent'>

/** Uids that are remembered. */
const knownMax = 50_000

/** What has been found out about owners by asking the server. */
export class Owners {
  readonly #context: ControllerContext
  readonly #resources: readonly DiscoveredResource[]
  readonly #known = new Map<string, Known>()

  constructor(context: ControllerContext, resources: readonly DiscoveredResource[]) {
    this.#context = context
    this.#resources = resources
  }

  isKnownSolid({ uid }: OwnerReference, namespace: string | undefined): boolean {
    const known = this.#known.get(uid)
    return known !== undefined && known !== 'gone' && (known.get(namespace ?? '') ?? known.get('')) === 'solid'
  }

  /** The owner was deleted. Where nobody asks for it any more it need not be remembered. */
  setGone(uid: string, isNamed: boolean): void {
    if (isNamed) this.#known.set(uid, 'gone')
    else this.#known.delete(uid)
  }

  isGone(uid: string): boolean {
    return this.#known.get(uid) === 'gone'
  }

  /** A uid never comes back, save when an older state is restored; then all that was found out is void. */
  forgetAll(): void {
    this.#known.clear()
  }

  /** How the owner stands, by the server's own word unless it is known already. */
  async standingOf(owner: OwnerReference, dependantNamespace: string | undefined): Promise<Standing> {
    const resource = this.resourceOf(owner)
    if (resource.namespaced && dependantNamespace === undefined) return 'misplaced'
    const namespace = resource.namespaced ? dependantNamespace : undefined
    const known = this.#knownAt(owner.uid, namespace)
    if (known !== undefined) return known
    const metadata = await getLive(this.#context, resource, { ...owner, namespace })
    if (metadata !== undefined && isWaiting(metadata)) return 'waiting'
    // It may have been deleted while the answer was on its way.
    const standing = this.#knownAt(owner.uid, namespace) ?? (metadata === undefined ? 'absent' : 'solid')
    this.#remember(owner.uid, namespace ?? '', standing)
    return standing
  }

  /** The resource of an owner's kind; its version does not matter. */
  resourceOf({ apiVersion, kind }: OwnerReference): DiscoveredResource {
    const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
    const found = this.#resources.find((resource) => resource.group === group && resource.kind === kind)
    if (found === undefined) throw new Error(`no resource is served for the owner's kind ${kind} in ${apiVersion}`)
    return found
  }

  #knownAt(uid: string, namespace: string | undefined): 'solid' | 'absent' | undefined {
    const known = this.#known.get(uid)
    return known === 'gone' ? 'absent' : known?.get(namespace ?? '')
  }

  #remember(uid: string, place: string, standing: 'solid' | 'absent'): void {
    if (this.#known.size >= knownMax) this.#known.clear()
    const known = this.#known.get(uid)
    if (known === 'gone') return
    if (known === undefined) this.#known.set(uid, new Map([[place, standing]]))
    else known.set(place, standing)
  }
}

function isWaiting({ deletionTimestamp, finalizers }: Metadata): boolean {
  return deletionTimestamp != null && finalizers?.includes(foregroundFinalizer) === true
}
