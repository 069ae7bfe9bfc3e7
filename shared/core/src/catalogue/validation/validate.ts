import type { FieldError } from '../../meta/status.ts'
import { validateRequired } from '../../schema/required.ts'
import { validateCsiNode } from './csi-node.ts'
import { validateNodeSpec, validateNodeStatus } from './node.ts'
import type { Part } from './part.ts'
import { validateReplicationControllerSpec, validateReplicationControllerStatus } from './replication-controller.ts'
import { validateResourceQuotaSpec, validateResourceQuotaStatus } from './resource-quota.ts'
import { validateVolumeAttachmentSpec, validateVolumeAttachmentStatus } from './volume-attachment.ts'

/** The rules of one kind, for the part of the object that a request writes. */
export interface Rules {
  readonly main: (object: Part, live: Part | undefined) => FieldError[]
  readonly status?: (object: Part, live: Part | undefined) => FieldError[]
}

/** An object on its way into storage. */
export interface ValidationRequest {
  readonly type: string
  /** As it came, or as the patch left it: tells what was said from what was filled in. */
  readonly body: unknown
  /** Decoded and completed. */
  readonly object: Part
  /** The object that is being replaced; absent on create. */
  readonly live?: Part
  readonly part: 'main' | 'status'
}

/** Everything that is wrong with an object beside its metadata; empty when nothing is. */
export function validateObject({ type, body, object, live, part }: ValidationRequest): FieldError[] {
  const errors = [...validateRequired(type, body, part), ...(rulesByType[type]?.[part]?.(object, live) ?? [])]
  return errors.length < 2 ? errors : withoutRepeats(errors)
}

/** The type and the kind's own rules may both miss the same field. */
function withoutRepeats(errors: readonly FieldError[]): FieldError[] {
  return errors.filter(
    (error, index) => errors.findIndex(({ field, reason }) => field === error.field && reason === error.reason) === index,
  )
}

const rulesByType: Readonly<Record<string, Rules>> = {
  'core/v1.Node': { main: validateNodeSpec, status: validateNodeStatus },
  'core/v1.ResourceQuota': { main: validateResourceQuotaSpec, status: validateResourceQuotaStatus },
  'core/v1.ReplicationController': { main: validateReplicationControllerSpec, status: validateReplicationControllerStatus },
  'storage/v1.CSINode': { main: validateCsiNode },
  'storage/v1.VolumeAttachment': { main: validateVolumeAttachmentSpec, status: validateVolumeAttachmentStatus },
}
