import { jobLabels, jobTrackingAnnotation } from '@orch/core/catalogue'
import { type BuiltIn, decoderAt } from '@orch/core/schema'
import { metadataInOrder, sorted } from './field-order.ts'
import type { RulesOf } from './kind-rules.ts'

/** A Job selects its Pods by its own uid, unless its writer sets a manual selector. */
export const jobStrategy: RulesOf<'batch/v1.Job'> = {
  prepareCreate(object, names, _user, level) {
    const tracking = jobTrackingAnnotation(names, level)
    if (tracking !== undefined) {
      const annotations = sorted({ ...object.metadata.annotations, [tracking]: '' })
      object.metadata = metadataInOrder({ ...object.metadata, annotations })
    }
    const { spec } = object
    if (spec.manualSelector === true) return
    const { uid = '', name = '' } = object.metadata
    const { template, selector } = spec
    const keys = jobLabels(names, level)
    const made = { ...Object.fromEntries(keys.uid.map((key) => [key, uid])), ...Object.fromEntries(keys.name.map((key) => [key, name])) }
    const labels = sorted({ ...made, ...template.metadata.labels })
    // A Job without labels gets those of its template, at every write.
    const { labels: own = {} } = object.metadata
    if (own === template.metadata.labels || Object.keys(own).length === 0) object.metadata = metadataInOrder({ ...object.metadata, labels })
    const selected = keys.uid.at(-1) ?? ''
    const changed = {
      ...spec,
      selector: { ...selector, matchLabels: sorted({ [selected]: uid, ...selector?.matchLabels }) },
      template: { ...template, metadata: { ...template.metadata, labels } },
    }
    object.spec = inOrder(changed, level)
  },
}

/** The fields in the order of their type, since objects are compared as text. */
function inOrder(spec: BuiltIn<'batch/v1.JobSpec'>, level: number): BuiltIn<'batch/v1.JobSpec'> {
  const decoded = decoderAt('batch/v1.JobSpec', level)(spec, { trackUnknown: false })
  return decoded.kind === 'decoded' ? decoded.object : spec
}
