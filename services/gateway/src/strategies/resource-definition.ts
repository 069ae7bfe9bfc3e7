import { cleanupFinalizer, terminatingStatus } from '@orch/core/definitions'
import type { ApiObject } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import { metadataInOrder } from './field-order.ts'
import type { KindRules } from './kind-rules.ts'

interface Version {
  readonly name?: string
  readonly storage?: boolean
}

/** The versions in which objects may be stored are written down; only a client that has converted them all takes one out. */
export const resourceDefinitionStrategy: KindRules = {
  prepareCreate: addStoredVersions,
  completeUpdate: addStoredVersions,
  deletesUncounted: true,
  prepareDeletion: markTerminating,
  // A finalizer holds it once it goes, so that its objects go first.
  isHeld: ({ metadata }) => metadata.deletionTimestamp == null,
}

function markTerminating(object: ApiObject, names: Names): void {
  const { finalizers = [], deletionTimestamp } = object.metadata
  const finalizer = cleanupFinalizer(names)
  const { deletionGracePeriodSeconds: _seconds, ...metadata } = object.metadata
  object.metadata = metadataInOrder({ ...metadata, finalizers: finalizers.includes(finalizer) ? finalizers : [...finalizers, finalizer] })
  object.status = terminatingStatus({ ...object }, { kind: 'pending' }, deletionTimestamp ?? '')
}

function addStoredVersions(object: ApiObject): void {
  const { versions } = (object.spec ?? {}) as { readonly versions?: readonly Version[] | null }
  const status = (object.status ?? {}) as { readonly storedVersions?: readonly string[] | null }
  const known = status.storedVersions ?? []
  const added = (versions ?? []).flatMap(({ name = '', storage }) => (storage === true && !known.includes(name) ? [name] : []))
  if (added.length > 0) object.status = { ...status, storedVersions: [...known, ...added] }
}
