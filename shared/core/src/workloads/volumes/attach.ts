import type { BuiltIn } from '../../schema/built-in.ts'
import type { Node, Pod, WorkloadEvent } from '../pods.ts'
import type { Volume } from './objects.ts'

export type Attachment = BuiltIn<'storage/v1.VolumeAttachment'>

/** The next steps for a volume and its attachments. */
export interface AttachPlan {
  /** Names of nodes to attach it to. */
  readonly attach: readonly string[]
  readonly detach: readonly Attachment[]
  /** Pods that must wait because another node has the volume, with the reason. */
  readonly refused: readonly { readonly pod: Pod; readonly event: WorkloadEvent }[]
  /** Milliseconds until a volume is force-detached. */
  readonly waitMs?: number | undefined
}

/** The parts of a Node that affect its attachments. */
export interface AttachingNode extends Pick<Node, 'metadata' | 'spec'> {
  readonly status: Pick<Node['status'], 'volumesInUse' | 'conditions'>
}

export interface AttachObserved {
  readonly volume: Volume
  readonly level: number
  /** Pods on nodes that use the volume and may still run. */
  readonly pods: readonly Pod[]
  readonly attachments: readonly Attachment[]
  nodeNamed(name: string): AttachingNode | undefined
  /** The time of the first request to detach, in milliseconds since 1970. */
  detachAskedMs(attachment: Attachment): number
  readonly outOfServiceTaint: string
}

/** Time after which a volume is detached from an unresponsive node. */
const forceMs = 360_000

/**
 * The nodes to which a volume is to be attached, and from which it is to be detached (NODE-VOL-10, NODE-VOL-13, NODE-VOL-14): nodes with a Pod that uses it, one at a time
 * unless its access modes allow several.
 *
 *   Pod on node-1, no attachment                                attach to node-1
 *   Pod on node-2, attached to node-1, ReadWriteOnce            detach from node-1 if it has no Pod that uses the volume, else refuse
 */
export function decideAttachments(observed: AttachObserved, nowMs: number): AttachPlan {
  const { volume, pods, attachments } = observed
  const wanted = new Set(pods.map(({ spec }) => spec.nodeName ?? ''))
  const nodeOf = ({ spec }: Attachment) => spec.nodeName
  const surplus = attachments.filter((one) => !wanted.has(nodeOf(one)) && one.metadata.deletionTimestamp == null)
  const waits = surplus.map((one) => ({ one, waitMs: detachWaitMs(one, observed, nowMs) }))
  const attached = new Set(attachments.map(nodeOf))
  const missing = [...wanted].filter((name) => !attached.has(name))
  const free = attachments.length > 0 ? [] : missing.slice(0, 1)
  const attach = isShared(volume) ? missing : free
  const pending = waits.flatMap(({ waitMs }) => (waitMs > 0 && waitMs !== Number.POSITIVE_INFINITY ? [waitMs] : []))
  return {
    attach,
    detach: waits.filter(({ waitMs }) => waitMs <= 0).map(({ one }) => one),
    refused: missing.filter((name) => !attach.includes(name)).flatMap((name) => refusals(name, [...attached, ...attach], observed)),
    waitMs: pending.length === 0 ? undefined : Math.min(...pending),
  }
}

/** The name of a volume in a Node's status: `kubernetes.io/csi/DRIVER^HANDLE`. */
export function volumeNameOnNodes({ spec: { csi } }: Volume, pluginPrefix: string): string {
  return `${pluginPrefix}csi/${csi?.driver}^${csi?.volumeHandle}`
}

/** Milliseconds until the volume may be detached; infinite while its node is healthy and uses it. */
function detachWaitMs(attachment: Attachment, observed: AttachObserved, nowMs: number): number {
  const { volume, nodeNamed, detachAskedMs, outOfServiceTaint } = observed
  const node = nodeNamed(attachment.spec.nodeName)
  if (node === undefined || node.spec.taints?.some(({ key }) => key === outOfServiceTaint) === true) return 0
  const isUsed = node.status.volumesInUse?.some((name) => name.endsWith(`csi/${volume.spec.csi?.driver}^${volume.spec.csi?.volumeHandle}`))
  if (isUsed !== true) return 0
  const isReady = node.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true
  return isReady ? Number.POSITIVE_INFINITY : detachAskedMs(attachment) + forceMs - nowMs
}

/** True if several nodes may attach it. */
function isShared({ spec: { accessModes } }: Volume): boolean {
  const modes = accessModes ?? []
  return modes.length === 0 || modes.includes('ReadWriteMany') || modes.includes('ReadOnlyMany')
}

function refusals(name: string, holders: readonly string[], { volume, level, pods }: AttachObserved): AttachPlan['refused'] {
  const users = pods.filter(({ spec }) => spec.nodeName !== name && holders.includes(spec.nodeName ?? ''))
  return pods
    .filter(({ spec }) => spec.nodeName === name)
    .map((pod) => {
      const prefix = level < 37 ? 'Multi-Attach error' : 'Waiting for detach'
      const message = `${prefix} for volume ${JSON.stringify(volume.metadata.name)} ${heldBy(users, pod, level)}`
      return { pod, event: { type: 'Warning', reason: 'FailedAttachVolume', message } }
    })
}

/** Pods of other namespaces are counted but not named. */
function heldBy(users: readonly Pod[], { metadata: { namespace } }: Pod, level: number): string {
  const here = users.filter(({ metadata }) => metadata.namespace === namespace).map(({ metadata }) => metadata.name)
  const elsewhere = `${users.length - here.length} pod(s) in different namespaces`
  if (users.length === 0)
    return level < 37
      ? "Volume is already exclusively attached to one node and can't be attached to another"
      : 'Volume is already exclusively attached to one node, waiting on detach before it can be attached to another node'
  if (here.length === 0) return `Volume is already used by ${elsewhere}`
  return `Volume is already used by pod(s) ${here.join(', ')}${here.length < users.length ? ` and ${elsewhere}` : ''}`
}
