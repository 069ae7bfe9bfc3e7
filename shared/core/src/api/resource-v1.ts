import { atomic, checked, field, inline, merged, needed, pointer, required } from '../description/fields.ts'
import { defineTypes, object, struct } from '../description/structs.ts'
import { closed, only, string, text, valuesByLevel } from '../description/texts.ts'
import { boolean, int64, list, map, quantity, raw, ref, time } from '../description/values.ts'
import { gated, metadata, objectList, requiredUntil } from './common.ts'

const shareID = (tag: number) =>
  pointer(text('uuid'), tag, {
    ...gated('DRAConsumableCapacity'),
    declaredSince: 36,
    doc: 'Identity of the share of a device that several claims use.',
  })

/** The types of resource/v1. */
export const resourceV1 = defineTypes({
  AllocatedDeviceStatus: struct('State of a device that a claim has been given, as its driver reports it.', () => ({
    driver: needed(text('driverName', { bytesMax: 63 }), 1, {
      required: true,
      doc: 'Driver of the device, a DNS subdomain of at most 63 bytes.',
    }),
    pool: required(string(), 2, 'Pool of the device.'),
    device: checked(text('label'), 3, { required: true, doc: 'Name of the device in its pool.' }),
    shareID: shareID(7),
    conditions: field(list(ref('meta/v1.Condition'), { uniqueBy: 'type', isPlacedSince: 37 }), 4, {
      keepEmpty: true,
      listType: 'map',
      listMapKeys: ['type'],
      doc: 'State of the device by aspect. At most 8.',
    }),
    data: pointer(raw(), 5, 'Data that the driver alone understands. An object of at most 10 KiB.'),
    networkData: pointer(ref('resource/v1.NetworkDeviceData'), 6, 'State of a network device.'),
  })),
  AllocationConfigSource: () => only(closed('FromClaim', 'FromClass')),
  AllocationResult: struct('The devices that a claim has been given, and the nodes that can use them.', () => ({
    devices: field(ref('resource/v1.DeviceAllocationResult'), 1, 'The devices, and their configuration.'),
    nodeSelector: pointer(ref('core/v1.NodeSelector'), 3, 'Nodes from which the devices can be used. Unset: every node.'),
    allocationTimestamp: pointer(time(), 5, { since: 34, doc: 'Time of the allocation. Bindings that take too long are counted from it.' }),
  })),
  CELDeviceSelector: struct('An expression in CEL that chooses devices.', () => ({
    expression: required(string(), 1, {
      doc: 'Condition about the variable device, which has driver, attributes, capacity and allowMultipleAllocations. At most 10 KiB.',
    }),
  })),
  CapacityRequestPolicy: struct({ since: 34, doc: 'Rules about the amounts that one claim may take of a capacity.' }, () => ({
    default: pointer(quantity(), 1, {
      keepEmpty: true,
      doc: 'Amount for requests that name none. Required beside validValues or validRange.',
    }),
    validValues: atomic(list(quantity()), 3, 'Allowed amounts in ascending order, at most 10. A request gets the next larger one.'),
    validRange: pointer(ref('resource/v1.CapacityRequestPolicyRange'), 4, 'Allowed range of amounts.'),
  })),
  CapacityRequestPolicyRange: struct({ since: 34, doc: 'A range of amounts.' }, () => ({
    min: pointer(quantity(), 1, { listedAsRequired: true, doc: 'Smallest amount.' }),
    max: pointer(quantity(), 2, 'Largest amount. Unset: the whole capacity.'),
    step: pointer(quantity(), 3, 'Difference between allowed amounts, from the smallest on.'),
  })),
  CapacityRequirements: struct({ since: 34, doc: 'Amounts of capacities that a request needs.' }, () => ({
    requests: field(map(quantity()), 1, 'Amount by the name of the capacity.'),
  })),
  Counter: struct({ since: 33, doc: 'An amount of something that devices share.' }, () => ({
    value: required(quantity(), 1, 'The amount.'),
  })),
  CounterSet: struct({ since: 33, doc: 'Counters from which the devices of a pool take.' }, () => ({
    name: needed(text('label'), 1, { required: true, declaredSince: 36, doc: 'Name of the set, a DNS label. Unique in the pool.' }),
    counters: field(map(ref('resource/v1.Counter')), 2, { listedAsRequired: true, doc: 'The counters by name. At most 32.' }),
  })),
  Device: struct('A device with its attributes and capacities.', () => ({
    name: checked(text('label'), 1, { required: true, doc: 'Name of the device, a DNS label. Unique in its pool.' }),
    attributes: field(map(ref('resource/v1.DeviceAttribute')), 2, {
      doc: 'Attributes by name. A name without a domain belongs to the driver. At most 32 together with the capacities.',
    }),
    capacity: field(map(ref('resource/v1.DeviceCapacity')), 3, 'Capacities by name.'),
    consumesCounters: atomic(list(ref('resource/v1.DeviceCounterConsumption'), { itemsMax: 2, keyedBy: 'counterSet' }), 4, {
      featureGate: 'DRAPartitionableDevices',
      declaredSince: 36,
      doc: 'Consumption of the device from shared counters while it is in use. At most 2 sets.',
    }),
    nodeName: pointer(string(), 5, {
      featureGate: 'DRAPartitionableDevices',
      doc: 'Node that has the device. Only beside perDeviceNodeSelection.',
    }),
    nodeSelector: pointer(ref('core/v1.NodeSelector'), 6, {
      featureGate: 'DRAPartitionableDevices',
      doc: 'Nodes from which the device can be used. Only beside perDeviceNodeSelection.',
    }),
    allNodes: pointer(boolean(), 7, {
      featureGate: 'DRAPartitionableDevices',
      doc: 'Every node can use the device. Only beside perDeviceNodeSelection; true or unset.',
    }),
    taints: atomic(list(ref('resource/v1.DeviceTaint')), 8, {
      featureGate: 'DRADeviceTaints',
      doc: 'Taints that requests must tolerate to get the device. At most 16.',
    }),
    bindsToNode: pointer(boolean(), 9, {
      ...gated('DRADeviceBindingConditions'),
      doc: 'The allocation is bound to the node that was chosen for the Pod.',
    }),
    bindingConditions: atomic(list(string()), 10, {
      ...gated('DRADeviceBindingConditions'),
      doc: 'Types of conditions that are True before the Pod is bound to its node. At most 4.',
    }),
    bindingFailureConditions: atomic(list(string()), 11, {
      ...gated('DRADeviceBindingConditions'),
      doc: 'Types of conditions of which one that is True makes the binding fail. At most 4.',
    }),
    allowMultipleAllocations: pointer(boolean(), 12, { ...gated('DRAConsumableCapacity'), doc: 'Several claims may share the device.' }),
    nodeAllocatableResources: field(map(ref('resource/v1.NodeAllocatableResource')), 14, {
      featureGate: 'DRANodeAllocatableResources',
      since: 37,
      doc: 'Resources of the node that the device takes, by name.',
    }),
    nodeAllocatableResourceMappings: field(map(ref('resource/v1.NodeAllocatableResourceMapping')), 13, {
      ...gated('DRANodeAllocatableResources'),
      until: 36,
      doc: 'Resources of the node that the device takes, by name.',
    }),
  })),
  DeviceAllocationConfiguration: struct('Configuration of allocated devices, and its origin.', () => ({
    source: needed(ref('resource/v1.AllocationConfigSource'), 1, {
      required: true,
      declaredSince: 36,
      doc: 'Origin of the configuration: FromClass or FromClaim.',
    }),
    requests: atomic(list(string(), { itemsMax: 32, isSet: true }), 2, {
      declaredSince: 36,
      doc: 'Requests that the configuration is for. Empty: all.',
    }),
    deviceConfiguration: inline('resource/v1.DeviceConfiguration', 3),
  })),
  DeviceAllocationMode: () => only(closed('All', 'ExactCount')),
  DeviceAllocationResult: struct('Allocated devices, and their configuration.', () => ({
    results: atomic(list(ref('resource/v1.DeviceRequestAllocationResult'), { itemsMax: 32 }), 1, {
      declaredSince: 36,
      doc: 'The devices. At most 32.',
    }),
    config: atomic(list(ref('resource/v1.DeviceAllocationConfiguration'), { itemsMax: 64 }), 2, {
      declaredSince: 36,
      doc: 'Configuration of the devices, from classes and from the claim. At most 64.',
    }),
  })),
  DeviceAttribute: struct('Value of an attribute. Exactly one field is set.', () => ({
    int: pointer(int64(), 2, 'A number.'),
    bool: pointer(boolean(), 3, 'A truth value.'),
    string: pointer(string(), 4, 'A text of at most 64 bytes.'),
    version: pointer(string(), 5, 'A semantic version of at most 64 bytes.'),
    ints: atomic(list(int64()), 6, { ...gated('DRAListTypeAttributes'), doc: 'A list of numbers.' }),
    bools: atomic(list(boolean()), 7, { ...gated('DRAListTypeAttributes'), doc: 'A list of truth values.' }),
    strings: atomic(list(string()), 8, { ...gated('DRAListTypeAttributes'), doc: 'A list of texts of at most 64 bytes each.' }),
    versions: atomic(list(string()), 9, {
      ...gated('DRAListTypeAttributes'),
      doc: 'A list of semantic versions of at most 64 bytes each.',
    }),
  })),
  DeviceCapacity: struct('An amount of something that a device has.', () => ({
    value: required(quantity(), 1, 'The amount.'),
    requestPolicy: pointer(ref('resource/v1.CapacityRequestPolicy'), 2, {
      ...gated('DRAConsumableCapacity'),
      doc: 'Rules about the amounts of claims that share the device. Only beside allowMultipleAllocations.',
    }),
  })),
  DeviceClaim: struct('The devices that a claim asks for.', () => ({
    requests: atomic(list(ref('resource/v1.DeviceRequest'), { itemsMax: 32, keyedBy: 'name' }), 1, {
      keepEmpty: true,
      declaredSince: 36,
      doc: 'Requests, each for devices of its own. At most 32.',
    }),
    constraints: atomic(list(ref('resource/v1.DeviceConstraint'), { itemsMax: 32 }), 2, {
      declaredSince: 36,
      doc: 'Conditions about devices of several requests. At most 32.',
    }),
    config: atomic(list(ref('resource/v1.DeviceClaimConfiguration'), { itemsMax: 32 }), 3, {
      declaredSince: 36,
      doc: 'Configuration for drivers. At most 32.',
    }),
  })),
  DeviceClaimConfiguration: struct('Configuration for drivers, and the requests that it is for.', () => ({
    requests: atomic(list(string(), { itemsMax: 32, isSet: true }), 1, {
      declaredSince: 36,
      doc: 'Requests that the configuration is for. Empty: all. A subrequest is named as request/subrequest.',
    }),
    deviceConfiguration: inline('resource/v1.DeviceConfiguration', 2),
  })),
  DeviceClass: object('A class of devices: selectors and configuration that claims refer to by name.', () => ({
    metadata,
    spec: field(ref('resource/v1.DeviceClassSpec'), 2, { ...requiredUntil(36), doc: 'The devices of the class, and their configuration.' }),
  })),
  DeviceClassConfiguration: struct('Configuration that a class gives its devices.', () => ({
    deviceConfiguration: inline('resource/v1.DeviceConfiguration', 1),
  })),
  DeviceClassList: objectList('resource/v1.DeviceClass'),
  DeviceClassSpec: struct('The devices of a class, and their configuration.', () => ({
    selectors: atomic(list(ref('resource/v1.DeviceSelector'), { itemsMax: 32 }), 1, {
      declaredSince: 36,
      doc: 'Conditions that a device of the class meets, all of them. At most 32.',
    }),
    config: atomic(list(ref('resource/v1.DeviceClassConfiguration'), { itemsMax: 32 }), 2, {
      declaredSince: 36,
      doc: 'Configuration for drivers of the devices. At most 32.',
    }),
    extendedResourceName: pointer(string(), 4, {
      ...gated('DRAExtendedResource'),
      doc: 'Extended resource by which Pods may ask for a device of the class without a claim.',
    }),
  })),
  DeviceConfiguration: struct('Configuration of devices. Exactly one field is set.', () => ({
    opaque: needed(ref('resource/v1.OpaqueDeviceConfiguration'), 1, { pointer: true, doc: 'Parameters that one driver understands.' }),
  })),
  DeviceConstraint: struct('A condition about the devices of several requests.', () => ({
    requests: atomic(list(string(), { itemsMax: 32, isSet: true }), 1, {
      declaredSince: 36,
      doc: 'Requests whose devices are compared. Empty: all. A subrequest is named as request/subrequest.',
    }),
    matchAttribute: pointer(string(), 2, 'Attribute of which all devices have the same value, with its domain.'),
    distinctAttribute: pointer(string(), 3, {
      ...gated('DRAConsumableCapacity'),
      doc: 'Attribute of which each device has another value, with its domain.',
    }),
  })),
  DeviceCounterConsumption: struct({ since: 33, doc: 'Consumption of a device from a set of counters.' }, () => ({
    counterSet: needed(text('label'), 1, { required: true, declaredSince: 36, doc: 'Name of the set.' }),
    counters: field(map(ref('resource/v1.Counter')), 2, { listedAsRequired: true, doc: 'Amounts by the name of the counter. At most 32.' }),
    compatibilityGroups: atomic(list(text('label')), 3, {
      ...gated('DRADeviceCompatibilityGroups'),
      doc: 'Groups of devices that may take from the set at the same time. At most 2.',
    }),
  })),
  DeviceDerivedAttribute: struct({ since: 37, doc: 'An attribute that is computed from those of a device.' }, () => ({
    name: required(string(), 1, 'Name of the attribute, with its domain.'),
    expression: required(string(), 2, 'Expression in CEL that gives the value.'),
  })),
  DeviceRequest: struct('A request for devices. Either exactly or firstAvailable is set.', () => ({
    name: checked(text('label'), 1, {
      required: true,
      doc: 'Name of the request, a DNS label. Containers, constraints and configuration refer to it.',
    }),
    exactly: pointer(ref('resource/v1.ExactDeviceRequest'), 2, 'The wanted devices.'),
    firstAvailable: atomic(list(ref('resource/v1.DeviceSubRequest'), { itemsMax: 8, keyedBy: 'name' }), 3, {
      ...gated('DRAPrioritizedList'),
      declaredSince: 36,
      doc: 'Alternatives in order of preference; the first one that can be met counts. At most 8.',
    }),
  })),
  DeviceRequestAllocationResult: struct('A device that a request has been given.', () => ({
    request: required(string(), 1, 'Name of the request, or request/subrequest.'),
    driver: needed(text('caselessDriverName', { bytesMax: 63, charactersSince: 36 }), 2, {
      required: true,
      declaredSince: 36,
      doc: 'Driver of the device.',
    }),
    pool: required(string(), 3, 'Pool of the device.'),
    device: checked(text('label'), 4, { required: true, doc: 'Name of the device in its pool.' }),
    adminAccess: pointer(boolean(), 5, {
      featureGate: 'DRAAdminAccess',
      keepEmpty: true,
      changes: { 34: { keepEmpty: false } },
      doc: 'The device is for administration and may be in use by others.',
    }),
    tolerations: atomic(list(ref('resource/v1.DeviceToleration')), 6, {
      ...gated('DRADeviceTaints'),
      doc: 'Tolerations of the request at the time of the allocation.',
    }),
    bindingConditions: atomic(list(string()), 7, {
      ...gated('DRADeviceBindingConditions'),
      doc: 'Binding conditions of the device at the time of the allocation.',
    }),
    bindingFailureConditions: atomic(list(string()), 8, {
      ...gated('DRADeviceBindingConditions'),
      doc: 'Conditions of failed binding of the device at the time of the allocation.',
    }),
    shareID: shareID(9),
    consumedCapacity: field(map(quantity()), 10, {
      ...gated('DRAConsumableCapacity'),
      doc: 'Amounts of capacities that the claim takes, by name.',
    }),
    skipNodeOperations: field(list(ref('resource/v1.SkipNodeOperation')), 11, {
      listType: 'set',
      ...gated('DRAOptionalNodeOperations'),
      doc: 'Operations on the node that are not needed for the device.',
    }),
  })),
  DeviceSelector: struct('A condition about devices. Exactly one field is set.', () => ({
    cel: needed(ref('resource/v1.CELDeviceSelector'), 1, { pointer: true, doc: 'The condition in CEL.' }),
  })),
  DeviceSubRequest: struct({ since: 33, doc: 'One of several alternatives of a request.' }, () => {
    const { deviceClassName, selectors, allocationMode, count, tolerations, capacity, derivedAttributes } = exactMembers()
    return {
      name: checked(text('label'), 1, { required: true, doc: 'Name of the alternative, a DNS label. Unique in the request.' }),
      deviceClassName: { ...deviceClassName, tag: 2, declaredSince: 36 },
      selectors: { ...selectors, tag: 3 },
      allocationMode: { ...allocationMode, tag: 4 },
      count: { ...count, tag: 5 },
      tolerations,
      capacity,
      derivedAttributes,
    }
  }),
  DeviceTaint: struct({ since: 33, doc: 'A mark on a device that keeps away requests without a matching toleration.' }, () => ({
    key: checked(text('qualifiedName'), 1, { required: true, doc: 'Key of the taint, a label name.' }),
    value: field(text('labelValue'), 2, 'Value of the taint, a label value.'),
    effect: needed(ref('resource/v1.DeviceTaintEffect'), 3, {
      required: true,
      declaredSince: 36,
      doc: 'Effect on requests that do not tolerate the taint: None, NoSchedule or NoExecute.',
    }),
    timeAdded: pointer(time(), 4, 'Time at which the taint was added. Default: the time of the write.'),
  })),
  DeviceTaintEffect: () => valuesByLevel(only(closed('NoExecute', 'NoSchedule', 'None')), { since: { None: 35 } }),
  DeviceTaintRule: object({ since: 37, doc: 'Adds a taint to the devices that match.' }, () => ({
    metadata,
    spec: required(ref('resource/v1.DeviceTaintRuleSpec'), 2, 'The devices, and the taint.'),
    status: field(ref('resource/v1.DeviceTaintRuleStatus'), 3, 'Progress of the rule.'),
  })),
  DeviceTaintRuleList: objectList('resource/v1.DeviceTaintRule', { since: 37 }),
  DeviceTaintRuleSpec: struct({ since: 37, doc: 'The devices of a rule, and their taint.' }, () => ({
    deviceSelector: pointer(ref('resource/v1.DeviceTaintSelector'), 1, 'The devices. Unset: none. Empty: all.'),
    taint: field(ref('resource/v1.DeviceTaint'), 2, { listedAsRequired: true, doc: 'The taint.' }),
  })),
  DeviceTaintRuleStatus: struct({ since: 37, doc: 'Progress of a rule.' }, () => ({
    conditions: merged('type', list(ref('meta/v1.Condition'), { uniqueBy: 'type', isPlacedSince: 37 }), 1, {
      doc: 'State of the rule by aspect. At most 8.',
    }),
  })),
  DeviceTaintSelector: struct({ since: 37, doc: 'Devices by their names. All fields that are set must match.' }, () => ({
    driver: pointer(string(), 2, 'Driver of the devices.'),
    pool: pointer(string(), 3, 'Pool of the devices.'),
    device: checked(text('label'), 4, { pointer: true, doc: 'Name of the device in its pool.' }),
  })),
  DeviceToleration: struct({ since: 33, doc: 'A taint of devices that a request tolerates.' }, () => ({
    key: field(text('qualifiedName'), 1, { declaredSince: 36, doc: 'Key of the taint. Empty, with the operator Exists: every taint.' }),
    operator: field(ref('resource/v1.DeviceTolerationOperator'), 2, {
      default: 'Equal',
      declaredSince: 36,
      doc: 'Equal (the default) compares the value; Exists takes any.',
    }),
    value: field(string(), 3, 'Value of the taint for Equal.'),
    effect: field(ref('resource/v1.DeviceTaintEffect'), 4, { declaredSince: 36, doc: 'Effect of the taint. Empty: each.' }),
    tolerationSeconds: pointer(int64(), 5, 'Seconds for which a taint with the effect NoExecute is tolerated. Unset: for ever.'),
  })),
  DeviceTolerationOperator: () => only(closed('Equal', 'Exists')),
  ExactDeviceRequest: struct({ since: 33, doc: 'A request for devices of one class.' }, exactMembers),
  NetworkDeviceData: struct('State of a network device.', () => ({
    interfaceName: field(string({ bytesMax: 256 }), 1, { declaredSince: 36, doc: 'Name of the interface in the Pod. At most 256 bytes.' }),
    ips: atomic(list(text('interfaceAddress'), { itemsMax: 16, isSet: true }), 2, {
      declaredSince: 36,
      doc: 'Addresses of the interface with the length of their prefix. At most 16.',
    }),
    hardwareAddress: field(string({ bytesMax: 128 }), 3, {
      declaredSince: 36,
      doc: 'Hardware address of the interface. At most 128 bytes.',
    }),
  })),
  NodeAllocatableMapping: struct({ since: 37, doc: 'Amount of a resource of the node that a device takes.' }, () => ({
    capacityKey: pointer(string(), 1, 'Capacity of the device that is multiplied.'),
    capacityMultiplier: pointer(quantity(), 2, 'Factor for the capacity.'),
    deviceMultiplier: pointer(quantity(), 3, 'Amount for each device.'),
  })),
  NodeAllocatableOverhead: struct({ since: 37, doc: 'Additional amount of a resource of the node.' }, () => ({
    perPod: pointer(quantity(), 1, 'Amount for each Pod.'),
    perContainer: pointer(quantity(), 2, 'Amount for each container.'),
  })),
  NodeAllocatableResource: struct({ since: 37, doc: 'Consumption of a device from a resource of its node.' }, () => ({
    mapping: pointer(ref('resource/v1.NodeAllocatableMapping'), 3, 'Amount by the use of the device.'),
    overhead: pointer(ref('resource/v1.NodeAllocatableOverhead'), 4, 'Amount besides.'),
  })),
  NodeAllocatableResourceMapping: struct({ since: 36, until: 36, doc: 'Consumption of a device from a resource of its node.' }, () => ({
    capacityKey: pointer(string(), 1, 'Capacity of the device that is multiplied.'),
    allocationMultiplier: pointer(quantity(), 2, 'Factor for the capacity, or amount for each device.'),
  })),
  OpaqueDeviceConfiguration: struct('Parameters that one driver understands.', () => ({
    driver: needed(text('caselessDriverName', { bytesMax: 63, charactersSince: 36 }), 1, {
      required: true,
      declaredSince: 36,
      doc: 'The driver, a DNS subdomain of at most 63 bytes.',
    }),
    parameters: required(raw(), 2, 'The parameters. An object of at most 10 KiB.'),
  })),
  ResourceClaim: object('A claim for devices that Pods use.', () => ({
    metadata,
    spec: required(ref('resource/v1.ResourceClaimSpec'), 2, {
      isImmutable: true,
      declaredSince: 36,
      changes: { 37: { required: false, keepEmpty: true } },
      doc: 'The wanted devices. Immutable.',
    }),
    status: field(ref('resource/v1.ResourceClaimStatus'), 3, 'The allocated devices, and their users.'),
  })),
  ResourceClaimConsumerReference: struct('A user of a claim.', () => ({
    apiGroup: field(string(), 1, 'API group of the user. Empty: the core group.'),
    resource: needed(string(), 3, { required: true, doc: 'Resource of the user, such as pods.' }),
    name: needed(string(), 4, { required: true, doc: 'Name of the user.' }),
    uid: needed(string(), 5, { required: true, doc: 'Identity of the user.' }),
  })),
  ResourceClaimList: objectList('resource/v1.ResourceClaim'),
  ResourceClaimSpec: struct('The devices that a claim asks for.', () => ({
    devices: field(ref('resource/v1.DeviceClaim'), 1, { keepEmpty: true, doc: 'Requests, constraints and configuration.' }),
  })),
  ResourceClaimStatus: struct('The devices that a claim has been given, and their users.', () => ({
    allocation: pointer(ref('resource/v1.AllocationResult'), 1, 'The allocated devices. Set once; removed when the claim is deallocated.'),
    reservedFor: merged('uid', list(ref('resource/v1.ResourceClaimConsumerReference'), { itemsMax: 256, keyedBy: 'uid' }), 2, {
      declaredSince: 36,
      doc: 'Users of the claim. At most 256.',
    }),
    devices: field(list(ref('resource/v1.AllocatedDeviceStatus')), 4, {
      listType: 'map',
      listMapKeys: ['driver', 'device', 'pool'],
      featureGate: 'DRAResourceClaimDeviceStatus',
      changes: { 34: { listMapKeys: ['driver', 'device', 'pool', 'shareID'] } },
      doc: 'State of the allocated devices, as their drivers report it.',
    }),
  })),
  ResourceClaimTemplate: object('A template from which Pods get claims of their own.', () => ({
    metadata,
    spec: required(ref('resource/v1.ResourceClaimTemplateSpec'), 2, {
      isImmutable: true,
      changes: { 37: { required: false, keepEmpty: true } },
      doc: 'The claims. Immutable.',
    }),
  })),
  ResourceClaimTemplateList: objectList('resource/v1.ResourceClaimTemplate'),
  ResourceClaimTemplateSpec: struct('The claims that are made from a template.', () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), 1, 'Labels and annotations of the claims.'),
    spec: field(ref('resource/v1.ResourceClaimSpec'), 2, { ...requiredUntil(36), doc: 'Spec of the claims.' }),
  })),
  ResourcePool: struct('A pool of devices that may need several slices.', () => ({
    name: required(string(), 1, 'Name of the pool: DNS subdomains separated by slashes, at most 253 bytes. Often the name of the node.'),
    generation: required(int64({ min: 0, detail: 'must be greater than or equal to zero' }), 2, {
      doc: 'Number of the present state of the pool. Slices of a lower one are out of date.',
    }),
    resourceSliceCount: required(int64({ min: 1, detail: 'must be greater than zero' }), 3, {
      doc: 'Number of slices of the pool at this generation.',
    }),
  })),
  ResourceSlice: object('Devices of one pool of a driver.', () => ({
    metadata,
    spec: required(ref('resource/v1.ResourceSliceSpec'), 2, 'The pool, the nodes and the devices.'),
  })),
  ResourceSliceList: objectList('resource/v1.ResourceSlice'),
  ResourceSliceSpec: struct('Devices of a pool, and the nodes that can use them. Exactly one form of nodes is set.', () => ({
    driver: needed(text('driverName', { bytesMax: 63 }), 1, {
      required: true,
      doc: 'Driver of the devices, a DNS subdomain of at most 63 bytes. Immutable.',
    }),
    pool: required(ref('resource/v1.ResourcePool'), 2, 'The pool of the devices.'),
    nodeName: pointer(string(), 3, 'Node that has the devices. Immutable.'),
    nodeSelector: pointer(ref('core/v1.NodeSelector'), 4, 'Nodes from which the devices can be used, in one term.'),
    allNodes: pointer(boolean(), 5, 'Every node can use the devices; true or unset.'),
    devices: atomic(list(ref('resource/v1.Device')), 6, {
      keepEmpty: true,
      changes: { 35: { keepEmpty: false } },
      doc: 'The devices. At most 128, or 64 where one has taints or takes from counters.',
    }),
    perDeviceNodeSelection: pointer(boolean(), 7, {
      ...gated('DRAPartitionableDevices'),
      doc: 'Each device says from which nodes it can be used; true or unset.',
    }),
    sharedCounters: atomic(list(ref('resource/v1.CounterSet'), { itemsMax: 8, keyedBy: 'name' }), 8, {
      ...gated('DRAPartitionableDevices'),
      declaredSince: 36,
      doc: 'Counters from which devices of the pool take. At most 8 sets; not in a slice with devices.',
    }),
    partitionTypeAttribute: pointer(string(), 9, {
      ...gated('DRAPartitionableDevicesType'),
      doc: 'Attribute that names the type of a partition, with its domain.',
    }),
    skipNodeOperations: field(list(ref('resource/v1.SkipNodeOperation')), 10, {
      listType: 'set',
      ...gated('DRAOptionalNodeOperations'),
      doc: 'Operations on the node that are not needed for the devices.',
    }),
  })),
  SkipNodeOperation: () => only(closed('*', 'NodePrepareResources', 'NodeUnprepareResources')),
})

/** The fields of a request for devices of one class. */
function exactMembers() {
  return {
    deviceClassName: needed(text('subdomain'), 1, { required: true, doc: 'Class of the devices.' }),
    selectors: atomic(list(ref('resource/v1.DeviceSelector'), { itemsMax: 32 }), 2, {
      declaredSince: 36,
      doc: 'Conditions that a device meets besides those of its class. At most 32.',
    }),
    allocationMode: field(ref('resource/v1.DeviceAllocationMode'), 3, {
      declaredSince: 36,
      doc: 'ExactCount (the default) or All, the matching devices of a pool.',
    }),
    count: field(int64(), 4, 'Number of devices for ExactCount. Default: 1.'),
    adminAccess: pointer(boolean(), 5, {
      featureGate: 'DRAAdminAccess',
      doc: 'The devices are for administration and may be in use by others. Needs a label of the namespace.',
    }),
    tolerations: atomic(list(ref('resource/v1.DeviceToleration')), 6, {
      featureGate: 'DRADeviceTaints',
      doc: 'Taints of devices that the request tolerates.',
    }),
    capacity: pointer(ref('resource/v1.CapacityRequirements'), 7, {
      ...gated('DRAConsumableCapacity'),
      doc: 'Amounts of capacities that each device provides.',
    }),
    derivedAttributes: atomic(list(ref('resource/v1.DeviceDerivedAttribute')), 8, {
      ...gated('DRADerivedAttributes'),
      doc: 'Attributes that are computed for constraints. At most 32.',
    }),
  }
}
