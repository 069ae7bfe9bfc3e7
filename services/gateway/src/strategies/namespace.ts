import { domainLabel } from '@orch/core/names'
import type { BuiltIn } from '@orch/core/schema'
import { metadataInOrder } from './field-order.ts'
import type { RulesOf } from './kind-rules.ts'

/** A Namespace has two sets of finalizers: its `spec.finalizers` hold it until its contents are deleted. */
export const namespaceStrategy: RulesOf<'core/v1.Namespace'> = {
  prepareCreate(object, names) {
    const finalizers = specFinalizers(object)
    object.spec = {
      ...object.spec,
      finalizers: finalizers.includes(names.namespaceFinalizer) ? finalizers : [...finalizers, names.namespaceFinalizer],
    }
    object.status = { phase: 'Active' }
    const { name, labels } = object.metadata
    // The defaults have set it, except for a generated name.
    const label = domainLabel(names, 'metadata.name')
    if (name && labels?.[label] !== name) object.metadata = metadataInOrder({ ...object.metadata, labels: { ...labels, [label]: name } })
  },
  completeUpdate(object, live, { subresource }) {
    // Only the finalize subresource changes them. As in kube-apiserver, a writer that sends others owns them nevertheless.
    if (subresource === undefined) object.spec = { ...object.spec, finalizers: specFinalizers(live) }
  },
  prepareDeletion(object) {
    object.status = { ...object.status, phase: 'Terminating' }
    const { deletionGracePeriodSeconds: _seconds, ...metadata } = object.metadata
    object.metadata = metadata
  },
  isHeld: (object) => specFinalizers(object).length > 0,
}

function specFinalizers({ spec }: BuiltIn<'core/v1.Namespace'>): readonly string[] {
  return spec.finalizers ?? []
}
