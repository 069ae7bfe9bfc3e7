import { type FieldDefinition, pointer } from '../description/fields.ts'
import { inVersion } from '../description/in-version.ts'
import type { FieldFacets } from '../description/node.ts'
import { defineTypes, struct } from '../description/structs.ts'
import { ref } from '../description/values.ts'
import { resourceV1 } from './resource-v1.ts'

const {
  DeviceTaintRule: _rule,
  DeviceTaintRuleList: _rules,
  DeviceTaintRuleSpec: _spec,
  DeviceTaintRuleStatus: _status,
  DeviceTaintSelector: _selector,
  ExactDeviceRequest,
  ...shared
} = inVersion(resourceV1, { from: 'resource/v1', to: 'resource/v1beta1' })

/** A field of v1 with another tag, or other levels. */
function moved<F extends FieldDefinition>(member: F, tag: number, facets?: Pick<FieldFacets, 'since' | 'changes'>): F {
  return { ...member, tag, ...facets }
}

/** The types of resource/v1beta1, which are those of v1 with flat requests and a separate struct for the attributes of devices. */
export const resourceV1beta1 = defineTypes({
  ...shared,
  BasicDevice: struct('Attributes and capacities of a device.', () => {
    const { name: _name, ...members } = shared.Device().members
    const { featureGate: _gate, ...nodeSelector } = members.nodeSelector
    return {
      attributes: moved(members.attributes, 1),
      capacity: moved(members.capacity, 2),
      consumesCounters: moved(members.consumesCounters, 3, { since: 33 }),
      nodeName: moved(members.nodeName, 4, { since: 33 }),
      nodeSelector: moved(nodeSelector, 5, { since: 33 }),
      allNodes: moved(members.allNodes, 6, { since: 33 }),
      taints: moved(members.taints, 7, { since: 33 }),
      bindsToNode: moved(members.bindsToNode, 8),
      bindingConditions: moved(members.bindingConditions, 9),
      bindingFailureConditions: moved(members.bindingFailureConditions, 10),
      allowMultipleAllocations: moved(members.allowMultipleAllocations, 11),
      nodeAllocatableResources: members.nodeAllocatableResources,
      nodeAllocatableResourceMappings: moved(members.nodeAllocatableResourceMappings, 12),
    }
  }),
  Device: () => {
    const device = shared.Device()
    const basic = pointer(ref('resource/v1beta1.BasicDevice'), 2, 'Attributes and capacities of the device.')
    return { ...device, members: { name: device.members.name, basic } }
  },
  DeviceRequest: () => {
    const { members, ...request } = shared.DeviceRequest()
    const exactly = ExactDeviceRequest().members
    return {
      ...request,
      members: {
        name: members.name,
        deviceClassName: moved(exactly.deviceClassName, 2, { changes: { 33: { required: false, keepEmpty: true } } }),
        selectors: moved(exactly.selectors, 3),
        allocationMode: moved(exactly.allocationMode, 4),
        count: moved(exactly.count, 5),
        adminAccess: moved(exactly.adminAccess, 6),
        firstAvailable: moved(members.firstAvailable, 7),
        tolerations: moved(exactly.tolerations, 8, { since: 33 }),
        capacity: moved(exactly.capacity, 9),
        derivedAttributes: moved(exactly.derivedAttributes, 10),
      },
    }
  },
  DeviceSubRequest: () => {
    const { members, ...request } = shared.DeviceSubRequest()
    const tolerations = moved(members.tolerations, 7)
    const capacity = moved(members.capacity, 8)
    const derivedAttributes = moved(members.derivedAttributes, 9)
    return { ...request, members: { ...members, tolerations, capacity, derivedAttributes } }
  },
  ResourceSliceSpec: () => {
    const { members, ...spec } = shared.ResourceSliceSpec()
    const { pointer: _named, ...nodeName } = members.nodeName
    const { pointer: _all, ...allNodes } = members.allNodes
    return { ...spec, members: { ...members, nodeName, allNodes } }
  },
})
