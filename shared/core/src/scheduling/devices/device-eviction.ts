import { jsonEqual } from '../../json/index.ts'
import type { ResourceClaim } from '../../workloads/device-claims.ts'
import { type AllocatedDevice, type Device, type ResourceSlice, toleratesTaint } from './objects.ts'
import { type DeviceTaintRule, selectsDevice } from './taint-rules.ts'

type Taint = NonNullable<Device['taints']>[number]

/** The eviction of Pods that use a device with a taint NoExecute. */
export interface DeviceEviction {
  readonly atMs: number
  /** The rules that cause it. */
  readonly rules: readonly DeviceTaintRule[]
}

/** The tainted devices of one slice. */
interface SliceTaints {
  readonly generation: number
  readonly taints: ReadonlyMap<string, readonly Taint[]>
}

interface PoolTaints {
  readonly slices: Map<string, SliceTaints>
  /** The number of slices with taints. */
  tainted: number
  /** The taints of the newest generation, by device. */
  taints: ReadonlyMap<string, readonly Taint[]>
}

/** The taints NoExecute in slices, by pool. Slices of an older generation do not count. */
export class EvictingDevices {
  readonly #pools = new Map<string, PoolTaints>()

  /** Takes a new, changed or deleted slice. Returns the keys of devices whose taints have changed. */
  apply({
    before,
    after,
  }: {
    readonly before?: ResourceSlice | undefined
    readonly after?: ResourceSlice | undefined
  }): ReadonlySet<string> {
    const changed = new Set<string>()
    const name = (after ?? before)?.metadata.name ?? ''
    for (const key of new Set([before, after].flatMap((slice) => (slice === undefined ? [] : poolOf(slice))))) {
      const pool = this.#pools.get(key) ?? { slices: new Map(), tainted: 0, taints: new Map() }
      const [known, next] = [pool.slices.get(name), after !== undefined && poolOf(after) === key ? taintsOf(after) : undefined]
      if (next === undefined) pool.slices.delete(name)
      else pool.slices.set(name, next)
      if (pool.slices.size > 0) this.#pools.set(key, pool)
      else this.#pools.delete(key)
      const mayDiffer = pool.tainted > 0 || isTainted(next)
      pool.tainted += Number(isTainted(next)) - Number(isTainted(known))
      // Most pools have no taints, and a pool may have a thousand slices.
      if (!mayDiffer) continue
      const old = pool.taints
      const newest = Math.max(...[...pool.slices.values()].map(({ generation }) => generation))
      pool.taints = new Map(
        [...pool.slices.values()].filter(({ generation }) => generation === newest).flatMap(({ taints }) => [...taints]),
      )
      for (const device of new Set([...old.keys(), ...pool.taints.keys()])) {
        if (!jsonEqual(old.get(device), pool.taints.get(device))) changed.add(`${key}/${device}`)
      }
    }
    return changed
  }

  /** The taints of an allocated device. */
  of({ driver, pool, device }: AllocatedDevice): readonly Taint[] {
    return this.#pools.get(`${driver}/${pool}`)?.taints.get(device) ?? []
  }
}

function isTainted(slice: SliceTaints | undefined): boolean {
  return slice !== undefined && slice.taints.size > 0
}

function poolOf({ spec: { driver, pool } }: ResourceSlice): string {
  return `${driver}/${pool.name}`
}

function taintsOf({ spec: { pool, devices } }: ResourceSlice): SliceTaints {
  const tainted = (devices ?? []).flatMap(({ name, taints }): [string, readonly Taint[]][] => {
    const evicting = (taints ?? []).filter(({ effect }) => effect === 'NoExecute')
    return evicting.length === 0 ? [] : [[name, evicting]]
  })
  return { generation: Number(pool.generation), taints: new Map(tainted) }
}

/**
 * The eviction of the users of a claim, by its earliest untolerated taint. Undefined if they may stay.
 *
 *   taint added at 10:00, toleration for 60 s    10:01
 *   taint added at 10:00, toleration             undefined
 */
export function evictionOf(
  { status }: Pick<ResourceClaim, 'status'>,
  devices: Pick<EvictingDevices, 'of'>,
  rules: readonly DeviceTaintRule[],
): DeviceEviction | undefined {
  const causes = (status?.allocation?.devices?.results ?? []).flatMap((result) => {
    const ofRules = rules.filter((rule) => selectsDevice(rule, result)).map((rule) => ({ taint: rule.spec.taint, rule }))
    const taints = [...devices.of(result).map((taint) => ({ taint, rule: undefined })), ...ofRules]
    return taints.flatMap(({ taint, rule }) => {
      const atMs = leavingMs(taint, result)
      return atMs === undefined ? [] : [{ atMs, rule }]
    })
  })
  if (causes.length === 0) return undefined
  return { atMs: Math.min(...causes.map(({ atMs }) => atMs)), rules: [...new Set(causes.flatMap(({ rule }) => rule ?? []))] }
}

/** The time until which a device may be used beside a taint; undefined for ever. */
function leavingMs(taint: Pick<Taint, 'key' | 'value' | 'timeAdded'>, { tolerations }: AllocatedDevice): number | undefined {
  const used = (tolerations ?? []).filter((one) => one.effect === 'NoExecute' && toleratesTaint(one, { ...taint, effect: 'NoExecute' }))
  if (used.some(({ tolerationSeconds }) => tolerationSeconds == null)) return undefined
  const seconds = used.map(({ tolerationSeconds }) => Math.max(0, Number(tolerationSeconds)))
  return Date.parse(taint.timeAdded ?? '') + (seconds.length === 0 ? 0 : Math.min(...seconds)) * 1000
}
