import { type ApiObject, jobNameLabel, jobUidLabel } from '@orch/core'
import type { KindRules } from './strategy.ts'

interface JobSpec {
  manualSelector?: boolean
  selector?: { matchLabels?: Record<string, string> }
  template?: { metadata?: { labels?: Record<string, string> } }
}

/** A Job finds its Pods by its own uid, unless its writer wants to say how. */
export const jobStrategy: KindRules = {
  prepareCreate(object: ApiObject) {
    const spec = object.spec as JobSpec | undefined
    if (spec === undefined || spec.manualSelector === true) return
    const { uid = '', name = '' } = object.metadata
    const { template, selector } = spec
    object.spec = {
      ...spec,
      selector: { ...selector, matchLabels: { [jobUidLabel]: uid, ...selector?.matchLabels } },
      template: {
        ...template,
        metadata: { ...template?.metadata, labels: { [jobUidLabel]: uid, [jobNameLabel]: name, ...template?.metadata?.labels } },
      },
    }
  },
}
