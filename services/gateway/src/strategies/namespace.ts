import type { ApiObject } from '@orch/core/meta'
import { domainLabel } from '@orch/core/names'
import { metadataInOrder } from './field-order.ts'
import type { KindRules } from './kind-rules.ts'

/** A Namespace ends in two ways at once: its own `spec.finalizers` hold it until its contents are gone. */
export const namespaceStrategy: KindRules = {
  prepareCreate(object, names) {
    const spec = object.spec as { finalizers?: string[] } | undefined
    const finalizers = spec?.finalizers ?? []
    object.spec = {
      ...spec,
      finalizers: finalizers.includes(names.namespaceFinalizer) ? finalizers : [...finalizers, names.namespaceFinalizer],
    }
    object.status = { phase: 'Active' }
    const { name, labels } = object.metadata
    // Defaults have done it, but for a name that the server has made up.
    const label = domainLabel(names, 'metadata.name')
    if (name && labels?.[label] !== name) object.metadata = metadataInOrder({ ...object.metadata, labels: { ...labels, [label]: name } })
  },
  prepareUpdate(object, live) {
    // Only the finalize subresource changes them.
    object.spec = { ...(object.spec as object | undefined), finalizers: specFinalizers(live) }
  },
  prepareDeletion(object) {
    object.status = { ...(object.status as object | undefined), phase: 'Terminating' }
    const { deletionGracePeriodSeconds: _seconds, ...metadata } = object.metadata
    object.metadata = metadata
  },
  isHeld: (object) => specFinalizers(object).length > 0,
}

function specFinalizers(namespace: ApiObject): readonly string[] {
  return (namespace.spec as { finalizers?: readonly string[] } | undefined)?.finalizers ?? []
}
