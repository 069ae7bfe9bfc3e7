import { defineTypes, type StructDefinition } from '../description/define.ts'
import { inVersion } from '../description/in-version.ts'
import { resourceV1 } from './resource-v1.ts'

const same = inVersion(resourceV1, { from: 'resource/v1', to: 'resource/v1beta2' })

/** A type that this version has one level before v1. */
function earlier<T extends StructDefinition>(make: () => T): () => T {
  return () => {
    const type = make()
    return { ...type, facets: { ...type.facets, since: 36 } }
  }
}

/** The types of resource/v1beta2: those of v1. */
export const resourceV1beta2 = defineTypes({
  ...same,
  DeviceTaintRule: earlier(same.DeviceTaintRule),
  DeviceTaintRuleList: earlier(same.DeviceTaintRuleList),
  DeviceTaintRuleSpec: earlier(same.DeviceTaintRuleSpec),
  DeviceTaintRuleStatus: earlier(same.DeviceTaintRuleStatus),
  DeviceTaintSelector: earlier(same.DeviceTaintSelector),
})
