import { addQuantities, compareQuantities, printQuantity, type Quantity, subtractQuantities, zeroQuantity } from '../../meta/quantity.ts'
import type { SelectedNode } from '../../placement/node-selector.ts'
import type { ResourceClaim } from '../../workloads/device-claims.ts'
import { type Ask, asksOf, claimText } from './asks.ts'
import { type Amounts, addAmounts, consumptionOf, hasRoomFor, readAmount } from './capacity.ts'
import { Constraints } from './constraints.ts'
import { Matches } from './matches.ts'
import {
  type AllocatedDevice,
  type Device,
  type DeviceClass,
  type DeviceRules,
  deviceKey,
  type PooledDevice,
  type Tolerations,
  toleratesTaint,
} from './objects.ts'
import type { DevicePool, DevicePools, PoolOfNode } from './pools.ts'

/** Maximum number of devices per claim. */
const devicesMax = 32
/** Number of trials after which the search on a node ends; it takes some milliseconds. */
const trialsMax = 20_000

/** The devices in use, by key. */
export interface DevicesInUse {
  /** Devices that a single claim uses. */
  readonly whole: ReadonlySet<string>
  /** Used amounts of shared devices. */
  readonly shared: ReadonlyMap<string, Amounts>
}

/** The devices of allocated claims. Administrative access uses no device. */
export function devicesInUse(claims: Iterable<ResourceClaim>): DevicesInUse {
  const whole = new Set<string>()
  const shared = new Map<string, Amounts>()
  for (const { status } of claims) {
    for (const result of status?.allocation?.devices?.results ?? []) {
      const key = deviceKey(result)
      if (result.adminAccess === true) continue
      if (!result.shareID) whole.add(key)
      else {
        const amounts = new Map(Object.entries(result.consumedCapacity ?? {}).map(([name, text]) => [name, readAmount(text)]))
        shared.set(key, addAmounts(shared.get(key) ?? new Map(), amounts))
      }
    }
  }
  return { whole, shared }
}

/** A device for a request, with the amounts taken from a shared device. */
export interface Chosen {
  readonly ask: Ask
  readonly device: PooledDevice
  readonly amounts: Amounts | undefined
}

/** The input of a search on all nodes. */
export interface DeviceSearchInput {
  readonly claims: readonly ResourceClaim[]
  readonly pools: DevicePools
  readonly inUse: DevicesInUse
  readonly rules: DeviceRules
  classOf(name: string): DeviceClass | undefined
}

/** The devices of each claim, no solution (too few devices or invalid pools), or an error of a claim, class or pool. */
export type DeviceChoice =
  | { readonly kind: 'chosen'; readonly byClaim: readonly (readonly Chosen[])[] }
  | { readonly kind: 'none' | 'invalid' }
  | { readonly kind: 'fault'; readonly problem: string }

/**
 * Chooses devices of nodes for all claims of a Pod together. It takes the first solution in the order of pools, slices and devices, like
 * kube-scheduler, so the names of pools determine which devices are used first.
 */
export class DeviceSearch {
  readonly #input: PreparedInput

  constructor(input: DeviceSearchInput) {
    const { claims, rules, classOf } = input
    const asks = claims.map((claim) => (claim.spec?.devices?.requests ?? []).map((request) => asksOf(claim, request, classOf)))
    this.#input = { ...input, asks, matches: new Matches(rules) }
  }

  choose(node: SelectedNode): DeviceChoice {
    const search = new NodeSearch(this.#input, node)
    const outcome = search.start()
    if (search.problem !== undefined) return { kind: 'fault', problem: search.problem }
    return outcome === 'found' ? { kind: 'chosen', byClaim: search.chosen } : { kind: search.hasInvalidPools ? 'invalid' : 'none' }
  }
}

interface PreparedInput extends DeviceSearchInput {
  /** The alternatives of each request of each claim. */
  readonly asks: readonly (readonly (readonly Ask[])[])[]
  readonly matches: Matches
}

/** `tooMany`: a claim would exceed its maximum of devices. `stopped`: an error occurred. */
type Outcome = 'found' | 'none' | 'tooMany' | 'stopped'

/** The position of a request. */
interface Place {
  readonly claimAt: number
  readonly requestAt: number
  readonly ask: Ask
}

class NodeSearch {
  readonly #input: PreparedInput
  readonly #node: SelectedNode
  readonly #pools: readonly PoolOfNode[]
  /** The usable devices that an ask may get, by ask. */
  readonly #candidates = new Map<Ask, readonly PooledDevice[]>()
  readonly #constraints: readonly Constraints[]
  readonly #counters = new Map<string, Counters>()
  /** Claims that have chosen a device, by device key. */
  readonly #takers = new Map<string, number[]>()
  readonly #shares = new Map<string, Amounts>()
  readonly #whole = new Map<Ask, readonly PooledDevice[]>()
  readonly chosen: Chosen[][]
  problem: string | undefined
  #trials = 0

  constructor(input: PreparedInput, node: SelectedNode) {
    const { claims, pools } = input
    this.#input = input
    this.#node = node
    this.#pools = pools.of(node)
    this.#constraints = claims.map(({ spec }) => new Constraints(spec?.devices?.constraints ?? []))
    this.chosen = claims.map(() => [])
  }

  start(): Outcome {
    for (const requests of this.#input.asks) if (!this.#check(requests)) return 'stopped'
    return this.#tryRequest(0, 0)
  }

  get hasInvalidPools(): boolean {
    return this.#pools.some(({ pool }) => pool.isInvalid)
  }

  /** Finds devices for requests of all matching devices, and checks that the minimum number of devices of a claim does not exceed its maximum. */
  #check(requests: readonly (readonly Ask[])[]): boolean {
    let sum = 0
    for (const alternatives of requests) {
      for (const ask of alternatives) if (ask.count === undefined && !this.#findAll(ask)) return false
      const [ask] = alternatives
      const least = Math.min(...alternatives.map((one) => one.count ?? this.#whole.get(one)?.length ?? 0))
      if (ask !== undefined && least > devicesMax - sum) {
        const request = `claim ${claimText(ask)}, request ${ask.base}`
        this.problem = `${request}: adding ${least} devices exceeds the claim limit of ${devicesMax}, with ${sum} already accounted for`
        return false
      }
      sum += least
    }
    return true
  }

  /** Finds all devices of a request. A pool that is incomplete or invalid may have more. */
  #findAll(ask: Ask): boolean {
    const found: PooledDevice[] = []
    for (const { pool, devices } of this.#pools) {
      const { key, isIncomplete, isInvalid } = pool
      if (isIncomplete || isInvalid) {
        const state = isIncomplete ? 'currently being updated' : 'currently invalid'
        this.problem = `claim ${claimText(ask)}, request ${ask.name}: asks for all devices, but resource pool ${key} is ${state}`
        return false
      }
      for (const device of this.#input.matches.among(ask, devices)) {
        const isMatch = this.#isMatch(ask, device)
        if (this.problem !== undefined) return false
        if (!isMatch) continue
        if (this.#input.rules.hasSharing && consumptionOf(device.device, ask.amounts) === undefined) continue
        found.push(device)
      }
    }
    this.#whole.set(ask, found)
    return true
  }

  /** Chooses devices for a request and all following requests. */
  #tryRequest(claimAt: number, requestAt: number): Outcome {
    const requests = this.#input.asks[claimAt]
    if (requests === undefined) return 'found'
    const alternatives = requests[requestAt]
    if (alternatives === undefined) {
      const outcome = this.#tryRequest(claimAt + 1, 0)
      // Another alternative of this claim may leave enough devices for the next one.
      return outcome === 'tooMany' ? 'none' : outcome
    }
    let areAllTooMany = true
    for (const ask of alternatives) {
      const outcome = this.#tryDevices({ claimAt, requestAt, ask }, 0, 0)
      if (outcome === 'found' || outcome === 'stopped') return outcome
      areAllTooMany &&= outcome === 'tooMany'
    }
    return areAllTooMany && alternatives.length > 0 ? 'tooMany' : 'none'
  }

  /** Chooses the next device of a partly satisfied request. Only later devices are tried, since their order does not matter. */
  #tryDevices(place: Place, count: number, from: number): Outcome {
    const { claimAt, requestAt, ask } = place
    if (++this.#trials > trialsMax) {
      this.problem = `node ${this.#node.name}: timed out trying to allocate devices`
      return 'stopped'
    }
    const all = this.#whole.get(ask)
    const wanted = all?.length ?? ask.count ?? 0
    if (all?.length === 0) return 'none'
    if (count >= wanted) return this.#tryRequest(claimAt, requestAt + 1)
    if (wanted - count > devicesMax - (this.chosen[claimAt]?.length ?? 0)) return 'tooMany'
    const candidates = all ?? this.#candidatesOf(ask)
    // Without enough later devices none of them is a solution; the first is tried, as it may have an error.
    const end = all === undefined ? Math.max(from + 1, candidates.length - wanted + count + 1) : count + 1
    for (let at = all === undefined ? from : count; at < end; at++) {
      const device = candidates[at]
      if (device === undefined || !this.#isFree(place, device) || !this.#isMatch(ask, device)) {
        if (this.problem !== undefined) return 'stopped'
        continue
      }
      if (!this.#take(place, device)) continue
      const outcome = this.#tryDevices(place, count + 1, at + 1)
      if (outcome === 'found') return outcome
      this.#putBack(place, device)
      if (outcome !== 'none') return outcome
    }
    return 'none'
  }

  #candidatesOf(ask: Ask): readonly PooledDevice[] {
    const known = this.#candidates.get(ask)
    if (known !== undefined) return known
    const usable = this.#pools.filter(({ pool }) => !pool.isIncomplete && !pool.isInvalid)
    const lists = usable.map(({ devices }) => this.#input.matches.among(ask, devices))
    const [only] = lists
    const found = only !== undefined && lists.length === 1 ? only : lists.flat()
    this.#candidates.set(ask, found)
    return found
  }

  /** Administrative access may use a device that is in use, but not twice in one claim. */
  #isFree({ claimAt, ask }: Place, { key, device }: PooledDevice): boolean {
    const takers = this.#takers.get(key) ?? []
    if (ask.isForAdmin) return this.#isShared(device) || !takers.includes(claimAt)
    return takers.length === 0 && !this.#input.inUse.whole.has(key)
  }

  #isShared({ allowMultipleAllocations }: Device): boolean {
    return this.#input.rules.hasSharing && allowMultipleAllocations === true
  }

  #take(place: Place, device: PooledDevice): boolean {
    const { claimAt, ask } = place
    const { rules } = this.#input
    if (rules.hasTaints && !toleratesTaints(ask.tolerations, device.device)) return false
    const amounts = rules.hasSharing ? consumptionOf(device.device, ask.amounts) : new Map()
    if (amounts === undefined) return false
    const isShared = this.#isShared(device.device)
    const used = this.#usedOf(device)
    if (isShared && !hasRoomFor(device.device, amounts, used ?? new Map())) return false
    // A device that is already shared has already consumed its counters.
    const counters = isShared && used !== undefined ? undefined : this.#countersOf(device)
    if (counters?.take(device.device) === false) return false
    if (this.#constraints[claimAt]?.add(ask, device) === false) {
      counters?.putBack(device.device)
      return false
    }
    if (isShared) this.#shares.set(device.key, addAmounts(this.#shares.get(device.key) ?? new Map(), amounts))
    else this.#takers.set(device.key, [...(this.#takers.get(device.key) ?? []), claimAt])
    this.chosen[claimAt]?.push({ ask, device, amounts: isShared ? amounts : undefined })
    return true
  }

  #putBack({ claimAt, ask }: Place, device: PooledDevice): void {
    this.chosen[claimAt]?.pop()
    const left = this.chosen.flat().filter((one) => one.device.key === device.key)
    if (!this.#isShared(device.device)) this.#takers.get(device.key)?.pop()
    else if (left.length === 0) this.#shares.delete(device.key)
    else this.#shares.set(device.key, left.map(({ amounts }) => amounts ?? new Map()).reduce(addAmounts))
    this.#constraints[claimAt]?.remove(ask)
    const stillUsed = this.#isShared(device.device) && this.#usedOf(device) !== undefined
    if (!stillUsed) this.#countersOf(device)?.putBack(device.device)
  }

  /** The used amounts of a shared device; undefined if no claim shares it yet. */
  #usedOf({ key }: PooledDevice): Amounts | undefined {
    const [before, now] = [this.#input.inUse.shared.get(key), this.#shares.get(key)]
    return before && now ? addAmounts(before, now) : (before ?? now)
  }

  #countersOf({ driver, pool, device: { consumesCounters = [] } }: PooledDevice): Counters | undefined {
    if (consumesCounters.length === 0) return undefined
    const key = `${driver}/${pool}`
    const known = this.#counters.get(key)
    const found = this.#pools.find((one) => one.pool.key === key)
    if (known !== undefined || found === undefined) return known
    const { whole, shared } = this.#input.inUse
    const counters = new Counters(found.pool, (device) => whole.has(device) || shared.has(device))
    this.#counters.set(key, counters)
    return counters
  }

  #isMatch(ask: Ask, device: PooledDevice): boolean {
    const match = this.#input.matches.find(ask, device)
    if (typeof match === 'object') this.problem = match.problem
    return match === true
  }
}

function toleratesTaints(tolerations: Tolerations, { taints = [] }: Device): boolean {
  return taints.every((taint) => {
    if (taint.effect !== 'NoSchedule' && taint.effect !== 'NoExecute') return true
    return tolerations.some((toleration) => toleratesTaint(toleration, taint))
  })
}

/** The entry of a device in an allocation result. */
export function allocatedDevice({ ask, device, amounts }: Chosen, rules: DeviceRules, newShareId: () => string): AllocatedDevice {
  const { tolerations, isForAdmin, name } = ask
  const { bindingConditions = [], bindingFailureConditions = [] } = device.device
  const consumed = [...(amounts ?? [])].map(([capacity, amount]): [string, string] => [capacity, printQuantity(amount)])
  return {
    request: name,
    driver: device.driver,
    pool: device.pool,
    device: device.device.name,
    adminAccess: isForAdmin ? true : null,
    ...(rules.hasTaints && tolerations.length > 0 && { tolerations }),
    ...(rules.hasBindingConditions && bindingConditions.length > 0 && { bindingConditions, bindingFailureConditions }),
    ...(amounts && { shareID: newShareId() }),
    ...(consumed.length > 0 && { consumedCapacity: Object.fromEntries(consumed) }),
  }
}

/** The remaining amounts of the counters that a pool's devices share. */
class Counters {
  readonly #left = new Map<string, Quantity>()

  /** Devices in use have already consumed their amounts. */
  constructor({ slices, devices }: DevicePool, isInUse: (key: string) => boolean) {
    for (const { spec } of slices) {
      for (const { name: set, counters = {} } of spec.sharedCounters ?? []) {
        for (const [name, { value }] of Object.entries(counters)) this.#left.set(`${set}/${name}`, readAmount(value))
      }
    }
    for (const { device, key } of devices) if (isInUse(key)) this.#change(device, subtractQuantities)
  }

  /** Consumes a device's amounts. False, without a change, if too little remains. */
  take(device: Device): boolean {
    this.#change(device, subtractQuantities)
    if (partsOf(device).every(([counter]) => compareQuantities(this.#leftOf(counter), zeroQuantity) >= 0)) return true
    this.putBack(device)
    return false
  }

  putBack(device: Device): void {
    this.#change(device, addQuantities)
  }

  #change(device: Device, by: (left: Quantity, part: Quantity) => Quantity): void {
    for (const [counter, part] of partsOf(device)) this.#left.set(counter, by(this.#leftOf(counter), part))
  }

  #leftOf(counter: string): Quantity {
    return this.#left.get(counter) ?? zeroQuantity
  }
}

function partsOf({ consumesCounters = [] }: Device): (readonly [string, Quantity])[] {
  return consumesCounters.flatMap(({ counterSet, counters = {} }) =>
    Object.entries(counters).map(([name, { value }]) => [`${counterSet}/${name}`, readAmount(value)] as const),
  )
}
