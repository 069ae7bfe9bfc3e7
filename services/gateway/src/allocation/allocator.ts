import { invalid } from '@orch/core/meta'
import { invalidTexts } from '@orch/core/validation'
import {
  addressAt,
  type Cidr,
  declareMetrics,
  isUsable,
  type Metrics,
  type MetricsOf,
  type MetricTable,
  type PortRange,
  usualAddress,
} from '@orch/platform'
import type { Reservation } from '../write/draft.ts'
import { inOrder } from '../write/prepare.ts'
import type { Reserver } from '../write/reservation.ts'
import { Claim, type Pool, refused, type Subject } from './claim.ts'
import { familiesOf } from './ip-families.ts'
import { claimPorts } from './node-ports.ts'
import { addressPrefix, heldKeys, ReservedKeys, type ReservedKeysOptions, type ServiceSpec, specOf } from './reserved-keys.ts'

/** Gives Services their addresses and ports, so that no two have the same. */
export interface Allocator extends Reserver {
  close(): void
}

export interface AllocatorOptions extends ReservedKeysOptions {
  readonly clusterIpRange: Cidr
  /** Addresses at the beginning of the range are left to Services that name theirs, as long as there are others. */
  readonly keepsStaticAddresses: boolean
  readonly nodePortRange: PortRange
  readonly metrics: Metrics
  /** Minor number of the release whose texts refusals have. */
  readonly level: number
}

/** Metrics by the range and by whether the Service names its address (`static`) or is given one (`dynamic`). */
const table = {
  kube_apiserver_clusterip_allocator_allocation_total: {
    type: 'counter',
    help: '[ALPHA] Addresses that Services were given.',
    labels: ['cidr', 'scope'],
  },
  kube_apiserver_clusterip_allocator_allocation_errors_total: {
    type: 'counter',
    help: '[ALPHA] Services that were not given an address.',
    labels: ['cidr', 'scope'],
  },
  // Each thread looks at the same addresses.
  kube_apiserver_clusterip_allocator_allocated_ips: {
    type: 'gauge',
    help: '[ALPHA] Addresses that are taken.',
    labels: ['cidr'],
    together: 'largest',
  },
  kube_apiserver_clusterip_allocator_available_ips: {
    type: 'gauge',
    help: '[ALPHA] Addresses that are free.',
    labels: ['cidr'],
    together: 'largest',
  },
} as const satisfies MetricTable

/** The gate `ServiceIPStaticSubrange` (KEP-3070): this part of the range, with this least and largest number of addresses. */
const staticPart = { share: 1 / 16, min: 16, max: 256 }

/** One address or port is one key, made before the Service with the Service's uid in it. */
export function createAllocator(options: AllocatorOptions): Allocator {
  const range = options.clusterIpRange
  const keys = new ReservedKeys(options)
  const addresses: Pool = {
    prefix: addressPrefix,
    nameAt: (index) => addressAt(range, index + 1),
    size: sizeOf(range),
    staticSize: options.keepsStaticAddresses ? staticSizeOf(range) : 0,
  }
  const counting =
    (value: (taken: number) => number) => async (gauge: { reset(): void; set(labels: { cidr: string }, value: number): void }) => {
      gauge.reset()
      // Without storage there is no number, and the other metrics are shown all the same.
      const taken = await keys.namesBelow(addressPrefix).catch(() => undefined)
      if (taken !== undefined) gauge.set({ cidr: range.text }, value(taken.size))
    }
  const counted = declareMetrics(options.metrics, table, {
    kube_apiserver_clusterip_allocator_allocated_ips: counting((taken) => taken),
    kube_apiserver_clusterip_allocator_available_ips: counting((taken) => addresses.size - taken),
  })
  return {
    reserve: (draft) => reserveForService({ keys, range, addresses, ports: options.nodePortRange, level: options.level, draft, counted }),
    release: (object) => keys.freeAll(heldKeys(specOf(object)), object.metadata.uid ?? ''),
    close: () => keys.close(),
  }
}

interface ServiceReservation {
  readonly keys: ReservedKeys
  readonly range: Cidr
  readonly addresses: Pool
  readonly ports: PortRange
  readonly level: number
  readonly draft: Parameters<Reserver['reserve']>[0]
  readonly counted: MetricsOf<typeof table>
}

async function reserveForService(reservation: ServiceReservation): Promise<Reservation> {
  const { keys, ports, level, draft } = reservation
  const { object, live, write } = draft
  const { isDryRun } = write.options
  const { served } = write.target
  const { uid = '', name = '' } = object.metadata
  const before = live === undefined ? {} : specOf(live.object)
  const claim = new Claim({ keys, uid, isDryRun, own: heldKeys(before) })
  try {
    const spec = { ...specOf(object) }
    const subject = { served, name, level }
    await claimAddress(claim, reservation, { spec, before, subject, isDryRun })
    await claimPorts(claim, { range: ports, spec, before, isNew: live === undefined, subject })
    const freed = heldKeys(before).filter((key) => !heldKeys(spec).includes(key))
    return {
      object: inOrder(served.resource, { ...object, spec }),
      settle: () => keys.freeAll(isDryRun ? [] : freed, uid),
      release: () => keys.freeAll(claim.taken, uid),
    }
  } catch (error) {
    await keys.freeAll(claim.taken, uid)
    throw error
  }
}

interface AddressClaim {
  /** The address is written into it. */
  readonly spec: { -readonly [K in keyof ServiceSpec]: ServiceSpec[K] }
  readonly before: ServiceSpec
  readonly subject: Subject
  readonly isDryRun: boolean
}

async function claimAddress(
  claim: Claim,
  { range, addresses, counted }: ServiceReservation,
  { spec, before, subject, isDryRun }: AddressClaim,
): Promise<void> {
  if (spec.type === 'ExternalName') {
    delete spec.clusterIP
    delete spec.clusterIPs
    return
  }
  const wanted = spec.clusterIP || spec.clusterIPs?.[0] || (before.type === 'ExternalName' ? '' : (before.clusterIP ?? ''))
  const clusterIPs = spec.clusterIPs?.length ? spec.clusterIPs : [wanted].filter((address) => address !== '')
  const own = range.family === 4 ? 'IPv4' : 'IPv6'
  const { errors, ipFamilies, ipFamilyPolicy } = familiesOf({ ...spec, clusterIP: wanted, clusterIPs }, before, own)
  if (errors.length > 0) throw invalid(subject.served.kind, subject.name, errors, subject.level)
  const claimed = () => (wanted === '' ? claim.any(addresses) : claimOne(claim, range, { wanted, subject }))
  const isCounted = !isDryRun && wanted !== before.clusterIP
  const labels = { cidr: range.text, scope: wanted === '' ? 'dynamic' : 'static' }
  let address = wanted
  try {
    if (wanted !== 'None') address = await claimed()
  } catch (error) {
    if (isCounted) counted.kube_apiserver_clusterip_allocator_allocation_errors_total.inc(labels)
    throw error
  }
  if (isCounted && wanted !== 'None') counted.kube_apiserver_clusterip_allocator_allocation_total.inc(labels)
  Object.assign(spec, { clusterIP: address, clusterIPs: [address], ipFamilies, ipFamilyPolicy })
}

async function claimOne(claim: Claim, range: Cidr, { wanted, subject }: { wanted: string; subject: Subject }): Promise<string> {
  const problem = isUsable(range, wanted) ? await claim.one(addressPrefix, usualAddress(wanted)) : 'not in the valid range'
  if (problem === undefined) return wanted
  const text =
    problem === 'taken'
      ? 'provided IP is already allocated'
      : `the provided IP (${wanted}) is not in the valid range. The range of valid IPs is ${range.text}`
  const { field, message } = invalidTexts('spec.clusterIPs', [wanted], `failed to allocate IP ${wanted}: ${text}`)
  throw refused(subject, field, message)
}

function sizeOf({ bits, family }: Cidr): number {
  return Math.min(2 ** ((family === 4 ? 32 : 128) - bits) - 2, 2 ** 20)
}

/** A range of no more addresses than the least such part has none. */
function staticSizeOf({ bits, family }: Cidr): number {
  const { share, min, max } = staticPart
  const all = 2 ** ((family === 4 ? 32 : 128) - bits)
  return all <= min ? 0 : Math.min(Math.max(Math.floor(all * share), min), max)
}
