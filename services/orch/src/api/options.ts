import { parseRuntimeConfigOf, type RuntimeConfig } from '@orch/core/catalogue'
import { type FeatureGates, featureGates, parseFeatureGates } from '@orch/core/feature-gates'
import type { Profile } from '@orch/core/names'
import { SettingsError, suggestion, type Values } from '@orch/platform'
import type { apiSettings } from './settings.ts'

/** What is served. */
export interface ApiOptions {
  readonly profile: Profile
  readonly runtimeConfig: RuntimeConfig
  readonly featureGates: FeatureGates
}

/** Checks the settings. */
export function readApi({ profile, runtimeConfig, featureGates }: Values<typeof apiSettings> & { readonly profile: Profile }): ApiOptions {
  return { profile, runtimeConfig: readRuntimeConfig(profile, runtimeConfig), featureGates: readFeatureGates(featureGates) }
}

/** The gates that words such as `APIListChunking=false` mean. */
function readFeatureGates(words: readonly string[]): FeatureGates {
  const gates = parseFeatureGates(words)
  if (gates.kind === 'gates') return gates
  const known = featureGates().map(({ name }) => name)
  throw new SettingsError(`--feature-gates: ${gates.message}${gates.unknown === undefined ? '' : suggestion(gates.unknown, known)}`)
}

/** The group versions and resources that words such as `api/beta=false` switch. */
function readRuntimeConfig(profile: Profile, words: readonly string[]): RuntimeConfig {
  const reading = parseRuntimeConfigOf(profile, words.join(','))
  if (reading.kind === 'malformed') throw new SettingsError(`--runtime-config: ${reading.message}`)
  return reading.config
}

/** For services behind the gateways: gateways alone decide what is served. */
export function everythingServed(profile: Profile): ApiOptions {
  return { profile, runtimeConfig: readRuntimeConfig(profile, ['api/all=true']), featureGates: readFeatureGates([]) }
}
