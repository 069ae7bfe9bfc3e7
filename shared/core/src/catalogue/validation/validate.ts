import type { FieldError } from '../../meta/status.ts'
import type { Names } from '../../names.ts'
import { validateRequired } from '../../schema/required.ts'
import { validateConfigMap } from './config-map.ts'
import { validateCsiNode } from './csi-node.ts'
import { validateNamespace, validateNamespaceStatus } from './namespace.ts'
import { validateNodeSpec, validateNodeStatus } from './node.ts'
import type { Part } from './part.ts'
import { validateClusterRole, validateClusterRoleBinding, validateRole, validateRoleBinding } from './rbac.ts'
import { validateReplicationControllerSpec, validateReplicationControllerStatus } from './replication-controller.ts'
import { validateResourceQuotaSpec, validateResourceQuotaStatus } from './resource-quota.ts'
import { validateSecret } from './secret.ts'
import { validateVolumeAttachmentSpec, validateVolumeAttachmentStatus } from './volume-attachment.ts'
import { validateWebhookConfiguration } from './webhook.ts'

/** What is wrong with an object; `live` is the one that it replaces. */
export type Rule = (object: Part, live: Part | undefined, names: Names) => FieldError[]

/** The rules of one kind, for the part of the object that a request writes. */
export interface Rules {
  readonly main: Rule
  readonly status?: Rule
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
  readonly names: Names
}

/**
 * Everything that is wrong with an object beside its metadata; empty when nothing is. A kind's own rules know more of a field
 * than its type does, so the type only speaks of fields that they say nothing about.
 */
export function validateObject({ type, body, object, live, part, names }: ValidationRequest): FieldError[] {
  const own = rulesByType[type]?.[part]?.(object, live, names) ?? []
  const general = validateRequired(type, body, part)
  if (general.length === 0) return own
  return [...own, ...general.filter(({ field }) => !own.some((error) => error.field === field))]
}

const rulesByType: Readonly<Record<string, Rules>> = {
  'core/v1.Node': { main: validateNodeSpec, status: validateNodeStatus },
  'core/v1.ResourceQuota': { main: validateResourceQuotaSpec, status: validateResourceQuotaStatus },
  'core/v1.ReplicationController': { main: validateReplicationControllerSpec, status: validateReplicationControllerStatus },
  'storage/v1.CSINode': { main: validateCsiNode },
  'storage/v1.VolumeAttachment': { main: validateVolumeAttachmentSpec, status: validateVolumeAttachmentStatus },
  'core/v1.Namespace': { main: validateNamespace, status: validateNamespaceStatus },
  'core/v1.ConfigMap': { main: validateConfigMap },
  'core/v1.Secret': { main: validateSecret },
  'admissionregistration/v1.MutatingWebhookConfiguration': { main: validateWebhookConfiguration },
  'admissionregistration/v1.ValidatingWebhookConfiguration': { main: validateWebhookConfiguration },
  'rbac/v1.Role': { main: validateRole },
  'rbac/v1.ClusterRole': { main: validateClusterRole },
  'rbac/v1.RoleBinding': { main: validateRoleBinding },
  'rbac/v1.ClusterRoleBinding': { main: validateClusterRoleBinding },
}
