import { isJsonObject } from '@orch/core/json'
import type { BuiltIn, MutableBuiltIn } from '@orch/core/schema'
import type { RulesOf } from './kind-rules.ts'

type Device = Pick<BuiltIn<'resource/v1.AllocatedDeviceStatus'>, 'driver' | 'pool' | 'device' | 'shareID'>

/** The status of a device is removed with its allocation. */
export const resourceClaimStrategy: RulesOf<'resource/v1.ResourceClaim'> = {
  isForDevices: true,
  completeUpdate(claim, live, { subresource }) {
    const devices = claim.status?.devices
    if (subresource !== 'status' || devices == null) return
    const [after, before] = [claim, live].map(({ status }) => new Set((status?.allocation?.devices?.results ?? []).map(keyOf)))
    const kept = devices.filter((device) => after?.has(keyOf(device)) === true || before?.has(keyOf(device)) !== true)
    if (kept.length === devices.length) return
    const { devices: _all, ...status } = claim.status ?? {}
    claim.status = kept.length === 0 ? status : { ...status, devices: kept }
  },
}

function keyOf({ driver, pool, device, shareID }: Device): string {
  return JSON.stringify([driver, pool, device, shareID ?? ''])
}

/** A taint has the time since which it exists. */
export const resourceSliceStrategy: RulesOf<'resource/v1.ResourceSlice'> = {
  fillTimes(slice, now) {
    const { devices } = slice.spec
    const timed = devices?.map((device) => timeDevice(device, now))
    if (timed?.some((device, index) => device !== devices?.[index]) === true) slice.spec = { ...slice.spec, devices: timed }
  },
}

/** A device with the times of its taints; the same object if none is missing. v1beta1 has the taints in a separate member. */
function timeDevice<D extends object>(device: D, now: string): D {
  const basic: unknown = 'basic' in device ? device.basic : undefined
  if (isJsonObject(basic)) {
    const timed = timeDevice(basic, now)
    return timed === basic ? device : { ...device, basic: timed }
  }
  const taints: unknown = 'taints' in device ? device.taints : undefined
  if (!Array.isArray(taints) || !taints.some(isUntimed)) return device
  return { ...device, taints: taints.map((taint: Taint) => timeTaint(taint, now)) }
}

/** A taint with another effect counts as new. */
export const deviceTaintRuleStrategy: RulesOf<'resource/v1.DeviceTaintRule'> = {
  prepareUpdate(rule, live) {
    const [taint, before] = [rule.spec.taint, live.spec.taint]
    if (taint === undefined || taint.effect === before?.effect || taint.timeAdded !== before?.timeAdded) return
    const { timeAdded: _before, ...untimed } = taint
    rule.spec = { ...rule.spec, taint: untimed }
  },
  fillTimes(rule, now) {
    const { taint } = rule.spec
    if (taint !== undefined && isUntimed(taint)) rule.spec = { ...rule.spec, taint: timeTaint(taint, now) }
  },
}

type Taint = NonNullable<MutableBuiltIn<'resource/v1.DeviceTaintRule'>['spec']['taint']>

function isUntimed({ timeAdded }: Pick<Taint, 'timeAdded'>): boolean {
  return timeAdded === undefined || timeAdded === null
}

function timeTaint<T extends Taint>(taint: T, now: string): T {
  return isUntimed(taint) ? { ...taint, timeAdded: now } : taint
}
