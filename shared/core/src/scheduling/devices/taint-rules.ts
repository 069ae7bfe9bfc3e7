import type { BuiltIn } from '../../schema/built-in.ts'
import type { Device, DevicePlace, ResourceSlice } from './objects.ts'

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
    const concerned = rules.filter((rule) =>
      selectsDevice(rule, { driver, pool: pool.name, device: rule.spec.deviceSelector?.device ?? '' }),
    )
    if (concerned.length === 0) return slice
    const tainted = (devices ?? []).map((device): Device => {
      const added = concerned.filter((rule) => selectsDevice(rule, { driver, pool: pool.name, device: device.name }))
      return added.length === 0 ? device : { ...device, taints: [...(device.taints ?? []), ...added.map(({ spec }) => spec.taint)] }
    })
    return { ...slice, spec: { ...slice.spec, devices: tainted } }
  })
}

/** True if a rule selects a device. A rule without a selector selects none. */
export function selectsDevice({ spec: { deviceSelector: selector } }: DeviceTaintRule, { driver, pool, device }: DevicePlace): boolean {
  if (selector == null) return false
  return (selector.driver ?? driver) === driver && (selector.pool ?? pool) === pool && (selector.device ?? device) === device
}

/** The counts for the report of a rule. */
export interface RuleCounts {
  /** Pods that the rule evicts, or would evict, and their namespaces. */
  readonly pods: number
  readonly namespaces: number
  /** Evicted Pods since the start of the controller. */
  readonly evicted: number
  devices(): { readonly published: number; readonly allocated: number }
}

interface RuleReport {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

/** The condition EvictionInProgress of a rule. */
export function ruleReport(effect: string, counts: RuleCounts): RuleReport {
  const { message, ...report } = withoutEvicted(effect, counts)
  const evicted = counts.evicted === 0 ? '' : `${counted(counts.evicted, 'pod')} evicted since starting the controller.`
  return { ...report, message: [message, evicted].filter((text) => text !== '').join(' ') }
}

function withoutEvicted(effect: string, { pods, namespaces, evicted, devices }: RuleCounts): RuleReport {
  const where = counted(namespaces, 'namespace', 'different namespaces')
  switch (effect) {
    case 'NoExecute': {
      if (pods === 0) return { status: 'False', reason: evicted > 0 ? 'Completed' : 'NotStarted', message: '' }
      const message = `${counted(pods, 'pod needs', 'pods need')} to be evicted in ${where}.`
      return { status: 'True', reason: 'PodsPendingEviction', message }
    }
    case 'None': {
      const { published, allocated } = devices()
      const selected = (count: number, type: string) => `${counted(count, `${type} device`)} selected.`
      const later = 'This information will not be updated again. Recreate the DeviceTaintRule to trigger an update.'
      const eviction = `${counted(pods, 'pod')} would be evicted in ${where} if the effect was NoExecute.`
      const message = [selected(published, 'published'), selected(allocated, 'allocated'), eviction, later].join(' ')
      return { status: 'False', reason: 'NoEffect', message }
    }
    default:
      return { status: 'False', reason: 'OtherEffect', message: 'Eviction only happens for the NoExecute effect.' }
  }
}

/** `1 pod`, `2 pods`. */
function counted(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`
}
