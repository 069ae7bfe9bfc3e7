import { jobNameLabel, jobTrackingAnnotation, jobUidLabel } from '@orch/core/catalogue'
import { type BuiltIn, decoderOf } from '@orch/core/schema'
import { metadataInOrder, sorted } from './field-order.ts'
import type { RulesOf } from './kind-rules.ts'

/** A Job finds its Pods by its own uid, unless its writer wants to say how. */
export const jobStrategy: RulesOf<'batch/v1.Job'> = {
  prepareCreate(object, names) {
    // It says that the Job's Pods are tracked by finalizers.
    const annotations = sorted({ ...object.metadata.annotations, [jobTrackingAnnotation(names)]: '' })
    object.metadata = metadataInOrder({ ...object.metadata, annotations })
    const { spec } = object
    if (spec.manualSelector === true) return
    const { uid = '', name = '' } = object.metadata
    const { template, selector } = spec
    const labels = sorted({ [jobUidLabel]: uid, [jobNameLabel]: name, ...template.metadata.labels })
    // A Job without labels gets those of its template, as it does by default at every later write.
    if (Object.keys(object.metadata.labels ?? {}).length === 0) object.metadata = metadataInOrder({ ...object.metadata, labels })
    object.spec = inOrder({
      ...spec,
      selector: { ...selector, matchLabels: sorted({ [jobUidLabel]: uid, ...selector?.matchLabels }) },
      template: { ...template, metadata: { ...template.metadata, labels } },
    })
  },
}

/** The fields in the order of their type, as if sent like that: objects are compared as text. */
function inOrder(spec: BuiltIn<'batch/v1.JobSpec'>): BuiltIn<'batch/v1.JobSpec'> {
  const decoded = decoderOf('batch/v1.JobSpec')(spec, { trackUnknown: false })
  return decoded.kind === 'decoded' ? decoded.object : spec
}
