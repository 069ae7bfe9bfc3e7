import type { BuiltIn } from '../../schema/built-in.ts'
import type { ResourceClaim } from '../../workloads/device-claims.ts'

export type ResourceSlice = BuiltIn<'resource/v1.ResourceSlice'>
export type DeviceClass = BuiltIn<'resource/v1.DeviceClass'>
export type Device = BuiltIn<'resource/v1.Device'>
export type Allocation = BuiltIn<'resource/v1.AllocationResult'>
export type AllocatedDevice = BuiltIn<'resource/v1.DeviceRequestAllocationResult'>
export type DeviceRequest = NonNullable<NonNullable<NonNullable<ResourceClaim['spec']>['devices']>['requests']>[number]
export type Selectors = NonNullable<NonNullable<DeviceRequest['exactly']>['selectors']>
export type Tolerations = NonNullable<NonNullable<DeviceRequest['exactly']>['tolerations']>

export interface PooledDevice {
  readonly driver: string
  readonly pool: string
  readonly device: Device
  /** The slice that contains it. */
  readonly slice: ResourceSlice
  /** Its place in the slice. */
  readonly at: number
  /** `driver/pool/device`. */
  readonly key: string
}

/** The names that identify a device. */
export type DevicePlace = Pick<AllocatedDevice, 'driver' | 'pool' | 'device'>

export function deviceKey({ driver, pool, device }: DevicePlace): string {
  return `${driver}/${pool}/${device}`
}

/** True if a toleration covers a taint of a device. */
export function toleratesTaint(
  { effect, key, operator, value = '' }: Tolerations[number],
  taint: Pick<NonNullable<Device['taints']>[number], 'effect' | 'key' | 'value'>,
): boolean {
  if ((effect && effect !== taint.effect) || (key && key !== taint.key)) return false
  return operator === 'Exists' || value === (taint.value ?? '')
}

/** Feature gates of allocation. */
export interface DeviceRules {
  /** True if devices may share counters, and select their nodes themselves. */
  readonly hasPartitions: boolean
  readonly hasTaints: boolean
  /** DeviceTaintRules add taints. */
  readonly hasTaintRules: boolean
  /** True if several claims may share a device and consume parts of its capacities. */
  readonly hasSharing: boolean
  readonly hasLists: boolean
  /** True if allocations have a timestamp, and drivers may prepare devices before a Pod is bound. */
  readonly hasBindingConditions: boolean
  /** True if devices provide extended resources that a class names. */
  readonly hasExtendedResources: boolean
  /** The annotation of claims for extended resources. */
  readonly extendedClaim: string
  /** The prefix of the extended resource that each class provides. */
  readonly classPrefix: string
  /** The API version of claims. */
  readonly claimVersion: string
  readonly level: number
}
