import { boolean, defineTypes, field, int64, list, map, ref, string, struct } from '../description/define.ts'
import { inVersion } from '../description/in-version.ts'
import { resourceV1 } from './resource-v1.ts'

const {
  DeviceTaintRule: _rule,
  DeviceTaintRuleList: _rules,
  DeviceTaintRuleSpec: _spec,
  DeviceTaintRuleStatus: _status,
  DeviceTaintSelector: _selector,
  ExactDeviceRequest: _exactly,
  ...shared
} = resourceV1

/** The types of resource/v1beta1, which are those of v1 with flat requests and a separate struct for the attributes of devices. */
export const resourceV1beta1 = defineTypes({
  ...inVersion(shared, { from: 'resource/v1', to: 'resource/v1beta1' }),
  BasicDevice: () =>
    struct(
      {
        attributes: field(map(ref('resource/v1beta1.DeviceAttribute')), {
          tag: 1,
          doc: 'Attributes by name. A name without a domain belongs to the driver. At most 32 together with the capacities.',
        }),
        capacity: field(map(ref('resource/v1beta1.DeviceCapacity')), { tag: 2, doc: 'Capacities by name.' }),
        consumesCounters: field(list(ref('resource/v1beta1.DeviceCounterConsumption')), {
          tag: 3,
          listType: 'atomic',
          featureGate: 'DRAPartitionableDevices',
          since: 33,
          doc: 'Consumption of the device from shared counters while it is in use. At most 2 sets.',
        }),
        nodeName: field(string(), {
          tag: 4,
          pointer: true,
          featureGate: 'DRAPartitionableDevices',
          since: 33,
          doc: 'Node that has the device. Only beside perDeviceNodeSelection.',
        }),
        nodeSelector: field(ref('core/v1.NodeSelector'), {
          tag: 5,
          pointer: true,
          since: 33,
          doc: 'Nodes from which the device can be used. Only beside perDeviceNodeSelection.',
        }),
        allNodes: field(boolean(), {
          tag: 6,
          pointer: true,
          featureGate: 'DRAPartitionableDevices',
          since: 33,
          doc: 'Every node can use the device. Only beside perDeviceNodeSelection; true or unset.',
        }),
        taints: field(list(ref('resource/v1beta1.DeviceTaint')), {
          tag: 7,
          listType: 'atomic',
          featureGate: 'DRADeviceTaints',
          since: 33,
          doc: 'Taints that requests must tolerate to get the device. At most 16.',
        }),
        bindsToNode: field(boolean(), {
          tag: 8,
          pointer: true,
          featureGate: 'DRADeviceBindingConditions',
          since: 34,
          doc: 'The allocation is bound to the node that was chosen for the Pod.',
        }),
        bindingConditions: field(list(string()), {
          tag: 9,
          listType: 'atomic',
          featureGate: 'DRADeviceBindingConditions',
          since: 34,
          doc: 'Types of conditions that are True before the Pod is bound to its node. At most 4.',
        }),
        bindingFailureConditions: field(list(string()), {
          tag: 10,
          listType: 'atomic',
          featureGate: 'DRADeviceBindingConditions',
          since: 34,
          doc: 'Types of conditions of which one that is True makes the binding fail. At most 4.',
        }),
        allowMultipleAllocations: field(boolean(), {
          tag: 11,
          pointer: true,
          featureGate: 'DRAConsumableCapacity',
          since: 34,
          doc: 'Several claims may share the device.',
        }),
        nodeAllocatableResources: field(map(ref('resource/v1beta1.NodeAllocatableResource')), {
          tag: 14,
          featureGate: 'DRANodeAllocatableResources',
          since: 37,
          doc: 'Resources of the node that the device takes, by name.',
        }),
        nodeAllocatableResourceMappings: field(map(ref('resource/v1beta1.NodeAllocatableResourceMapping')), {
          tag: 12,
          featureGate: 'DRANodeAllocatableResources',
          since: 36,
          until: 36,
          doc: 'Resources of the node that the device takes, by name.',
        }),
      },
      { doc: 'Attributes and capacities of a device.' },
    ),
  Device: () =>
    struct(
      {
        name: field(string(), { tag: 1, required: true, doc: 'Name of the device, a DNS label. Unique in its pool.' }),
        basic: field(ref('resource/v1beta1.BasicDevice'), { tag: 2, pointer: true, doc: 'Attributes and capacities of the device.' }),
      },
      { doc: 'A device with its attributes and capacities.' },
    ),
  DeviceRequest: () =>
    struct(
      {
        name: field(string(), {
          tag: 1,
          required: true,
          doc: 'Name of the request, a DNS label. Containers, constraints and configuration refer to it.',
        }),
        deviceClassName: field(string(), {
          tag: 2,
          required: true,
          changes: { 33: { required: false, keepEmpty: true } },
          doc: 'Class of the devices.',
        }),
        selectors: field(list(ref('resource/v1beta1.DeviceSelector')), {
          tag: 3,
          listType: 'atomic',
          doc: 'Conditions that a device meets besides those of its class. At most 32.',
        }),
        allocationMode: field(ref('resource/v1beta1.DeviceAllocationMode'), {
          tag: 4,
          doc: 'ExactCount (the default) or All, the matching devices of a pool.',
        }),
        count: field(int64(), { tag: 5, doc: 'Number of devices for ExactCount. Default: 1.' }),
        adminAccess: field(boolean(), {
          tag: 6,
          pointer: true,
          featureGate: 'DRAAdminAccess',
          doc: 'The devices are for administration and may be in use by others. Needs a label of the namespace.',
        }),
        firstAvailable: field(list(ref('resource/v1beta1.DeviceSubRequest')), {
          tag: 7,
          listType: 'atomic',
          featureGate: 'DRAPrioritizedList',
          since: 33,
          doc: 'Alternatives in order of preference; the first one that can be met counts. At most 8.',
        }),
        tolerations: field(list(ref('resource/v1beta1.DeviceToleration')), {
          tag: 8,
          listType: 'atomic',
          featureGate: 'DRADeviceTaints',
          since: 33,
          doc: 'Taints of devices that the request tolerates.',
        }),
        capacity: field(ref('resource/v1beta1.CapacityRequirements'), {
          tag: 9,
          pointer: true,
          featureGate: 'DRAConsumableCapacity',
          since: 34,
          doc: 'Amounts of capacities that each device provides.',
        }),
        derivedAttributes: field(list(ref('resource/v1beta1.DeviceDerivedAttribute')), {
          tag: 10,
          listType: 'atomic',
          featureGate: 'DRADerivedAttributes',
          since: 37,
          doc: 'Attributes that are computed for constraints. At most 32.',
        }),
      },
      { doc: 'A request for devices. Either exactly or firstAvailable is set.' },
    ),
  DeviceSubRequest: () =>
    struct(
      {
        name: field(string(), { tag: 1, required: true, doc: 'Name of the alternative, a DNS label. Unique in the request.' }),
        deviceClassName: field(string(), { tag: 2, required: true, doc: 'Class of the devices.' }),
        selectors: field(list(ref('resource/v1beta1.DeviceSelector')), {
          tag: 3,
          listType: 'atomic',
          doc: 'Conditions that a device meets besides those of its class. At most 32.',
        }),
        allocationMode: field(ref('resource/v1beta1.DeviceAllocationMode'), {
          tag: 4,
          doc: 'ExactCount (the default) or All, the matching devices of a pool.',
        }),
        count: field(int64(), { tag: 5, doc: 'Number of devices for ExactCount. Default: 1.' }),
        tolerations: field(list(ref('resource/v1beta1.DeviceToleration')), {
          tag: 7,
          listType: 'atomic',
          featureGate: 'DRADeviceTaints',
          doc: 'Taints of devices that the request tolerates.',
        }),
        capacity: field(ref('resource/v1beta1.CapacityRequirements'), {
          tag: 8,
          pointer: true,
          featureGate: 'DRAConsumableCapacity',
          since: 34,
          doc: 'Amounts of capacities that each device provides.',
        }),
        derivedAttributes: field(list(ref('resource/v1beta1.DeviceDerivedAttribute')), {
          tag: 9,
          listType: 'atomic',
          featureGate: 'DRADerivedAttributes',
          since: 37,
          doc: 'Attributes that are computed for constraints. At most 32.',
        }),
      },
      { since: 33, doc: 'One of several alternatives of a request.' },
    ),
  ResourceSliceSpec: () =>
    struct(
      {
        driver: field(string(), { tag: 1, required: true, doc: 'Driver of the devices, a DNS subdomain of at most 63 bytes. Immutable.' }),
        pool: field(ref('resource/v1beta1.ResourcePool'), { tag: 2, required: true, doc: 'The pool of the devices.' }),
        nodeName: field(string(), { tag: 3, doc: 'Node that has the devices. Immutable.' }),
        nodeSelector: field(ref('core/v1.NodeSelector'), {
          tag: 4,
          pointer: true,
          doc: 'Nodes from which the devices can be used, in one term.',
        }),
        allNodes: field(boolean(), { tag: 5, doc: 'Every node can use the devices; true or unset.' }),
        devices: field(list(ref('resource/v1beta1.Device')), {
          tag: 6,
          keepEmpty: true,
          listType: 'atomic',
          changes: { 35: { keepEmpty: false } },
          doc: 'The devices. At most 128, or 64 where one has taints or takes from counters.',
        }),
        perDeviceNodeSelection: field(boolean(), {
          tag: 7,
          pointer: true,
          featureGate: 'DRAPartitionableDevices',
          since: 33,
          doc: 'Each device says from which nodes it can be used; true or unset.',
        }),
        sharedCounters: field(list(ref('resource/v1beta1.CounterSet')), {
          tag: 8,
          listType: 'atomic',
          featureGate: 'DRAPartitionableDevices',
          since: 33,
          doc: 'Counters from which devices of the pool take. At most 8 sets; not in a slice with devices.',
        }),
        partitionTypeAttribute: field(string(), {
          tag: 9,
          pointer: true,
          featureGate: 'DRAPartitionableDevicesType',
          since: 37,
          doc: 'Attribute that names the type of a partition, with its domain.',
        }),
        skipNodeOperations: field(list(ref('resource/v1beta1.SkipNodeOperation')), {
          tag: 10,
          listType: 'set',
          featureGate: 'DRAOptionalNodeOperations',
          since: 37,
          doc: 'Operations on the node that are not needed for the devices.',
        }),
      },
      { doc: 'Devices of a pool, and the nodes that can use them. Exactly one form of nodes is set.' },
    ),
})
