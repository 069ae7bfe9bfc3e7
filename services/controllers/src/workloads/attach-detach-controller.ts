import { createHash } from 'node:crypto'
import { type InformerEvent, unlessGone } from '@orch/client'
import { jsonEqual } from '@orch/core/json'
import { domainGroup, domainLabel, type Names, subdomainLabel } from '@orch/core/names'
import type { BuiltIn } from '@orch/core/schema'
import {
  type Attachment,
  claimNameOf,
  decideAttachments,
  isUsing,
  type Node,
  type Pod,
  type Volume,
  type VolumeClaim,
  volumeNameOnNodes,
  type WorkloadEvent,
} from '@orch/core/workloads'
import type { Controller } from '../controller.ts'
import { aboutObject, keyOf } from '../informers/object-keys.ts'
import { type ReconcilerSpec, reconciler, type Waking } from '../reconciler/reconciler.ts'
import { type Mapped, mapped } from '../reconciler/watches.ts'
import { done, type Result, requeueAfter, type World } from '../reconciler/world.ts'
import { workloadBackoff } from './claims.ts'
import type { ServedLevel } from './replica-controllers.ts'
import { WrittenObjects } from './written-objects.ts'

type Driver = BuiltIn<'storage/v1.CSIDriver'>

/** Names of attachments by this controller. */
const ownName = /^csi-[0-9a-f]{64}$/

/** Creates VolumeAttachments, with which drivers attach the volumes of Pods to nodes. Keys are names of volumes. */
export function attachDetachController({ level }: ServedLevel): Controller {
  return reconciler('attachdetach', ({ names }, loop) => new AttachDetach(names, level, loop).spec())
}

/** One run of the controller. */
class AttachDetach {
  readonly #names: Names
  readonly #level: number
  readonly #loop: Waking
  readonly #claims = mapped<VolumeClaim>('v1', 'persistentvolumeclaims', ({ object }) => volumeOf(object))
  readonly #volumes = mapped<Volume>('v1', 'persistentvolumes', ({ object }) => [keyOf(object)])
  readonly #pods = mapped<Pod>('v1', 'pods', ({ object }) => this.#volumesOfPod(object))
  readonly #nodes = mapped<Node>('v1', 'nodes', (event) => this.#volumesOfNode(event))
  readonly #writtenNodes = new WrittenObjects<Node>()
  readonly #drivers: Mapped<Driver>
  readonly #attachments: Mapped<Attachment>
  /** The time when a detachment was requested, by attachment name. */
  readonly #asked = new Map<string, number>()
  /** Pods with an event about waiting, by uid and volume, until the volume is attached. */
  readonly #told = new Map<string, Set<string>>()

  constructor(names: Names, level: number, loop: Waking) {
    const storage = `${domainGroup(names, 'storage')}/v1`
    this.#names = names
    this.#level = level
    this.#loop = loop
    this.#drivers = mapped<Driver>(storage, 'csidrivers', () => [])
    this.#attachments = mapped<Attachment>(storage, 'volumeattachments', ({ kind, object }) => {
      if (kind === 'deleted') this.#asked.delete(keyOf(object))
      return nameOfVolume(object)
    })
  }

  spec(): ReconcilerSpec<undefined> {
    return {
      watches: [this.#claims, this.#volumes, this.#pods, this.#nodes, this.#drivers, this.#attachments],
      // The list of a node's volumes is written as a whole.
      workersMax: 1,
      backoff: workloadBackoff,
      component: 'attachdetach-controller',
      reconcile: ({ key, world, clock, signal }) => this.#syncVolume(key, world, clock.now(), signal),
    }
  }

  async #syncVolume(name: string, world: World, nowMs: number, signal: AbortSignal): Promise<Result> {
    const volume = world.read(this.#volumes).get(name)
    const attachments = [...world.read(this.#attachments).values()].filter(({ spec }) => spec.source.persistentVolumeName === name)
    if (volume === undefined) {
      await this.#detachVolumes(attachments, world, signal)
      return done
    }
    if (!this.#isAttachable(volume, world)) return done
    const pods = this.#podsOf(volume, world)
    const plan = decideAttachments(
      {
        volume,
        level: this.#level,
        pods,
        attachments,
        nodeNamed: (node) => world.read(this.#nodes).get(node),
        detachAskedMs: (attachment) => this.#askedMs(attachment, nowMs),
        outOfServiceTaint: subdomainLabel(this.#names, 'node', 'out-of-service'),
      },
      nowMs,
    )
    await this.#detachVolumes(plan.detach, world, signal)
    await world.perform(
      plan.attach.map((node) => ({ kind: 'create', in: this.#attachments, object: attachmentOf(volume, node, this.#names) })),
    )
    for (const { pod, event } of plan.refused) this.#tellOnce(pod, name, event, world)
    for (const attachment of attachments)
      if (attachment.metadata.deletionTimestamp == null) await this.#tellOutcome(attachment, pods, world, signal)
    this.#forgetTold(name, pods)
    return plan.waitMs === undefined ? done : requeueAfter(plan.waitMs)
  }

  /** Attachments by other clients are not changed. */
  async #detachVolumes(attachments: readonly Attachment[], world: World, signal: AbortSignal): Promise<void> {
    const own = attachments.filter(({ metadata }) => ownName.test(metadata.name ?? '') && metadata.deletionTimestamp == null)
    for (const attachment of own) await this.#writeNode(attachment.spec.nodeName, world, signal, { without: attachment })
    await world.perform(own.map((object) => ({ kind: 'delete', in: this.#attachments, object })))
  }

  /** A driver without the setting needs attachments. */
  #isAttachable({ spec: { csi } }: Volume, world: World): boolean {
    return csi != null && world.read(this.#drivers).get(csi.driver)?.spec.attachRequired !== false
  }

  #podsOf({ metadata: { name }, spec: { claimRef } }: Volume, world: World): Pod[] {
    const claim = claimRef == null ? undefined : world.read(this.#claims).get(`${claimRef.namespace}/${claimRef.name}`)
    if (claim === undefined || claim.spec.volumeName !== name) return []
    return [...world.read(this.#pods).inNamespace(claim.metadata.namespace)].filter(
      (pod) => (pod.spec.nodeName ?? '') !== '' && isUsing(pod, claim),
    )
  }

  #askedMs(attachment: Attachment, nowMs: number): number {
    const known = this.#asked.get(keyOf(attachment))
    if (known === undefined) this.#asked.set(keyOf(attachment), nowMs)
    return known ?? nowMs
  }

  /** The node lists an attached volume before its Pods have their event. */
  async #tellOutcome({ spec, status }: Attachment, pods: readonly Pod[], world: World, signal: AbortSignal): Promise<void> {
    const { nodeName, source } = spec
    const volume = source.persistentVolumeName ?? ''
    const here = pods.filter((pod) => pod.spec.nodeName === nodeName)
    const error = status.attachError?.message
    if (status.attached) {
      if (!(await this.#writeNode(nodeName, world, signal, { added: volume }))) return
      const message = `AttachVolume.Attach succeeded for volume ${JSON.stringify(volume)} `
      for (const pod of here) record(pod, { type: 'Normal', reason: 'SuccessfulAttachVolume', message }, world)
    } else if (error != null) {
      const message = `AttachVolume.Attach failed for volume ${JSON.stringify(volume)} : ${error}`
      for (const pod of here) this.#tellOnce(pod, volume, { type: 'Warning', reason: 'FailedAttachVolume', message }, world)
    }
  }

  /** Writes the attached volumes of a node; true if the volume was added. */
  async #writeNode(name: string, world: World, signal: AbortSignal, change: NodeChange): Promise<boolean> {
    const cached = world.read(this.#nodes).get(name)
    const node = this.#writtenNodes.newest(cached)
    if (node === undefined) return false
    const own = [...world.read(this.#attachments).values()].filter((one) => one.spec.nodeName === name && one !== change.without)
    const held = own.filter(({ metadata, status }) => status.attached && metadata.deletionTimestamp == null).flatMap(nameOfVolume)
    const namesOnNode = new Map(held.map((volume) => [volume, this.#nameOnNode(volume, world)]))
    const known = new Set(namesOnNode.values())
    const kept = (node.status.volumesAttached ?? []).filter((one) => known.has(one.name))
    const added = change.added === undefined ? undefined : namesOnNode.get(change.added)
    const isNew = added !== undefined && kept.every((one) => one.name !== added)
    const volumesAttached = isNew ? [...kept, { name: added, devicePath: '' }] : kept
    if (jsonEqual(node.status.volumesAttached ?? [], volumesAttached)) return false
    const patch = { status: { volumesAttached } }
    const options = { type: 'strategic', subresource: 'status', signal } as const
    const after = await unlessGone(() => world.collection(this.#nodes).patch(name, patch, options))
    if (after !== undefined) this.#writtenNodes.keep(after, world.read(this.#nodes).get(name))
    return isNew
  }

  #nameOnNode(volume: string, world: World): string | undefined {
    const found = world.read(this.#volumes).get(volume)
    return found && volumeNameOnNodes(found, domainLabel(this.#names, ''))
  }

  #tellOnce(pod: Pod, volume: string, event: WorkloadEvent, world: World): void {
    const told = this.#told.get(volume) ?? new Set()
    const { uid = '' } = pod.metadata
    if (told.has(uid)) return
    this.#told.set(volume, told.add(uid))
    record(pod, event, world)
  }

  #forgetTold(volume: string, pods: readonly Pod[]): void {
    const told = this.#told.get(volume)
    for (const uid of told ?? []) if (!pods.some(({ metadata }) => metadata.uid === uid)) told?.delete(uid)
    if (told?.size === 0) this.#told.delete(volume)
  }

  #volumesOfPod(pod: Pod): string[] {
    if ((pod.spec.nodeName ?? '') === '') return []
    const names = (pod.spec.volumes ?? []).map((volume) => claimNameOf(pod, volume)).filter((name) => name !== undefined)
    return names.flatMap((name) => {
      const claim = this.#loop.read(this.#claims).get(`${pod.metadata.namespace}/${name}`)
      return claim === undefined ? [] : volumeOf(claim)
    })
  }

  /** A change of a node may allow detachments. */
  #volumesOfNode(event: InformerEvent<Node>): string[] {
    this.#writtenNodes.applyEvent(event)
    const name = keyOf(event.object)
    return [...this.#loop.read(this.#attachments).values()].filter(({ spec }) => spec.nodeName === name).flatMap(nameOfVolume)
  }
}

/** The reason for a write of a node's volumes. */
interface NodeChange {
  /** A volume that has been attached. */
  readonly added?: string
  /** An attachment that ends. */
  readonly without?: Attachment
}

function volumeOf({ spec: { volumeName } }: VolumeClaim): string[] {
  return volumeName == null || volumeName === '' ? [] : [volumeName]
}

function nameOfVolume({ spec: { source } }: Attachment): string[] {
  return source.persistentVolumeName == null ? [] : [source.persistentVolumeName]
}

/** One per volume and node: its name contains both. */
function attachmentOf({ metadata, spec: { csi } }: Volume, nodeName: string, names: Names): Attachment {
  const { driver: attacher = '', volumeHandle = '' } = csi ?? {}
  const name = `csi-${createHash('sha256').update(`${volumeHandle}${attacher}${nodeName}`).digest('hex')}`
  const spec = { attacher, nodeName, source: { persistentVolumeName: metadata.name } }
  const apiVersion = `${domainGroup(names, 'storage')}/v1`
  return { apiVersion, kind: 'VolumeAttachment', metadata: { name }, spec, status: { attached: false } }
}

function record(pod: Pod, event: WorkloadEvent, world: World): void {
  world.record(aboutObject({ apiVersion: 'v1', kind: 'Pod' }, pod), event)
}
