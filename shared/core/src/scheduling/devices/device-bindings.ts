import type { ResourceClaim } from '../../workloads/device-claims.ts'
import { type Allocation, deviceKey } from './objects.ts'

/** The state of the binding conditions of a claim's devices, which their drivers report in the status. */
export type DeviceBinding =
  | { readonly kind: 'ready' }
  | { readonly kind: 'waiting' }
  /** A driver has reported a failure condition. */
  | { readonly kind: 'failed'; readonly message: string }

/** True if a driver prepares a device of the allocation before its Pod is bound. */
export function hasBindingConditions(allocation: Allocation | null | undefined): boolean {
  return allocation?.devices?.results?.some(({ bindingConditions = [] }) => bindingConditions.length > 0) === true
}

/** The first device that is not ready decides. */
export function deviceBindingOf({ metadata, status }: ResourceClaim): DeviceBinding {
  if (status?.allocation == null) return { kind: 'waiting' }
  for (const result of status.allocation.devices?.results ?? []) {
    const { bindingConditions = [], bindingFailureConditions = [], shareID } = result
    if (bindingConditions.length === 0) continue
    const device = status.devices?.find((one) => deviceKey(one) === deviceKey(result) && (one.shareID ?? '') === (shareID ?? ''))
    if (device === undefined) return { kind: 'waiting' }
    const isTrue = (type: string) => device.conditions?.find((one) => one.type === type && one.status === 'True')
    for (const type of bindingFailureConditions) {
      const found = isTrue(type)
      if (found === undefined) continue
      const { reason, message } = found
      return { kind: 'failed', message: `claim=${metadata.name}, reason=${reason}, message=${JSON.stringify(message)}` }
    }
    if (!bindingConditions.every(isTrue)) return { kind: 'waiting' }
  }
  return { kind: 'ready' }
}
