import type { BuiltIn } from '../../schema/built-in.ts'
import type { Device, ResourceSlice } from './objects.ts'

export type DeviceTaintRule = BuiltIn<'resource/v1.DeviceTaintRule'>

/**
 * Slices whose devices have the taints of rules besides those of their driver. A slice that no rule concerns is the same object.
 *
 *   rule { driver: gpu, device: a }, slice of gpu with devices a, b    a has one more taint
 *   rule without deviceSelector                                        no device; an empty selector: all devices
 */
export function withRuleTaints(slices: readonly ResourceSlice[], rules: readonly DeviceTaintRule[]): readonly ResourceSlice[] {
  if (rules.length === 0) return slices
  return slices.map((slice) => {
    const { driver, pool, devices } = slice.spec
    const concerned = rules.filter(({ spec: { deviceSelector: selector } }) => {
      if (selector == null) return false
      return (selector.driver ?? driver) === driver && (selector.pool ?? pool.name) === pool.name
    })
    if (concerned.length === 0) return slice
    const tainted = (devices ?? []).map((device): Device => {
      const added = concerned.filter(({ spec }) => (spec.deviceSelector?.device ?? device.name) === device.name)
      return added.length === 0 ? device : { ...device, taints: [...(device.taints ?? []), ...added.map(({ spec }) => spec.taint)] }
    })
    return { ...slice, spec: { ...slice.spec, devices: tainted } }
  })
}
