import { field } from '../description/fields.ts'
import { inVersion } from '../description/in-version.ts'
import { defineTypes } from '../description/structs.ts'
import { map, quantity } from '../description/values.ts'
import { resourceV1 } from './resource-v1.ts'
import { resourceV1beta1 } from './resource-v1beta1.ts'

const { DeviceTaintRule, DeviceTaintRuleList, DeviceTaintRuleSpec, DeviceTaintRuleStatus, DeviceTaintSelector } = resourceV1
const rules = { DeviceTaintRule, DeviceTaintRuleList, DeviceTaintRuleSpec, DeviceTaintRuleStatus, DeviceTaintSelector }

const earlier = inVersion(resourceV1beta1, { from: 'resource/v1beta1', to: 'resource/v1alpha3' })

/** The types of resource/v1alpha3: those of v1beta1, with plain amounts as capacities, and rules as in v1. */
export const resourceV1alpha3 = defineTypes({
  ...earlier,
  ...inVersion(rules, { from: 'resource/v1', to: 'resource/v1alpha3', lifetimeOf: () => ({ since: 35 }) }),
  BasicDevice: () => {
    const { members, ...device } = earlier.BasicDevice()
    return { ...device, members: { ...members, capacity: field(map(quantity()), 2, members.capacity.doc) } }
  },
})
