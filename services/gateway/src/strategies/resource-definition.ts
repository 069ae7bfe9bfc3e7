import { cleanupFinalizer, terminatingStatus } from '@orch/core/definitions'
import type { ObjectMeta } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import type { MutableBuiltIn } from '@orch/core/schema'
import { metadataInOrder } from './field-order.ts'
import type { RulesOf, UpdateContext } from './kind-rules.ts'

type Definition = MutableBuiltIn<'apiextensions/v1.CustomResourceDefinition'>

/** The stored versions are recorded; only a client that has migrated all objects removes one. */
export const resourceDefinitionStrategy: RulesOf<'apiextensions/v1.CustomResourceDefinition'> = {
  prepareCreate: addStoredVersions,
  completeUpdate: keepStoredVersions,
  deletesUncounted: true,
  definesResources: true,
  prepareDeletion: markTerminating,
  // A finalizer delays its deletion until its objects are deleted.
  isHeld: ({ metadata }) => metadata.deletionTimestamp == null,
}

function markTerminating(object: { metadata: ObjectMeta; status: unknown }, names: Names): void {
  const { finalizers = [], deletionTimestamp } = object.metadata
  const finalizer = cleanupFinalizer(names)
  const { deletionGracePeriodSeconds: _seconds, ...metadata } = object.metadata
  object.metadata = metadataInOrder({ ...metadata, finalizers: finalizers.includes(finalizer) ? finalizers : [...finalizers, finalizer] })
  object.status = terminatingStatus({ ...object }, { kind: 'pending' }, deletionTimestamp ?? '')
}

/** A client's change of stored versions through the status is kept, but an empty list is not. */
function keepStoredVersions(object: Definition, _live: Definition, { subresource }: UpdateContext): void {
  if (subresource === undefined || (object.status.storedVersions ?? []).length === 0) addStoredVersions(object)
}

/** Of several storage versions, which validation refuses, the first is added. */
function addStoredVersions(object: Definition): void {
  const { spec, status } = object
  const known = status.storedVersions ?? []
  const added = spec.versions?.find(({ storage }) => storage)?.name
  if (added !== undefined && !known.includes(added)) object.status = { ...status, storedVersions: [...known, added] }
}
