import type { Resource } from '@orch/core/catalogue'
import { internal, invalid } from '@orch/core/meta'
import { invalidTexts, isSame } from '@orch/core/validation'
import {
  addressAt,
  type Cidr,
  type CidrPair,
  cidr,
  counter,
  declareMetrics,
  gauge,
  isUsable,
  type MetricsOf,
  type PortRange,
  usualAddress,
} from '@orch/platform'
import type { Surroundings } from '../surroundings.ts'
import type { Reservation } from '../write/draft.ts'
import { inOrder } from '../write/prepare.ts'
import type { Reserver } from '../write/reservation.ts'
import { Claim, type Pool, refused, type Subject } from './claim.ts'
import { familiesOf } from './ip-families.ts'
import { claimPorts, type PortClaim } from './node-ports.ts'
import { heldKeys, holderOf, ReservedKeys, type ReservedKeysOptions, type ServiceSpec, specOf } from './reserved-keys.ts'

/** Allocates unique addresses and ports to Services. */
export interface Allocator extends Reserver {
  close(): void
}

export interface AllocatorOptions extends ReservedKeysOptions, Pick<Surroundings, 'metrics' | 'level'> {
  readonly clusterIpRanges: CidrPair
  /** True to reserve the addresses at the beginning of the range for Services that request a specific one, as long as others are free. */
  readonly keepsStaticAddresses: boolean
  /** The same for node ports. */
  readonly keepsStaticPorts: boolean
  /** The kind ServiceCIDR; undefined if the level lacks it, and then only one range exists. */
  readonly rangeResource: Resource | undefined
  readonly nodePortRange: PortRange
}

/** Metrics by range, and by whether the Service requests its address (`static`) or not (`dynamic`). */
const table = {
  kube_apiserver_clusterip_allocator_allocation_total: counter('[ALPHA] Addresses that Services were given.', ['cidr', 'scope']),
  kube_apiserver_clusterip_allocator_allocation_errors_total: counter('[ALPHA] Services that were not given an address.', [
    'cidr',
    'scope',
  ]),
  // All threads share the same addresses.
  kube_apiserver_clusterip_allocator_allocated_ips: gauge('[ALPHA] Addresses that are taken.', ['cidr'], { together: 'largest' }),
  kube_apiserver_clusterip_allocator_available_ips: gauge('[ALPHA] Addresses that are free.', ['cidr'], { together: 'largest' }),
}

/** The part of a range for requested addresses or ports: its fraction, with its minimum and maximum number. */
interface StaticPart {
  readonly share: number
  readonly min: number
  readonly max: number
}

/** The gate `ServiceIPStaticSubrange` (KEP-3070). */
const staticAddresses: StaticPart = { share: 1 / 16, min: 16, max: 256 }
/** The gate `ServiceNodePortStaticSubrange` (KEP-3668). */
const staticPorts: StaticPart = { share: 1 / 32, min: 16, max: 128 }

/** One address or port is one key, created before the Service with the Service's uid in it. */
export function createAllocator(options: AllocatorOptions): Allocator {
  const keys = new ReservedKeys(options)
  const poolOf = (block: Cidr): Pool => ({
    prefix: keys.addressPrefix,
    nameAt: (index) => addressAt(block, index + 1),
    size: sizeOf(block),
    staticSize: options.keepsStaticAddresses ? staticSizeOf(2 ** ((block.family === 4 ? 32 : 128) - block.bits), staticAddresses) : 0,
  })
  const { nodePortRange, keepsStaticPorts } = options
  const portsAll = nodePortRange.last - nodePortRange.first + 1
  const ports = { ...nodePortRange, staticSize: keepsStaticPorts ? staticSizeOf(portsAll, staticPorts) : 0 }
  const ranges = new Map(
    options.clusterIpRanges.map((range) => {
      const family: string = range.family === 4 ? 'IPv4' : 'IPv6'
      return [family, new ServiceRanges({ keys, range, prefix: options.rangeResource?.stored.prefix })]
    }),
  )
  const counting =
    (value: (taken: number, range: Cidr) => number) =>
    async (gauge: { reset(): void; set(labels: { cidr: string }, value: number): void }) => {
      gauge.reset()
      // Without storage this number is omitted, and the other metrics are still shown.
      const taken = await keys.namesBelow(keys.addressPrefix).catch(() => undefined)
      if (taken === undefined) return
      for (const range of options.clusterIpRanges)
        gauge.set({ cidr: range.text }, value([...taken].filter((address) => isUsable(range, address)).length, range))
    }
  const counted = declareMetrics(options.metrics, table, {
    kube_apiserver_clusterip_allocator_allocated_ips: counting((taken) => taken),
    kube_apiserver_clusterip_allocator_available_ips: counting((taken, range) => sizeOf(range) - taken),
  })
  return {
    reserve: (draft) => reserveForService({ keys, ranges, poolOf, ports, level: options.level, draft, counted }),
    release: (object) => keys.freeAll(heldKeys(specOf(object), keys.addressPrefix), holderOf(object.metadata)),
    close: () => keys.close(),
  }
}

interface ServiceReservation {
  readonly keys: ReservedKeys
  /** By family, that of the server first. */
  readonly ranges: ReadonlyMap<string, ServiceRanges>
  readonly poolOf: (block: Cidr) => Pool
  readonly ports: PortClaim['range']
  readonly level: number
  readonly draft: Parameters<Reserver['reserve']>[0]
  readonly counted: MetricsOf<typeof table>
}

async function reserveForService(reservation: ServiceReservation): Promise<Reservation> {
  const { keys, ports, level, draft } = reservation
  const { object, live, write } = draft
  const { isDryRun } = write.options
  const { served } = write.target
  const { name = '' } = object.metadata
  const holder = holderOf(object.metadata)
  const before = live === undefined ? {} : specOf(live.object)
  const claim = new Claim({ keys, holder, isDryRun, own: heldKeys(before, keys.addressPrefix) })
  try {
    const spec = { ...specOf(object) }
    const subject = { served, name, level }
    await claimAddresses(claim, reservation, { spec, before, subject, isDryRun })
    await claimPorts(claim, { range: ports, spec, before, isNew: live === undefined, subject })
    const held = heldKeys(spec, keys.addressPrefix)
    const freed = heldKeys(before, keys.addressPrefix).filter((key) => !held.includes(key))
    return {
      object: inOrder(served.resource, { ...object, spec }),
      settle: () => keys.freeAll(isDryRun ? [] : freed, holder),
      release: () => keys.freeAll(claim.taken, holder),
    }
  } catch (error) {
    await keys.freeAll(claim.taken, holder)
    throw error
  }
}

interface AddressClaim {
  /** The addresses are written into this object. */
  readonly spec: { -readonly [K in keyof ServiceSpec]: ServiceSpec[K] }
  readonly before: ServiceSpec
  readonly subject: Subject
  readonly isDryRun: boolean
}

async function claimAddresses(claim: Claim, reservation: ServiceReservation, asked: AddressClaim): Promise<void> {
  const { spec, before, subject } = asked
  if (spec.type === 'ExternalName') {
    delete spec.clusterIP
    delete spec.clusterIPs
    return
  }
  if (keepsTwoFamilies(spec, before)) return
  const first = spec.clusterIP || spec.clusterIPs?.[0] || (before.type === 'ExternalName' ? '' : (before.clusterIP ?? ''))
  const given = spec.clusterIPs?.length ? spec.clusterIPs : [first].filter((address) => address !== '')
  const served = [...reservation.ranges.keys()]
  const { errors, clusterIPs, ipFamilies, ipFamilyPolicy } = familiesOf({ ...spec, clusterIP: first, clusterIPs: given }, before, served)
  if (errors.length > 0) throw invalid(subject.served.kind, subject.name, errors, subject.level)
  const wanted = ipFamilies.map((_family, index) => clusterIPs[index] ?? '')
  const addresses: string[] = []
  for (const [index, family] of first === 'None' ? [] : ipFamilies.entries()) {
    addresses.push(await claimAddress(claim, reservation, asked, { wanted, index, family }))
  }
  Object.assign(spec, {
    clusterIP: addresses[0] ?? first,
    clusterIPs: addresses.length > 0 ? addresses : [first],
    ipFamilies,
    ipFamilyPolicy,
  })
}

interface WantedAddress {
  /** The requested addresses of all families, '' for any. */
  readonly wanted: readonly string[]
  readonly index: number
  readonly family: string
}

/** The address of one family. */
async function claimAddress(
  claim: Claim,
  { ranges, poolOf, counted }: ServiceReservation,
  { before, subject, isDryRun }: AddressClaim,
  { wanted, index, family }: WantedAddress,
): Promise<string> {
  const ofFamily = ranges.get(family)
  if (ofFamily === undefined) throw internal(`no range has addresses of the family ${family}`)
  const address = wanted[index] ?? ''
  const labels = { cidr: ofFamily.range.text, scope: address === '' ? 'dynamic' : 'static' }
  const isCounted = !isDryRun && before.clusterIPs?.includes(address) !== true
  try {
    const claimed =
      address === '' ? await claim.anyOf(poolsOf(ofFamily, poolOf)) : await claimOne(claim, ofFamily, { wanted, address, subject })
    if (isCounted) counted.kube_apiserver_clusterip_allocator_allocation_total.inc(labels)
    return claimed
  } catch (error) {
    if (isCounted) counted.kube_apiserver_clusterip_allocator_allocation_errors_total.inc(labels)
    throw error
  }
}

/** True if a Service that prefers two families keeps its addresses. Their families may be those of another server. */
function keepsTwoFamilies(spec: ServiceSpec, before: ServiceSpec): boolean {
  const isPreferred = [spec, before].every(({ ipFamilyPolicy }) => ipFamilyPolicy === 'PreferDualStack')
  return isPreferred && (['type', 'clusterIPs', 'ipFamilies'] as const).every((name) => isSame(spec[name], before[name]))
}

async function* poolsOf(ranges: ServiceRanges, poolOf: (block: Cidr) => Pool): AsyncGenerator<Pool> {
  for (const block of await ranges.usable()) yield poolOf(block)
}

interface RequestedAddress extends Pick<WantedAddress, 'wanted'> {
  readonly address: string
  readonly subject: Subject
}

async function claimOne(claim: Claim, ranges: ServiceRanges, { wanted, address, subject }: RequestedAddress): Promise<string> {
  if (claim.holds(ranges.addressPrefix, usualAddress(address))) return address
  const place = await ranges.placeOf(address)
  const isTaken = place.kind === 'usable' && (await claim.one(ranges.addressPrefix, usualAddress(address))) === 'taken'
  if (place.kind === 'usable' && !isTaken) return address
  const text = place.kind === 'usable' ? 'provided IP is already allocated' : place.problem
  const { field, message } = invalidTexts('spec.clusterIPs', wanted, `failed to allocate IP ${address}: ${text}`)
  throw refused(subject, field, message)
}

function sizeOf({ bits, family }: Cidr): number {
  return Math.min(2 ** ((family === 4 ? 32 : 128) - bits) - 2, 2 ** 20)
}

/** The size of the static part. A range of at most the minimum has none. */
function staticSizeOf(all: number, { share, min, max }: StaticPart): number {
  return all <= min ? 0 : Math.min(Math.max(Math.floor(all * share), min), max)
}

/** The verdict of the ranges on a requested address. */
type AddressPlace = { readonly kind: 'usable' } | { readonly kind: 'outside'; readonly problem: string }

interface ServiceRangesOptions {
  readonly keys: Pick<ReservedKeys, 'addressPrefix' | 'objectsBelow'>
  /** The server's range in one family. */
  readonly range: Cidr
  /** Storage prefix of ServiceCIDRs; undefined if the own range is the only one. */
  readonly prefix: string | undefined
}

/** The address ranges of Services: the server's own, and those of ServiceCIDRs. */
class ServiceRanges {
  readonly range: Cidr
  readonly addressPrefix: string
  readonly #options: ServiceRangesOptions

  constructor(options: ServiceRangesOptions) {
    this.#options = options
    this.range = options.range
    this.addressPrefix = options.keys.addressPrefix
  }

  async placeOf(address: string): Promise<AddressPlace> {
    if ((await this.usable()).some((block) => isUsable(block, address))) return { kind: 'usable' }
    if (this.#options.prefix !== undefined) return { kind: 'outside', problem: 'the provided network does not match the current range' }
    const { text } = this.range
    return { kind: 'outside', problem: `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${text}` }
  }

  /** The server's own range first, unless every ServiceCIDR of it is inactive; then the active ranges of ServiceCIDRs in its family. */
  async usable(): Promise<readonly Cidr[]> {
    const { keys, prefix } = this.#options
    const { family, text: own } = this.range
    const objects = prefix === undefined ? [] : await keys.objectsBelow(prefix, 'networking/v1.ServiceCIDR')
    const parts = Map.groupBy(objects, ({ metadata, status }) => metadata.deletionTimestamp == null && isReady(status?.conditions ?? []))
    const [active = [], inactive = []] = [true, false].map((isActive) => {
      const blocks = (parts.get(isActive) ?? []).flatMap(({ spec }) => (spec?.cidrs ?? []).map(cidr.parse))
      return blocks.filter((block) => block !== undefined).filter((block) => block.family === family)
    })
    const isOwnUsed = active.some(({ text }) => text === own) || inactive.every(({ text }) => text !== own)
    return [...(isOwnUsed ? [this.range] : []), ...active.filter(({ text }) => text !== own)]
  }
}

/** A range without a ready condition may be used, since without a controller no range has one. */
function isReady(conditions: readonly { readonly type: string; readonly status: string }[]): boolean {
  return conditions.every(({ type, status }) => type !== 'Ready' || status === 'True')
}
