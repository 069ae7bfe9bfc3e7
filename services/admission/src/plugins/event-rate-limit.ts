import type { Attributes } from '@orch/core/contracts'
import { RecentMap } from '@orch/core/memo'
import { failed } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import type { Clock } from '@orch/platform'
import { ConfigurationError, type PluginConfiguration, parseVersioned } from '../configuration.ts'
import { allowed, denied, type Plugin, type PluginNeeds } from '../plugin.ts'
import { admissionRuleFor, newObject } from './objects.ts'

/** The clients that share a bucket, by type of limit. */
const keyOf: Readonly<Record<string, (attributes: Attributes) => string>> = {
  Server: () => '',
  Namespace: ({ namespace }) => namespace,
  User: ({ user }) => user.name,
  SourceAndObject: sourceAndObjectOf,
}

interface Limit {
  readonly type: string
  readonly qps: number
  readonly burst: number
  /** Maximum number of cached buckets. */
  readonly cacheSize: number
}

const cacheSizeDefault = 4096

/** EventRateLimit: a maximum number of Events per second, for all, by namespace, by user or by object. */
export function eventRateLimit({ clock, configuration, catalogue: { names } }: PluginNeeds): Plugin {
  const limiters = readConfiguration(configuration, names).map((limit) => new Limiter(limit, clock))
  return {
    admissionRules: [admissionRuleFor('validate', ['CREATE', 'UPDATE'], '', ['events'])],
    validate(attributes) {
      if (attributes.dryRun) return allowed
      // Each limit counts the Event, independently of the other limits.
      const problems = limiters.map((limiter) => limiter.take(attributes)).filter((problem) => problem !== undefined)
      if (problems.length === 0) return allowed
      const text = problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`
      return denied(failed(429, 'TooManyRequests', `Too many requests: ${text}`, { details: { retryAfterSeconds: 1 } }))
    },
  }
}

/** Token buckets refill at a constant rate up to the burst; the least recently used buckets are dropped. */
class Limiter {
  readonly #limit: Limit
  readonly #clock: Clock
  readonly #allowances: RecentMap<{ left: number; filledMs: number }>

  constructor(limit: Limit, clock: Clock) {
    this.#limit = limit
    this.#clock = clock
    this.#allowances = new RecentMap(limit.cacheSize)
  }

  /** Takes a token. Returns a message if the bucket is empty. */
  take(attributes: Attributes): string | undefined {
    const { type, qps, burst } = this.#limit
    const key = keyOf[type]?.(attributes) ?? ''
    const nowMs = this.#clock.monotonic()
    const allowance = this.#allowances.get(key) ?? { left: burst, filledMs: nowMs }
    this.#allowances.set(key, allowance)
    allowance.left = Math.min(burst, allowance.left + ((nowMs - allowance.filledMs) * qps) / 1000)
    allowance.filledMs = nowMs
    if (allowance.left < 1) return `limit reached on type ${type} for key ${key}`
    allowance.left -= 1
    return undefined
  }
}

function sourceAndObjectOf(attributes: Attributes): string {
  const { source, involvedObject: about } = newObject('core/v1.Event', attributes)
  const words = [source.component, source.host, about.kind, about.namespace, about.name, about.uid, about.apiVersion]
  return words.map((word) => word ?? '').join('')
}

function readConfiguration(configuration: PluginConfiguration | undefined, names: Names): Limit[] {
  const apiVersion = `${domainGroup(names, 'eventratelimit.admission')}/v1alpha1`
  if (configuration === undefined) {
    throw new ConfigurationError(
      `the admission plugin EventRateLimit needs a Configuration of ${apiVersion} in --admission-control-config-file`,
    )
  }
  const { limits, ...rest } = parseVersioned(configuration, [{ kind: 'Configuration', apiVersion }])
  const refuse = (why: string) => new ConfigurationError(`${configuration.file}: ${why}`)
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw refuse(`${unknown}: there is no such field`)
  if (!Array.isArray(limits) || limits.length === 0) throw refuse('limits: expected a list of at least one limit')
  return limits.map((limit: Record<string, unknown>, index) => {
    const { type, qps, burst, cacheSize = 0 } = limit ?? {}
    const place = `limits[${index}]`
    if (typeof type !== 'string' || keyOf[type] === undefined)
      throw refuse(`${place}.type: expected one of ${Object.keys(keyOf).join(', ')}`)
    const isCount = (value: unknown, least: number): value is number =>
      typeof value === 'number' && Number.isInteger(value) && value >= least
    if (!isCount(qps, 1)) throw refuse(`${place}.qps: must be positive`)
    if (!isCount(burst, 1)) throw refuse(`${place}.burst: must be positive`)
    if (!isCount(cacheSize, 0)) throw refuse(`${place}.cacheSize: must not be negative`)
    return { type, qps, burst, cacheSize: cacheSize === 0 ? cacheSizeDefault : cacheSize }
  })
}
