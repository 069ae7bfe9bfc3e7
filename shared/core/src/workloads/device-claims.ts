import type { ApiObject } from '../meta/object-meta.ts'
import { type Names, subdomainLabel } from '../names.ts'
import type { BuiltIn } from '../schema/built-in.ts'
import { isFinishedPod, type Pod } from './pods.ts'

export type ResourceClaim = BuiltIn<'resource/v1.ResourceClaim'>
export type ResourceClaimTemplate = BuiltIn<'resource/v1.ResourceClaimTemplate'>
/** An entry of `spec.resourceClaims` of a Pod. */
export type PodClaim = NonNullable<Pod['spec']['resourceClaims']>[number]
type Consumer = NonNullable<NonNullable<ResourceClaim['status']>['reservedFor']>[number]

/** Names in the product's domain. */
export interface DeviceClaimNames {
  /** The annotation of a generated claim with the Pod's entry. */
  readonly entry: string
  /** The finalizer of a claim allocated by the scheduler. */
  readonly finalizer: string
}

export function deviceClaimNames(names: Names): DeviceClaimNames {
  return { entry: subdomainLabel(names, 'resource', 'pod-claim-name'), finalizer: subdomainLabel(names, 'resource', 'delete-protection') }
}

/** The claim of an entry: a name, no claim because none is needed, or a claim to be created from a template. */
export type NamedClaim =
  | { readonly kind: 'named'; readonly name: string; readonly isMade: boolean }
  | { readonly kind: 'none' }
  | { readonly kind: 'unmade' }

export function deviceClaimOf({ status }: Pod, { name, resourceClaimName, resourceClaimTemplateName }: PodClaim): NamedClaim {
  if (resourceClaimName) return { kind: 'named', name: resourceClaimName, isMade: false }
  if (!resourceClaimTemplateName) return { kind: 'none' }
  const found = status?.resourceClaimStatuses?.find((one) => one.name === name)
  if (found === undefined) return { kind: 'unmade' }
  return found.resourceClaimName ? { kind: 'named', name: found.resourceClaimName, isMade: true } : { kind: 'none' }
}

/** The claims of a Pod: those of its entries, and the claim for its extended resources. `isMade` is true for claims that the Pod owns. */
export function deviceClaimsIn(pod: Pod): { readonly name: string; readonly isMade: boolean }[] {
  const extended = pod.status?.extendedResourceClaimStatus?.resourceClaimName
  const named = (pod.spec.resourceClaims ?? []).flatMap((entry) => {
    const claim = deviceClaimOf(pod, entry)
    return claim.kind === 'named' ? [claim] : []
  })
  return extended ? [...named, { name: extended, isMade: true }] : named
}

/** Maximum length of a prefix for generated names, which leaves space for a hyphen and five characters. */
const prefixLengthMax = 57

/** The claim to create for a Pod's entry. Both parts of a long prefix are truncated. */
export function claimFromTemplate(pod: Pod, entry: PodClaim, template: ResourceClaimTemplate, names: DeviceClaimNames): ApiObject {
  const { name = '', namespace, uid = '' } = pod.metadata
  const { metadata: { annotations, labels } = {}, spec } = template.spec
  const plain = `${name}-${entry.name}-`
  const shorten = (text: string) => text.slice(0, Math.trunc((text.length * prefixLengthMax) / plain.length))
  const generateName = plain.length > prefixLengthMax ? `${shorten(name)}-${shorten(entry.name)}` : plain
  return {
    apiVersion: template.apiVersion,
    kind: 'ResourceClaim',
    metadata: {
      generateName,
      namespace,
      annotations: { ...annotations, [names.entry]: entry.name },
      labels,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: true }],
    },
    spec,
  }
}

/** True for a Pod that no longer uses its claims: it has finished, or is deleted before it was scheduled. */
export function isDoneWithClaims(pod: Pod): boolean {
  return isFinishedPod(pod) || (pod.metadata.deletionTimestamp != null && !pod.spec.nodeName)
}

export function isPodConsumer({ apiGroup, resource }: Consumer): boolean {
  return !apiGroup && resource === 'pods'
}

export function isReservedFor({ status }: ResourceClaim, { metadata }: Pod): boolean {
  return (status?.reservedFor ?? []).some(({ uid }) => uid === metadata.uid)
}

/** The Pod for which a claim was generated. */
export function podOfClaim({ metadata }: ResourceClaim): { readonly name: string; readonly uid: string } | undefined {
  return metadata.ownerReferences?.find(({ controller, apiVersion, kind }) => controller === true && apiVersion === 'v1' && kind === 'Pod')
}

/**
 * The status of a claim with its remaining consumers. Without consumers, an allocation made by the scheduler is removed, so that the next Pod is not tied to
 * the node of the last one. Allocations without the scheduler's finalizer belong to other programs.
 */
export function withConsumers(
  { metadata, status }: ResourceClaim,
  reservedFor: readonly Consumer[],
  names: DeviceClaimNames,
): ResourceClaim['status'] {
  const isOver = reservedFor.length === 0 && metadata.finalizers?.includes(names.finalizer) === true
  const { allocation, ...rest } = status ?? {}
  return { ...rest, reservedFor, ...(allocation && !isOver && { allocation }) }
}
