import { fieldSets } from '@orch/core/apply'
import { domainLabel } from '@orch/core/names'
import type { BuiltIn } from '@orch/core/schema'
import { metadataInOrder } from './field-order.ts'
import type { RulesOf } from './kind-rules.ts'

/** The finalizers in the spec of a Namespace have a separate subresource. */
const specFinalizersAndStatus = fieldSets.setOfPaths([['f:status'], ['f:spec', 'f:finalizers']])

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
  prepareUpdate(object, live) {
    // Only the finalize subresource changes them.
    object.spec = { ...object.spec, finalizers: specFinalizers(live) }
  },
  prepareDeletion(object) {
    object.status = { ...object.status, phase: 'Terminating' }
    const { deletionGracePeriodSeconds: _seconds, ...metadata } = object.metadata
    object.metadata = metadata
  },
  unmarked: (subresource) => (subresource === undefined ? specFinalizersAndStatus : undefined),
  isHeld: (object) => specFinalizers(object).length > 0,
}

function specFinalizers({ spec }: BuiltIn<'core/v1.Namespace'>): readonly string[] {
  return spec.finalizers ?? []
}
