import { getOrMake } from '@orch/cel/memo'
import { compareTexts } from '../../json/member.ts'
import { memo } from '../../memo.ts'
import { compileNodeSelector, type SelectedNode } from '../../placement/node-selector.ts'
import { type DevicePlace, type DeviceRules, deviceKey, type PooledDevice, type ResourceSlice } from './objects.ts'

/** A device pool at its latest generation. */
export interface DevicePool {
  /** `driver/pool`. */
  readonly key: string
  readonly slices: readonly ResourceSlice[]
  readonly devices: readonly PooledDevice[]
  /** True if slices are missing because the driver has not written them yet. Such a pool is not used. */
  readonly isIncomplete: boolean
  /** True if two devices have the same name, or a device consumes a missing counter. */
  readonly isInvalid: boolean
  /** Every node can use all devices. */
  readonly isOfAllNodes: boolean
  /** True if a driver prepares some of the devices before a Pod is bound. */
  readonly isPrepared: boolean
}

/** A pool, with the devices that a node can use. */
export interface PoolOfNode {
  readonly pool: DevicePool
  readonly devices: readonly PooledDevice[]
}

type Reach = Pick<ResourceSlice['spec'], 'nodeName' | 'allNodes' | 'nodeSelector'>

/** The pools of a cluster by node, since most devices are local to one. */
export class DevicePools {
  /** Keys of pools whose devices are all local to one node, by node name. */
  readonly #local = new Map<string, string[]>()
  readonly #shared: string[] = []
  readonly #slices: ReadonlyMap<string, readonly ResourceSlice[]>
  readonly #pools = new Map<string, DevicePool>()
  readonly #selectors = new Map<object, (node: SelectedNode) => boolean>()

  constructor(slices: Iterable<ResourceSlice>, rules: DeviceRules) {
    this.#slices = presentSlices(slices, rules)
    for (const [key, group] of this.#slices) {
      const names = new Set(group.map(({ spec }) => spec.nodeName || undefined))
      const [only] = names
      if (names.size !== 1 || only === undefined) this.#shared.push(key)
      else this.#local.set(only, [...(this.#local.get(only) ?? []), key])
    }
  }

  /** The pools with devices that a node can use, sorted by name. Pools with devices that drivers prepare come last. */
  of(node: SelectedNode): PoolOfNode[] {
    const found: PoolOfNode[] = []
    for (const key of [...(this.#local.get(node.name) ?? []), ...this.#shared]) {
      const pool = this.#poolOf(key)
      const devices = pool.isOfAllNodes
        ? pool.devices
        : pool.devices.filter(({ slice, device }) => this.#reaches(slice.spec.perDeviceNodeSelection ? device : slice.spec, node))
      if (devices.length > 0) found.push({ pool, devices })
    }
    return found.sort((a, b) => Number(a.pool.isPrepared) - Number(b.pool.isPrepared) || compareTexts(a.pool.key, b.pool.key))
  }

  /** All pools, made one by one. */
  *all(): Generator<DevicePool> {
    for (const key of this.#slices.keys()) yield this.#poolOf(key)
  }

  #poolOf(key: string): DevicePool {
    return getOrMake(this.#pools, key, () => poolOf(key, this.#slices.get(key) ?? []))
  }

  #reaches({ nodeName, allNodes, nodeSelector }: Reach, node: SelectedNode): boolean {
    if (nodeName) return nodeName === node.name
    if (allNodes === true || nodeSelector == null) return allNodes === true
    const matches = getOrMake(this.#selectors, nodeSelector, () => compileNodeSelector(nodeSelector))
    return matches(node)
  }
}

/** Counts devices of slices, by the highest generation of each pool. */
export function countDevices(slices: Iterable<ResourceSlice>, isCounted: (device: DevicePlace) => boolean): number {
  let count = 0
  for (const group of presentSlices(slices, { hasPartitions: true }).values()) {
    for (const { spec } of group) {
      for (const { name } of spec.devices ?? []) if (isCounted({ driver: spec.driver, pool: spec.pool.name, device: name })) count++
    }
  }
  return count
}

/** The slices of each pool at its highest generation, sorted by name. */
function presentSlices(
  slices: Iterable<ResourceSlice>,
  rules: Pick<DeviceRules, 'hasPartitions'>,
): ReadonlyMap<string, readonly ResourceSlice[]> {
  const pools = new Map<string, ResourceSlice[]>()
  for (const slice of slices) {
    const { driver, pool, perDeviceNodeSelection, sharedCounters = [] } = slice.spec
    if (!rules.hasPartitions && (perDeviceNodeSelection || sharedCounters.length > 0)) continue
    const key = `${driver}/${pool.name}`
    const known = pools.get(key)
    const generation = known?.[0]?.spec.pool.generation ?? -1
    if (pool.generation > generation) pools.set(key, [slice])
    else if (pool.generation === generation) known?.push(slice)
  }
  for (const group of pools.values()) group.sort((a, b) => compareTexts(a.metadata.name ?? '', b.metadata.name ?? ''))
  return pools
}

function poolOf(key: string, slices: readonly ResourceSlice[]): DevicePool {
  const devices = slices.flatMap(devicesOf)
  const isIncomplete = slices.length !== slices[0]?.spec.pool.resourceSliceCount
  const counters = new Set(slices.flatMap(({ spec }) => (spec.sharedCounters ?? []).flatMap(namesOf)))
  const taken = devices.flatMap(({ device }) => (device.consumesCounters ?? []).flatMap((one) => namesOf({ ...one, name: one.counterSet })))
  const isInvalid = new Set(devices.map((one) => one.key)).size < devices.length || !taken.every((name) => counters.has(name))
  const isOfAllNodes = slices.every(({ spec }) => !spec.perDeviceNodeSelection && !spec.nodeName && spec.allNodes === true)
  const isPrepared = devices.some(({ device }) => (device.bindingConditions ?? []).length > 0)
  return { key, slices, devices, isIncomplete, isInvalid, isOfAllNodes, isPrepared }
}

/** `set/counter` for each counter of a set. */
function namesOf({ name, counters = {} }: { readonly name: string; readonly counters?: object | null }): string[] {
  return Object.keys(counters ?? {}).map((counter) => `${name}/${counter}`)
}

/** The devices of a slice. */
export const devicesOf = memo((slice: ResourceSlice): readonly PooledDevice[] => {
  const { driver, pool, devices } = slice.spec
  return (devices ?? []).map((device, at) => {
    const place = { driver, pool: pool.name }
    return { ...place, device, slice, at, key: deviceKey({ ...place, device: device.name }) }
  })
})
