import { type InformerEvent, unlessGone, type WriteOptions } from '@orch/client'
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
  type VolumeNames,
  type VolumePlan,
  volumeFor,
  volumeIn,
  volumeNames,
  type WorkloadEvent,
  waitsForConsumer,
  withAnnotations,
} from '@orch/core/workloads'
import type { Controller } from '../controller.ts'
import { aboutObject, keyOf, parseKey } from '../informers/object-keys.ts'
import { done, type Mapped, mapped, type Result, reconciler, requeueAfter, type Waking, type World } from '../reconciler/index.ts'
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
        const parts = { binder, world, signal }
        return key.includes('/') ? syncClaim(parts, key) : syncVolume(parts, key)
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
interface PassParts {
  readonly binder: Binder
  readonly world: World
  readonly signal: AbortSignal
}

async function syncClaim(parts: PassParts, key: string): Promise<Result> {
  const { binder, world } = parts
  const { names, level, hasAttributeClasses } = binder
  const claim = binder.claim(key)
  if (claim === undefined) return done
  const plan = decideClaim({
    claim,
    names,
    level,
    hasAttributeClasses,
    volumes: () => binder.allVolumes(),
    volumeNamed: (name) => binder.volume(name),
    classes: () => world.read(binder.classes).values(),
    classNamed: (name) => binder.classNamed(name),
    pods: () => world.read(binder.pods).inNamespace(claim.metadata.namespace),
  })
  return takeClaimStep(parts, claim, plan)
}

async function syncVolume(parts: PassParts, name: string): Promise<Result> {
  const volume = parts.binder.volume(name)
  if (volume === undefined) return done
  const claim = await claimOfVolume(parts, volume)
  await takeVolumeStep(parts, volume, claim, decideVolume(volume, claim, parts.binder))
  return done
}

async function takeClaimStep(parts: PassParts, claim: VolumeClaim, plan: ClaimPlan): Promise<Result> {
  const { names } = parts.binder
  switch (plan.kind) {
    case 'bind':
      await bindBoth(parts, plan.volume, claim)
      return done
    case 'set class':
      await writeClaim(parts, { ...claim, spec: { ...claim.spec, storageClassName: plan.storageClassName } }, claim)
      return done
    case 'provision': {
      const { provisioner } = plan
      const marks = { [names.provisioner]: provisioner, [names.betaProvisioner]: provisioner }
      const isAsked = claim.metadata.annotations?.[names.provisioner] === provisioner
      const asked = isAsked ? claim : await writeClaim(parts, withAnnotations(claim, marks), claim)
      record(parts, 'PersistentVolumeClaim', asked, plan.event)
      break
    }
    case 'wait': {
      const before = claim.status.phase
      const after = await writeClaim(parts, claimIn(plan.phase, claim), claim, { subresource: 'status' })
      if (plan.event !== undefined && (plan.phase === 'Pending' || before !== plan.phase))
        record(parts, 'PersistentVolumeClaim', after, plan.event)
      if (plan.phase === 'Lost') return done
      break
    }
    case 'event':
      record(parts, 'PersistentVolumeClaim', claim, plan.event)
  }
  return requeueAfter(waitingMs, { background: true })
}

/** Binds both sides, the volume first. Another volume for the claim is released. */
async function bindBoth(parts: PassParts, volume: Volume, claim: VolumeClaim): Promise<void> {
  const { names, hasAttributeClasses } = parts.binder
  const reserved = await writeVolume(parts, volumeFor(volume, claim, names), volume)
  const bound = await writeVolume(parts, volumeIn('Bound', reserved), reserved, { subresource: 'status' })
  const named = await writeClaim(parts, claimFor(claim, bound, names), claim)
  await writeClaim(parts, boundClaim(named, bound, { names, hasAttributeClasses }), named, { subresource: 'status' })
  if (named === claim) return
  parts.binder.unbound.delete(keyOf(claim))
  for (const other of parts.binder.allVolumes())
    if (other.spec.claimRef?.uid === claim.metadata.uid && keyOf(other) !== keyOf(volume)) parts.binder.loop.wake(keyOf(other))
}

async function takeVolumeStep(parts: PassParts, volume: Volume, claim: VolumeClaim | undefined, plan: VolumePlan): Promise<void> {
  const { names, loop } = parts.binder
  switch (plan.kind) {
    case 'phase': {
      const after = await writeVolume(parts, volumeIn(plan.phase, volume), volume, { subresource: 'status' })
      return plan.phase === 'Available' ? offerVolume(parts, after) : undefined
    }
    case 'complete':
      return loop.wake(claimKeyOf(volume) ?? '')
    case 'mismatch':
      record(parts, 'PersistentVolume', volume, plan.ofVolume)
      if (claim !== undefined) record(parts, 'PersistentVolumeClaim', claim, plan.ofClaim)
      return
    case 'unbind': {
      const free = await writeVolume(parts, unboundVolume(volume, names), volume)
      await writeVolume(parts, volumeIn('Available', free), free, { subresource: 'status' })
      return
    }
    case 'release':
      return releaseVolume(parts, volume, plan)
  }
}

async function releaseVolume(parts: PassParts, volume: Volume, { next }: VolumePlan & { readonly kind: 'release' }): Promise<void> {
  const { phase } = volume.status
  const released = phase === 'Failed' ? volume : await writeVolume(parts, volumeIn('Released', volume), volume, { subresource: 'status' })
  if (next.kind === 'delete') {
    const volumes = parts.world.collection(parts.binder.volumes)
    await unlessGone(() => volumes.delete(keyOf(volume), { signal: parts.signal }))
  }
  if (next.kind !== 'fail' || phase === 'Failed') return
  const failed = await writeVolume(parts, volumeIn('Failed', released, next.event.message), released, { subresource: 'status' })
  record(parts, 'PersistentVolume', failed, next.event)
}

/** Checks the claims that match such a volume, oldest first, until it is bound. */
async function offerVolume(parts: PassParts, volume: Volume): Promise<void> {
  const { names, unbound, loop } = parts.binder
  const name = keyOf(volume)
  const reservedFor = claimKeyOf(volume)
  if (reservedFor !== undefined) return loop.wake(reservedFor)
  const className = classOf(volume, names)
  for (const key of unbound) {
    const claim = parts.binder.claim(key)
    if (claim === undefined) continue
    const { volumeName = '' } = claim.spec
    const isFitting = volumeName === '' && classOf(claim, names) === className && isFit(claim, volume, parts.binder.matchOf(claim))
    if (volumeName !== name && !isFitting) continue
    await syncClaim(parts, key)
    if (parts.binder.volume(name)?.spec.claimRef != null) return
  }
}

/** The claim of a volume's reference, with its uid. A new claim may not be cached yet. */
async function claimOfVolume(parts: PassParts, volume: Volume): Promise<VolumeClaim | undefined> {
  const { claimRef } = volume.spec
  const key = claimKeyOf(volume)
  if (key === undefined || (claimRef?.uid ?? '') === '') return undefined
  const cached = parts.binder.claim(key)
  if (cached !== undefined && cached.metadata.uid === claimRef?.uid) return cached
  const { phase } = volume.status
  if (cached === undefined && (phase === 'Released' || phase === 'Failed')) return undefined
  const { name, namespace } = parseKey(key)
  const live = await unlessGone(() => parts.world.collection(parts.binder.claims).get(name, { namespace, signal: parts.signal }))
  return live?.metadata.uid === claimRef?.uid ? live : undefined
}

async function writeClaim(parts: PassParts, next: VolumeClaim, before: VolumeClaim, options: WriteOptions = {}): Promise<VolumeClaim> {
  if (next === before) return before
  const { claims, writtenClaims } = parts.binder
  const after = await parts.world.collection(claims).update(next, { ...options, signal: parts.signal })
  writtenClaims.keep(after, parts.world.read(claims).get(keyOf(after)))
  return after
}

async function writeVolume(parts: PassParts, next: Volume, before: Volume, options: WriteOptions = {}): Promise<Volume> {
  if (next === before) return before
  const { volumes, writtenVolumes } = parts.binder
  const after = await parts.world.collection(volumes).update(next, { ...options, signal: parts.signal })
  writtenVolumes.keep(after, parts.world.read(volumes).get(keyOf(after)))
  return after
}

function record(parts: PassParts, kind: string, object: ApiObject, event: WorkloadEvent): void {
  parts.world.record(aboutObject({ apiVersion: 'v1', kind }, object), event)
}
