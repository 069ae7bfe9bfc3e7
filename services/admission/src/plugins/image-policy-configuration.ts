import { dirname, resolve } from 'node:path'
import { isJsonObject } from '@orch/core/json'
import type { Names } from '@orch/core/names'
import { ConfigurationError, type PluginConfiguration } from '../configuration.ts'

/** Configuration of ImagePolicyWebhook. */
export type ImagePolicy = ReturnType<typeof readImagePolicy>

interface Duration {
  readonly field: string
  readonly unitMs: number
  readonly minMs: number
  readonly maxMs: number
  readonly defaultMs: number
}

const secondMs = 1_000
const minuteMs = 60 * secondMs
const allowTtl: Duration = { field: 'allowTTL', unitMs: secondMs, minMs: secondMs, maxMs: 30 * minuteMs, defaultMs: 5 * minuteMs }
const denyTtl: Duration = { field: 'denyTTL', unitMs: secondMs, minMs: secondMs, maxMs: 30 * minuteMs, defaultMs: 30 * secondMs }
const retryBackoff: Duration = { field: 'retryBackoff', unitMs: 1, minMs: 1, maxMs: 5 * minuteMs, defaultMs: 500 }

/** A relative path starts at the folder of the file that contains it. */
export function readImagePolicy({ value, file }: PluginConfiguration, names: Names) {
  const refuse = (field: string, why: string): never => {
    throw new ConfigurationError(`${file}: imagePolicy${field === '' ? '' : `.${field}`}: ${why}`)
  }
  const policy = isJsonObject(value) ? value['imagePolicy'] : undefined
  if (!isJsonObject(policy)) return refuse('', 'expected the fields of ImagePolicyWebhook')
  const fileField = names.clientConfigFileKey
  const known = [fileField, allowTtl.field, denyTtl.field, retryBackoff.field, 'defaultAllow']
  const unknown = Object.keys(policy).find((field) => !known.includes(field))
  if (unknown !== undefined) refuse(unknown, `there is no such field; expected some of ${known.join(', ')}`)
  const { [fileField]: clientConfigFile, defaultAllow = false } = policy
  if (typeof clientConfigFile !== 'string' || clientConfigFile === '')
    return refuse(fileField, 'expected the name of a client configuration file')
  if (typeof defaultAllow !== 'boolean') return refuse('defaultAllow', 'expected true or false')
  const read = (duration: Duration): number => {
    const ms = toMs(policy[duration.field] ?? 0, duration)
    const [least, most, usual] = [duration.minMs, duration.maxMs, duration.defaultMs].map((bound) => bound / duration.unitMs)
    return ms ?? refuse(duration.field, `expected a whole number from ${least} to ${most}, 0 for ${usual}, or -1 for none`)
  }
  return {
    /** Client configuration file of the review server. */
    clientConfigFile: resolve(dirname(file), clientConfigFile),
    /** Lifetime of a cached approval; 0 disables the cache. */
    allowTtlMs: read(allowTtl),
    denyTtlMs: read(denyTtl),
    /** Delay before the second attempt. */
    retryBackoffMs: read(retryBackoff),
    /** True if images are allowed when the server does not answer. */
    defaultAllow,
  }
}

function toMs(value: unknown, { unitMs, minMs, maxMs, defaultMs }: Duration): number | undefined {
  if (typeof value !== 'number' || !Number.isInteger(value)) return undefined
  if (value === 0) return defaultMs
  if (value === -1) return 0
  const ms = value * unitMs
  return ms < minMs || ms > maxMs ? undefined : ms
}
