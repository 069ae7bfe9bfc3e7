import type { Catalogue } from '@orch/core/catalogue'
import type { AdmissionAccess, Attributes } from '@orch/core/contracts'
import { jsonEqual } from '@orch/core/json'
import type { OwnerReference } from '@orch/core/meta'
import { allowed, denied, forbid, type Inquiry, type Plugin, type PluginNeeds, type Verdict } from '../plugin.ts'
import { metadataOf } from './objects.ts'

/**
 * OwnerReferencesPermissionEnforcement: a client that sets owners of an existing object lets the collector delete it, and needs the right to delete it.
 * A client that blocks an owner's deletion needs the right to set the owner's finalizers.
 */
export function ownerReferencesPermissionEnforcement({ catalogue }: PluginNeeds): Plugin {
  return {
    admissionRules: [{ phase: 'validate', operations: ['CREATE', 'UPDATE'], groups: ['*'], resources: ['*/*'], namespaces: [] }],
    validate(attributes, inquiry) {
      const { group, resource, subresource } = attributes
      // Nodes write status frequently, without changing metadata.
      if (group === '' && resource === 'pods' && subresource === 'status') return allowed
      const after = metadataOf(attributes.object).ownerReferences ?? []
      const before = metadataOf(attributes.oldObject).ownerReferences ?? []
      return jsonEqual(after, before) ? allowed : check(attributes, inquiry, newlyBlocking(after, before), catalogue)
    },
  }
}

function newlyBlocking(after: readonly OwnerReference[], before: readonly OwnerReference[]): readonly OwnerReference[] {
  const blocked = new Set(before.filter(isBlocking).map(({ uid }) => uid))
  return after.filter((owner) => isBlocking(owner) && !blocked.has(owner.uid))
}

const isBlocking = ({ blockOwnerDeletion }: OwnerReference): boolean => blockOwnerDeletion === true

/** Permission for the finalizers of all resources, which makes the lookup of owners unnecessary. */
const anyFinalizers: AdmissionAccess = {
  verb: 'update',
  group: '*',
  version: '*',
  resource: '*',
  subresource: 'finalizers',
  namespace: '',
  name: '*',
}

function check(attributes: Attributes, inquiry: Inquiry, blocking: readonly OwnerReference[], catalogue: Catalogue): Verdict {
  const { operation, group, version, resource, subresource, namespace, name } = attributes
  const refuse = (why: string): Verdict => denied(forbid(attributes, why))
  // The creator of an object needs no further right to give it an owner.
  if (operation !== 'CREATE') {
    const deletion: AdmissionAccess = { verb: 'delete', group, version, resource, subresource, namespace, name }
    const decision = inquiry.decisionOn(deletion)
    if (decision === undefined) return { kind: 'asks', accesses: [deletion] }
    if (!decision.isAllowed) return refuse(`cannot set an ownerRef on a resource you can't delete: ${decision.reason}, <nil>`)
  }
  return blocking.length === 0 ? allowed : checkOwners(blocking, { inquiry, namespace, catalogue, refuse })
}

interface OwnersContext {
  readonly inquiry: Inquiry
  readonly namespace: string
  readonly catalogue: Catalogue
  readonly refuse: (why: string) => Verdict
}

function checkOwners(blocking: readonly OwnerReference[], { inquiry, namespace, catalogue, refuse }: OwnersContext): Verdict {
  const onAny = inquiry.decisionOn(anyFinalizers)
  if (onAny === undefined) return { kind: 'asks', accesses: [anyFinalizers] }
  if (onAny.isAllowed) return allowed
  const ownerAccesses = blocking.map((owner) => accessTo(owner, namespace, catalogue))
  const accesses = ownerAccesses.filter((access) => access !== undefined)
  const decisions = accesses.map((access) => inquiry.decisionOn(access))
  if (decisions.some((decision) => decision === undefined)) return { kind: 'asks', accesses }
  const unknown = blocking[ownerAccesses.indexOf(undefined)]
  if (unknown !== undefined) {
    const { apiVersion, kind } = unknown
    const which = `cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}`
    return refuse(`cannot set blockOwnerDeletion in this case because ${which}: no matches for kind "${kind}" in version "${apiVersion}"`)
  }
  const refusal = decisions.find((decision) => !decision?.isAllowed)
  if (refusal === undefined) return allowed
  const which = `an ownerReference refers to a resource you can't set finalizers on`
  return refuse(`cannot set blockOwnerDeletion if ${which}: ${refusal.reason}, <nil>`)
}

/** Undefined for an unserved kind. */
function accessTo({ apiVersion, kind, name }: OwnerReference, namespace: string, catalogue: Catalogue): AdmissionAccess | undefined {
  const [group, version] = apiVersion.includes('/') ? splitOnce(apiVersion) : ['', apiVersion]
  const resource = catalogue.findKind({ group, version, kind })
  if (resource === undefined) return undefined
  return {
    verb: 'update',
    group,
    version,
    resource: resource.plural,
    subresource: 'finalizers',
    namespace: resource.isNamespaced ? namespace : '',
    name,
  }
}

function splitOnce(apiVersion: string): readonly [string, string] {
  const at = apiVersion.indexOf('/')
  return [apiVersion.slice(0, at), apiVersion.slice(at + 1)]
}
