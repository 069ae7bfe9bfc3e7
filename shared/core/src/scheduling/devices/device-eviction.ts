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
type SliceTaints = ReturnType<typeof taintsOf>

interface PoolTaints {
  readonly slices: Map<string, SliceTaints>
  /** The numbers of slices, by generation. */
  readonly generations: Map<number, number>
  newest: number
  /** The taints of the newest generation, by device. */
  taints: Map<string, readonly Taint[]>
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
      const pool = this.#pools.get(key) ?? {
        slices: new Map(),
        generations: new Map(),
        newest: Number.NEGATIVE_INFINITY,
        taints: new Map(),
      }
      const [known, next] = [pool.slices.get(name), after !== undefined && poolOf(after) === key ? taintsOf(after) : undefined]
      if (next === undefined) pool.slices.delete(name)
      else pool.slices.set(name, next)
      if (pool.slices.size > 0) this.#pools.set(key, pool)
      else this.#pools.delete(key)
      const { gone, come } = exchange(pool, known, next)
      for (const [device, taints] of gone) {
        if (pool.taints.get(device) === taints) pool.taints.delete(device)
        if (!jsonEqual(taints, come.get(device))) changed.add(`${key}/${device}`)
      }
      for (const [device, taints] of come) {
        pool.taints.set(device, taints)
        if (!gone.has(device)) changed.add(`${key}/${device}`)
      }
    }
    return changed
  }

  of({ driver, pool, device }: AllocatedDevice): readonly Taint[] {
    return this.#pools.get(`${driver}/${pool}`)?.taints.get(device) ?? []
  }
}

/** The taints that a slice has lost and got; those of all slices if another generation is the newest. A pool may have a thousand slices. */
function exchange(pool: PoolTaints, known: SliceTaints | undefined, next: SliceTaints | undefined) {
  const { generations, slices, newest, taints } = pool
  if (known !== undefined) {
    const left = (generations.get(known.generation) ?? 0) - 1
    if (left > 0) generations.set(known.generation, left)
    else generations.delete(known.generation)
  }
  if (next !== undefined) generations.set(next.generation, (generations.get(next.generation) ?? 0) + 1)
  pool.newest = Math.max(...generations.keys())
  const taintsIn = (slice: SliceTaints | undefined) =>
    slice?.generation === pool.newest ? slice.taints : new Map<string, readonly Taint[]>()
  if (pool.newest === newest) return { gone: taintsIn(known), come: taintsIn(next) }
  pool.taints = new Map()
  return { gone: taints, come: new Map([...slices.values()].flatMap((slice) => [...taintsIn(slice)])) }
}

function poolOf({ spec: { driver, pool } }: ResourceSlice): string {
  return `${driver}/${pool.name}`
}

function taintsOf({ spec: { pool, devices } }: ResourceSlice) {
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
