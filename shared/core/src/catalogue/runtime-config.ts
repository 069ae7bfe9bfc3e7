/** The entries of `--runtime-config`, in the order given. */
export interface RuntimeConfig {
  readonly entries: readonly RuntimeConfigEntry[]
}

type RuntimeConfigEntry =
  /** All versions of a stability: `api/beta=false`. */
  | { readonly kind: 'stability'; readonly stability: 'all' | 'ga' | 'beta' | 'alpha'; readonly isEnabled: boolean }
  | { readonly kind: 'version'; readonly group: string; readonly version: string; readonly isEnabled: boolean }
  | { readonly kind: 'resource'; readonly group: string; readonly version: string; readonly plural: string; readonly isEnabled: boolean }

export type RuntimeConfigReading =
  | { readonly kind: 'config'; readonly config: RuntimeConfig }
  | { readonly kind: 'malformed'; readonly message: string }

/** A resource that `--runtime-config` can enable or disable. */
export interface Switchable {
  readonly group: string
  readonly version: string
  readonly plural: string
  /** True if the resource is served only when an entry enables it. */
  readonly isOffByDefault?: true
}

export const emptyRuntimeConfig: RuntimeConfig = { entries: [] }

/**
 * Reads comma-separated `<key>[=<value>]` pairs; a missing value means true. A key is `<group>/<version>`,
 * `<group>/<version>/<resource>`, `v1` or `api/v1` for the core group, or `api/all`, `api/ga`, `api/beta`, `api/alpha`.
 * Keys that match nothing in `available` are refused.
 */
export function parseRuntimeConfig(text: string, available: readonly Switchable[]): RuntimeConfigReading {
  const entries: RuntimeConfigEntry[] = []
  for (const pair of text.split(',')) {
    if (pair.trim() === '') continue
    const entry = parsePair(pair.trim(), available)
    if (typeof entry === 'string') return { kind: 'malformed', message: entry }
    entries.push(entry)
  }
  return { kind: 'config', config: { entries } }
}

/** True if a resource is served: the most specific entry decides, the last of several equal ones. */
export function isEnabled(config: RuntimeConfig, { group, version, plural, isOffByDefault }: Switchable): boolean {
  const stability = stabilityOf(version)
  let answer = stability !== 'alpha' && isOffByDefault !== true
  let weight = 0
  for (const entry of config.entries) {
    const entryWeight = weightOf(entry, { group, version, plural, stability })
    if (entryWeight === 0 || entryWeight < weight) continue
    answer = entry.isEnabled
    weight = entryWeight
  }
  return answer
}

/** The stability of a version, by its name. */
export function stabilityOf(version: string): 'ga' | 'beta' | 'alpha' {
  if (version.includes('alpha')) return 'alpha'
  return version.includes('beta') ? 'beta' : 'ga'
}

function parsePair(pair: string, available: readonly Switchable[]): RuntimeConfigEntry | string {
  const [key = '', value = 'true', ...rest] = pair.split('=')
  const switchedOn = parseSwitch(value)
  if (rest.length > 0 || switchedOn === undefined) return `runtime-config ${pair}: the value must be true or false`
  const stability = (['all', 'ga', 'beta', 'alpha'] as const).find((one) => key === `api/${one}`)
  if (stability !== undefined) return { kind: 'stability', stability, isEnabled: switchedOn }
  return parseTarget(key, switchedOn, available) ?? `runtime-config ${pair}: no group version or resource is called ${key}`
}

function parseSwitch(value: string): boolean | undefined {
  if (/^(?:true|1|t)$/i.test(value)) return true
  return /^(?:false|0|f)$/i.test(value) ? false : undefined
}

function parseTarget(key: string, switchedOn: boolean, available: readonly Switchable[]): RuntimeConfigEntry | undefined {
  const parts = key.split('/')
  if (parts[0] === 'api' && parts[1] === 'v1') parts.shift()
  const [group = '', version = '', plural, ...rest] = parts[0] === 'v1' ? ['', ...parts] : parts
  if (rest.length > 0) return undefined
  const versions = available.filter((one) => one.group === group && one.version === version)
  if (versions.length === 0) return undefined
  if (plural === undefined) return { kind: 'version', group, version, isEnabled: switchedOn }
  if (!versions.some((one) => one.plural === plural)) return undefined
  return { kind: 'resource', group, version, plural, isEnabled: switchedOn }
}

function weightOf(entry: RuntimeConfigEntry, one: Switchable & { stability: 'ga' | 'beta' | 'alpha' }): number {
  switch (entry.kind) {
    case 'stability':
      return entry.stability === 'all' ? 1 : entry.stability === one.stability ? 2 : 0
    case 'version':
      return entry.group === one.group && entry.version === one.version ? 3 : 0
    case 'resource':
      return entry.group === one.group && entry.version === one.version && entry.plural === one.plural ? 4 : 0
  }
}
