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
  readonly slices: ReadonlyMap<string, SliceTaints>
  /** The taints of the newest generation, by device. */
  readonly taints: ReadonlyMap<string, readonly Taint[]>
}

const untainted: PoolTaints = { slices: new Map(), taints: new Map() }

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
    for (const pool of new Set([before, after].flatMap((slice) => (slice === undefined ? [] : poolOf(slice))))) {
      const { slices: known, taints: old } = this.#pools.get(pool) ?? untainted
      const slices = new Map(known)
      slices.delete(name)
      if (after !== undefined && poolOf(after) === pool) slices.set(name, taintsOf(after))
      const newest = Math.max(...[...slices.values()].map(({ generation }) => generation))
      const current = [...slices.values()].filter(({ generation }) => generation === newest)
      const taints = new Map(current.flatMap((slice) => [...slice.taints]))
      if (slices.size > 0) this.#pools.set(pool, { slices, taints })
      else this.#pools.delete(pool)
      for (const device of new Set([...old.keys(), ...taints.keys()])) {
        if (!jsonEqual(old.get(device), taints.get(device))) changed.add(`${pool}/${device}`)
      }
    }
    return changed
  }

  /** The taints of an allocated device. */
  of({ driver, pool, device }: AllocatedDevice): readonly Taint[] {
    return this.#pools.get(`${driver}/${pool}`)?.taints.get(device) ?? []
  }
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
