import { defineTypes, type FieldDefinition, pointer, ref, struct } from '../description/define.ts'
import { inVersion } from '../description/in-version.ts'
import type { FieldFacets } from '../description/node.ts'
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
function moved<F extends FieldDefinition>(member: F, facets: Pick<FieldFacets, 'tag' | 'since' | 'changes'>): F {
  return { ...member, ...facets }
}

/** The types of resource/v1beta1, which are those of v1 with flat requests and a separate struct for the attributes of devices. */
export const resourceV1beta1 = defineTypes({
  ...shared,
  BasicDevice: struct('Attributes and capacities of a device.', () => {
    const { name: _name, ...members } = shared.Device().members
    const { featureGate: _gate, ...nodeSelector } = members.nodeSelector
    return {
      attributes: moved(members.attributes, { tag: 1 }),
      capacity: moved(members.capacity, { tag: 2 }),
      consumesCounters: moved(members.consumesCounters, { tag: 3, since: 33 }),
      nodeName: moved(members.nodeName, { tag: 4, since: 33 }),
      nodeSelector: moved(nodeSelector, { tag: 5, since: 33 }),
      allNodes: moved(members.allNodes, { tag: 6, since: 33 }),
      taints: moved(members.taints, { tag: 7, since: 33 }),
      bindsToNode: moved(members.bindsToNode, { tag: 8 }),
      bindingConditions: moved(members.bindingConditions, { tag: 9 }),
      bindingFailureConditions: moved(members.bindingFailureConditions, { tag: 10 }),
      allowMultipleAllocations: moved(members.allowMultipleAllocations, { tag: 11 }),
      nodeAllocatableResources: members.nodeAllocatableResources,
      nodeAllocatableResourceMappings: moved(members.nodeAllocatableResourceMappings, { tag: 12 }),
    }
  }),
  Device: () => {
    const device = shared.Device()
    const basic = pointer(ref('resource/v1beta1.BasicDevice'), { tag: 2, doc: 'Attributes and capacities of the device.' })
    return { ...device, members: { name: device.members.name, basic } }
  },
  DeviceRequest: () => {
    const { members, ...request } = shared.DeviceRequest()
    const exactly = ExactDeviceRequest().members
    return {
      ...request,
      members: {
        name: members.name,
        deviceClassName: moved(exactly.deviceClassName, { tag: 2, changes: { 33: { required: false, keepEmpty: true } } }),
        selectors: moved(exactly.selectors, { tag: 3 }),
        allocationMode: moved(exactly.allocationMode, { tag: 4 }),
        count: moved(exactly.count, { tag: 5 }),
        adminAccess: moved(exactly.adminAccess, { tag: 6 }),
        firstAvailable: moved(members.firstAvailable, { tag: 7 }),
        tolerations: moved(exactly.tolerations, { tag: 8, since: 33 }),
        capacity: moved(exactly.capacity, { tag: 9 }),
        derivedAttributes: moved(exactly.derivedAttributes, { tag: 10 }),
      },
    }
  },
  DeviceSubRequest: () => {
    const { members, ...request } = shared.DeviceSubRequest()
    const tolerations = moved(members.tolerations, { tag: 7 })
    const capacity = moved(members.capacity, { tag: 8 })
    const derivedAttributes = moved(members.derivedAttributes, { tag: 9 })
    return { ...request, members: { ...members, tolerations, capacity, derivedAttributes } }
  },
  ResourceSliceSpec: () => {
    const { members, ...spec } = shared.ResourceSliceSpec()
    const { pointer: _named, ...nodeName } = members.nodeName
    const { pointer: _all, ...allNodes } = members.allNodes
    return { ...spec, members: { ...members, nodeName, allNodes } }
  },
})
