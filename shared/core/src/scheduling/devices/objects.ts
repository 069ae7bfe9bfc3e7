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

/** A device of a pool. */
export interface PooledDevice {
  readonly driver: string
  readonly pool: string
  readonly device: Device
  /** The slice that lists it. */
  readonly slice: ResourceSlice
  /** `driver/pool/device`. */
  readonly key: string
}

export function deviceKey({ driver, pool, device }: Pick<AllocatedDevice, 'driver' | 'pool' | 'device'>): string {
  return `${driver}/${pool}/${device}`
}

/** Gates of the allocation. */
export interface DeviceRules {
  /** Devices may take from counters that they share, and say themselves from which nodes they can be used. */
  readonly hasPartitions: boolean
  readonly hasTaints: boolean
  /** Several claims may share a device, and take parts of its capacities. */
  readonly hasSharing: boolean
  readonly hasLists: boolean
  /** Allocations have the time of their making. */
  readonly hasAllocationTimes: boolean
  readonly level: number
}
