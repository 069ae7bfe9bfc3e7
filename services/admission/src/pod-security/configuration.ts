import { knownReleases } from '@orch/core/feature-gates'
import { isJsonObject } from '@orch/core/json'
import { checkLabel, checkSubdomain, type LevelText, textAt } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import { ConfigurationError, type PluginConfiguration, parseVersioned } from '../configuration.ts'
import { fullyPrivileged, levelText, type Mode, modes, type Policy, parseLevel, parseVersion, versionText } from './policy.ts'

/** The defaults of namespaces without labels, and the exemptions. */
export interface PodSecurityConfiguration {
  readonly defaults: Policy
  readonly exemptions: ReturnType<typeof readExemptions>
}

const versions = ['v1', 'v1beta1', 'v1alpha1'] as const

/** Without a configuration everything is allowed. */
export function readPodSecurityConfiguration(configuration: PluginConfiguration | undefined, names: Names): PodSecurityConfiguration {
  const refuse: Refuse = (field, why) => {
    throw new ConfigurationError(`${configuration?.file}: PodSecurity: ${field === '' ? '' : `${field}: `}${why}`)
  }
  if (configuration === undefined) return { defaults: fullyPrivileged, exemptions: readExemptions({}, refuse) }
  const group = domainGroup(names, 'pod-security.admission.config')
  const known = versions.map((version) => ({ kind: 'PodSecurityConfiguration', apiVersion: `${group}/${version}` }))
  const document = objectOf(parseVersioned(configuration, known), '', ['defaults', 'exemptions'], refuse)
  const keys = modes.flatMap((mode) => [mode, `${mode}-version`])
  return {
    defaults: readDefaults(objectOf(document.defaults, 'defaults', keys, refuse), refuse),
    exemptions: readExemptions(objectOf(document.exemptions, 'exemptions', ['usernames', 'namespaces', 'runtimeClasses'], refuse), refuse),
  }
}

type Refuse = (field: string, why: string) => never

function readDefaults(defaults: Readonly<Record<string, unknown>>, refuse: Refuse): Policy {
  const read = <T>(key: string, parse: (text: string) => T | undefined, why: string, otherwise: T): T => {
    const text = defaults[key]
    if (text === undefined || text === null || text === '') return otherwise
    const value = typeof text === 'string' ? parse(text) : undefined
    return value ?? refuse(`defaults.${key}`, `Invalid value: ${shown(text)}: ${why}`)
  }
  const of = (mode: Mode) => ({
    level: read(mode, parseLevel, levelText, fullyPrivileged[mode].level),
    version: read(`${mode}-version`, parseVersion, versionText, fullyPrivileged[mode].version),
  })
  return { enforce: of('enforce'), audit: of('audit'), warn: of('warn') }
}

function readExemptions(exemptions: Readonly<Record<string, unknown>>, refuse: Refuse) {
  const read = (key: string, check: (name: string) => readonly LevelText[]): ReadonlySet<string> => {
    const list = exemptions[key] ?? []
    if (!Array.isArray(list)) return refuse(`exemptions.${key}`, `expected a list of names, got ${shown(list)}`)
    const names = new Set<string>()
    for (const [index, name] of list.entries()) {
      const field = `exemptions.${key}[${index}]`
      if (typeof name !== 'string') return refuse(field, `expected a name, got ${shown(name)}`)
      const [problem] = check(name)
      if (problem !== undefined) refuse(field, `Invalid value: ${shown(name)}: ${textAt(problem, knownReleases.own)}`)
      if (names.has(name)) refuse(field, `Duplicate value: ${shown(name)}`)
      names.add(name)
    }
    return names
  }
  return {
    usernames: read('usernames', (name) => (name === '' ? ['must not be empty'] : [])),
    namespaces: read('namespaces', checkLabel),
    runtimeClasses: read('runtimeClasses', checkSubdomain),
  }
}

function objectOf(value: unknown, field: string, keys: readonly string[], refuse: Refuse): Readonly<Record<string, unknown>> {
  if (value === undefined || value === null) return {}
  if (!isJsonObject(value)) return refuse(field, `expected an object, got ${shown(value)}`)
  const unknown = Object.keys(value).find((key) => !keys.includes(key))
  if (unknown !== undefined) refuse(field, `unknown field ${shown(unknown)}; expected some of ${keys.join(', ')}`)
  return value
}

const shown = (value: unknown): string => JSON.stringify(value) ?? 'nothing'
