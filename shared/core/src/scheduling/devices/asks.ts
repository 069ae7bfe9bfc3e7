import type { ResourceClaim } from '../../workloads/device-claims.ts'
import type { NamedRequest } from './constraints.ts'
import type { DeviceClass, DeviceRequest, Selectors, Tolerations } from './objects.ts'

/** A device request, or one of its alternatives. */
export interface Ask extends NamedRequest {
  readonly claim: ResourceClaim
  readonly deviceClass: DeviceClass
  readonly selectors: Selectors
  readonly tolerations: Tolerations
  /** Undefined for all matching devices. */
  readonly count: number | undefined
  readonly isForAdmin: boolean
  /** Requested amounts of capacities by name. */
  readonly amounts: Readonly<Record<string, string>>
}

/** The alternatives of a request in order of preference, or the request itself. */
export function asksOf(claim: ResourceClaim, request: DeviceRequest, classOf: (name: string) => DeviceClass | undefined): Ask[] {
  const { name, exactly, firstAvailable = [] } = request
  const alternatives = exactly == null ? firstAvailable.map((one) => ({ ...one, name: `${name}/${one.name}` })) : [{ ...exactly, name }]
  return alternatives.flatMap((one) => {
    const { selectors = [], tolerations = [], allocationMode, count = 1, capacity } = one
    const deviceClass = classOf(one.deviceClassName)
    if (deviceClass === undefined) return []
    return [
      {
        base: name,
        name: one.name,
        claim,
        deviceClass,
        selectors,
        tolerations,
        count: allocationMode === 'All' ? undefined : count,
        isForAdmin: 'adminAccess' in one && one.adminAccess === true,
        amounts: capacity?.requests ?? {},
      },
    ]
  })
}

/** `namespace/name` of the claim. */
export function claimText({ claim: { metadata } }: Pick<Ask, 'claim'>): string {
  return `${metadata.namespace}/${metadata.name}`
}
