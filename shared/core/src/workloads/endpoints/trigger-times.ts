import type { Pod } from '../pods.ts'
import type { Service } from './endpoint-pods.ts'

/** Times of a Service and its Pods, in milliseconds since 1970. */
interface Seen {
  readonly serviceMs: number
  readonly podMs: ReadonlyMap<string, number>
}

/** Records when the Pods of each Service last changed, for measuring the age of a change. */
export class TriggerTimes {
  readonly #seen = new Map<string, Seen>()

  /** The earliest change since the last call, in milliseconds since 1970; undefined if unknown. */
  changedMs(key: string, service: Service, pods: readonly Pod[]): number | undefined {
    const before = this.#seen.get(key)
    const serviceMs = Date.parse(service.metadata.creationTimestamp ?? '')
    const podMs = new Map(pods.flatMap((pod) => timeOf(pod)))
    this.#seen.set(key, { serviceMs, podMs })
    if (before === undefined) return serviceMs
    const later = [...podMs].flatMap(([name, ms]) => (ms > (before.podMs.get(name) ?? Number.NEGATIVE_INFINITY) ? [ms] : []))
    const changes = serviceMs > before.serviceMs ? [...later, serviceMs] : later
    return changes.length === 0 ? undefined : Math.min(...changes)
  }

  forget(key: string): void {
    this.#seen.delete(key)
  }
}

function timeOf({ metadata: { name = '' }, status }: Pod): [string, number][] {
  const ms = Date.parse(status.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? '')
  return Number.isNaN(ms) ? [] : [[name, ms]]
}
