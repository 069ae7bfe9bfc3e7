import type { InformerEvent, WriteOptions } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import {
  boundClaim,
  type ClaimPlan,
  claimFor,
  claimIn,
  claimKeyOf,
  classOf,
  decideClaim,
  decideVolume,
  hasAnnotation,
  hasClass,
  isDefault,
  isFit,
  type MatchOptions,
  type Pod,
  type StorageClass,
  unboundVolume,
  type Volume,
  type VolumeClaim,
  type VolumeEvent,
  type VolumeNames,
  type VolumePlan,
  volumeFor,
  volumeIn,
  volumeNames,
  waitsForConsumer,
  withAnnotations,
} from '@orch/core/workloads'
import type { Controller } from '../controller.ts'
import { keyOf, parseKey } from '../informers/object-keys.ts'
import { reconciler, type Waking } from '../reconciler/reconciler.ts'
import { type Mapped, mapped } from '../reconciler/watches.ts'
import { done, type Result, requeueAfter, type World } from '../reconciler/world.ts'
import { unlessGone } from '../unless-refused.ts'
import { workloadBackoff } from './claims.ts'
import type { ServedLevel } from './replica-controllers.ts'
import { WrittenObjects } from './written-objects.ts'

/** Interval of checks of a pending claim, as upstream. */
const waitingMs = 15_000

/** Binds claims to volumes, requests volumes from provisioners, and releases volumes. Keys are `NAMESPACE/NAME` of claims and `NAME` of volumes. */
export function volumeBinderController(served: ServedLevel): Controller {
  return reconciler('persistentvolume-binder', ({ names }, loop) => {
    const binder = new Binder(volumeNames(names), `${domainGroup(names, 'storage')}/v1`, served, loop)
    return {
      watches: binder.watches,
      // Two parallel passes could assign one volume to two claims.
      workersMax: 1,
      backoff: workloadBackoff,
      component: 'persistentvolume-controller',
      reconcile: ({ key, world, signal }) => {
        const pass = new Pass(binder, world, signal)
        return key.includes('/') ? pass.syncClaim(key) : pass.syncVolume(key)
      },
    }
  })
}

/** The caches and the state of one run. */
class Binder {
  readonly names: VolumeNames
  readonly level: number
  readonly hasAttributeClasses: boolean
  readonly loop: Waking
  readonly claims: Mapped<VolumeClaim>
  readonly volumes: Mapped<Volume>
  readonly classes: Mapped<StorageClass>
  /** Pods enqueue no claim; a pending claim is checked at intervals. */
  readonly pods = mapped<Pod>('v1', 'pods', () => [])
  readonly writtenClaims = new WrittenObjects<VolumeClaim>()
  readonly writtenVolumes = new WrittenObjects<Volume>()
  /** Keys of unbound claims, oldest first. */
  readonly unbound = new Set<string>()

  constructor(names: VolumeNames, storage: string, { level, isGateOn }: ServedLevel, loop: Waking) {
    this.names = names
    this.level = level
    this.hasAttributeClasses = isGateOn('VolumeAttributesClass')
    this.loop = loop
    this.claims = mapped<VolumeClaim>('v1', 'persistentvolumeclaims', (event) => this.#keysOfClaim(event))
    this.volumes = mapped<Volume>('v1', 'persistentvolumes', (event) => this.#keysOfVolume(event))
    this.classes = mapped<StorageClass>(storage, 'storageclasses', ({ object }) => this.#claimsOfClass(object))
  }

  get watches() {
    return [this.claims, this.volumes, this.classes, this.pods]
  }

  claim(key: string): VolumeClaim | undefined {
    return this.writtenClaims.newest(this.loop.read(this.claims).get(key))
  }

  volume(name: string): Volume | undefined {
    return this.writtenVolumes.newest(this.loop.read(this.volumes).get(name))
  }

  *allVolumes(): Iterable<Volume> {
    for (const cached of this.loop.read(this.volumes).values()) {
      const volume = this.writtenVolumes.newest(cached)
      if (volume !== undefined) yield volume
    }
  }

  classNamed(name: string): StorageClass | undefined {
    return this.loop.read(this.classes).get(name)
  }

  matchOf(claim: VolumeClaim): MatchOptions {
    const { names, hasAttributeClasses } = this
    return { names, hasAttributeClasses, isDelayed: waitsForConsumer(this.classNamed(classOf(claim, names))) }
  }

  /** The volume of a deleted claim is released at once. */
  #keysOfClaim(event: InformerEvent<VolumeClaim>): string[] {
    const { kind, object } = event
    const key = keyOf(object)
    this.writtenClaims.applyEvent(event)
    if (kind === 'deleted' || hasAnnotation(object, this.names.bindCompleted)) this.unbound.delete(key)
    else this.unbound.add(key)
    const { volumeName = '' } = object.spec
    if (kind !== 'deleted') return [key]
    return volumeName === '' ? [] : [volumeName]
  }

  /** The claim of a deleted volume is Lost at once, and a claim that a volume no longer refers to is checked. */
  #keysOfVolume(event: InformerEvent<Volume>): string[] {
    this.writtenVolumes.applyEvent(event)
    const { kind, object } = event
    const former = kind === 'deleted' ? object : kind === 'updated' ? event.before : undefined
    const claim = former && claimKeyOf(former)
    const isLeft = claim !== undefined && (kind === 'deleted' || claim !== claimKeyOf(object))
    return [...(kind === 'deleted' ? [] : [keyOf(object)]), ...(isLeft ? [claim] : [])]
  }

  #claimsOfClass(storageClass: StorageClass): string[] {
    const { names } = this
    return [...this.unbound].filter((key) => {
      const claim = this.claim(key)
      if (claim === undefined) return false
      return hasClass(claim, names) ? classOf(claim, names) === storageClass.metadata.name : isDefault(storageClass, names)
    })
  }
}

/** One pass over a claim or a volume. */
class Pass {
  readonly #binder: Binder
  readonly #world: World
  readonly #signal: AbortSignal

  constructor(binder: Binder, world: World, signal: AbortSignal) {
    this.#binder = binder
    this.#world = world
    this.#signal = signal
  }

  async syncClaim(key: string): Promise<Result> {
    const { names, level, hasAttributeClasses } = this.#binder
    const claim = this.#binder.claim(key)
    if (claim === undefined) return done
    const plan = decideClaim({
      claim,
      names,
      level,
      hasAttributeClasses,
      volumes: () => this.#binder.allVolumes(),
      volumeNamed: (name) => this.#binder.volume(name),
      classes: () => this.#world.read(this.#binder.classes).values(),
      classNamed: (name) => this.#binder.classNamed(name),
      pods: () => this.#world.read(this.#binder.pods).inNamespace(claim.metadata.namespace),
    })
    return this.#takeClaimStep(claim, plan)
  }

  async syncVolume(name: string): Promise<Result> {
    const { names } = this.#binder
    const volume = this.#binder.volume(name)
    if (volume === undefined) return done
    const claim = await this.#claimOf(volume)
    await this.#takeVolumeStep(volume, claim, decideVolume(volume, claim, names))
    return done
  }

  async #takeClaimStep(claim: VolumeClaim, plan: ClaimPlan): Promise<Result> {
    const { names } = this.#binder
    switch (plan.kind) {
      case 'bind':
        await this.#bind(plan.volume, claim)
        return done
      case 'set class':
        await this.#writeClaim({ ...claim, spec: { ...claim.spec, storageClassName: plan.storageClassName } }, claim)
        return done
      case 'provision': {
        const { provisioner } = plan
        const marks = { [names.provisioner]: provisioner, [names.betaProvisioner]: provisioner }
        const isAsked = claim.metadata.annotations?.[names.provisioner] === provisioner
        const asked = isAsked ? claim : await this.#writeClaim(withAnnotations(claim, marks), claim)
        this.#record('PersistentVolumeClaim', asked, plan.event)
        break
      }
      case 'wait': {
        const before = claim.status.phase
        const after = await this.#writeClaim(claimIn(plan.phase, claim), claim, { subresource: 'status' })
        if (plan.event !== undefined && (plan.phase === 'Pending' || before !== plan.phase))
          this.#record('PersistentVolumeClaim', after, plan.event)
        if (plan.phase === 'Lost') return done
        break
      }
      case 'event':
        this.#record('PersistentVolumeClaim', claim, plan.event)
    }
    return requeueAfter(waitingMs, { background: true })
  }

  /** Binds both sides, the volume first. Another volume for the claim is released. */
  async #bind(volume: Volume, claim: VolumeClaim): Promise<void> {
    const { names, hasAttributeClasses } = this.#binder
    const reserved = await this.#writeVolume(volumeFor(volume, claim, names), volume)
    const bound = await this.#writeVolume(volumeIn('Bound', reserved), reserved, { subresource: 'status' })
    const named = await this.#writeClaim(claimFor(claim, bound, names), claim)
    await this.#writeClaim(boundClaim(named, bound, { names, hasAttributeClasses }), named, { subresource: 'status' })
    if (named === claim) return
    this.#binder.unbound.delete(keyOf(claim))
    for (const other of this.#binder.allVolumes())
      if (other.spec.claimRef?.uid === claim.metadata.uid && keyOf(other) !== keyOf(volume)) this.#binder.loop.wake(keyOf(other))
  }

  async #takeVolumeStep(volume: Volume, claim: VolumeClaim | undefined, plan: VolumePlan): Promise<void> {
    const { names, loop } = this.#binder
    switch (plan.kind) {
      case 'phase': {
        const after = await this.#writeVolume(volumeIn(plan.phase, volume), volume, { subresource: 'status' })
        return plan.phase === 'Available' ? this.#offer(after) : undefined
      }
      case 'complete':
        return loop.wake(claimKeyOf(volume) ?? '')
      case 'mismatch':
        this.#record('PersistentVolume', volume, plan.ofVolume)
        if (claim !== undefined) this.#record('PersistentVolumeClaim', claim, plan.ofClaim)
        return
      case 'unbind': {
        const free = await this.#writeVolume(unboundVolume(volume, names), volume)
        await this.#writeVolume(volumeIn('Available', free), free, { subresource: 'status' })
        return
      }
      case 'release':
        return this.#release(volume, plan)
    }
  }

  async #release(volume: Volume, { next }: VolumePlan & { readonly kind: 'release' }): Promise<void> {
    const { phase } = volume.status
    const released = phase === 'Failed' ? volume : await this.#writeVolume(volumeIn('Released', volume), volume, { subresource: 'status' })
    if (next.kind === 'delete') {
      const volumes = this.#world.collection(this.#binder.volumes)
      await unlessGone(() => volumes.delete(keyOf(volume), { signal: this.#signal }))
    }
    if (next.kind !== 'fail' || phase === 'Failed') return
    const failed = await this.#writeVolume(volumeIn('Failed', released, next.event.message), released, { subresource: 'status' })
    this.#record('PersistentVolume', failed, next.event)
  }

  /** Checks the claims that match such a volume, oldest first, until it is bound. */
  async #offer(volume: Volume): Promise<void> {
    const { names, unbound, loop } = this.#binder
    const name = keyOf(volume)
    const reservedFor = claimKeyOf(volume)
    if (reservedFor !== undefined) return loop.wake(reservedFor)
    const className = classOf(volume, names)
    for (const key of unbound) {
      const claim = this.#binder.claim(key)
      if (claim === undefined) continue
      const { volumeName = '' } = claim.spec
      const isFitting = volumeName === '' && classOf(claim, names) === className && isFit(claim, volume, this.#binder.matchOf(claim))
      if (volumeName !== name && !isFitting) continue
      await this.syncClaim(key)
      if (this.#binder.volume(name)?.spec.claimRef != null) return
    }
  }

  /** The claim of a volume's reference, with its uid. A new claim may not be cached yet. */
  async #claimOf(volume: Volume): Promise<VolumeClaim | undefined> {
    const { claimRef } = volume.spec
    const key = claimKeyOf(volume)
    if (key === undefined || (claimRef?.uid ?? '') === '') return undefined
    const cached = this.#binder.claim(key)
    if (cached !== undefined && cached.metadata.uid === claimRef?.uid) return cached
    const { phase } = volume.status
    if (cached === undefined && (phase === 'Released' || phase === 'Failed')) return undefined
    const { name, namespace } = parseKey(key)
    const live = await unlessGone(() => this.#world.collection(this.#binder.claims).get(name, { namespace, signal: this.#signal }))
    return live?.metadata.uid === claimRef?.uid ? live : undefined
  }

  async #writeClaim(next: VolumeClaim, before: VolumeClaim, options: WriteOptions = {}): Promise<VolumeClaim> {
    if (next === before) return before
    const { claims, writtenClaims } = this.#binder
    const after = await this.#world.collection(claims).update(next, { ...options, signal: this.#signal })
    writtenClaims.keep(after, this.#world.read(claims).get(keyOf(after)))
    return after
  }

  async #writeVolume(next: Volume, before: Volume, options: WriteOptions = {}): Promise<Volume> {
    if (next === before) return before
    const { volumes, writtenVolumes } = this.#binder
    const after = await this.#world.collection(volumes).update(next, { ...options, signal: this.#signal })
    writtenVolumes.keep(after, this.#world.read(volumes).get(keyOf(after)))
    return after
  }

  #record(kind: string, { metadata }: ApiObject, event: VolumeEvent): void {
    const { name = '', namespace, uid = '', resourceVersion } = metadata
    this.#world.record({ apiVersion: 'v1', kind, namespace, name, uid, resourceVersion }, event)
  }
}
