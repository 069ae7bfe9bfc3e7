import type { PlainFieldError } from '@orch/core/meta'
import { type Names, subdomainLabel } from '@orch/core/names'

/** The levels, from the least to the most strict. */
const levels = ['privileged', 'baseline', 'restricted'] as const
export type Level = (typeof levels)[number]

/** `latest`, or a minor version of Kubernetes 1. */
export type Version = 'latest' | { readonly minor: number }

/** A level under the rules of a version. */
export interface LevelVersion {
  readonly level: Level
  readonly version: Version
}

/** The consequences of a violation: the Pod is refused, recorded in the audit log, or causes a warning. */
export const modes = ['enforce', 'audit', 'warn'] as const
export type Mode = (typeof modes)[number]
export type Policy = Readonly<Record<Mode, LevelVersion>>

/** The policy that forbids nothing. */
export const fullyPrivileged: Policy = {
  enforce: { level: 'privileged', version: 'latest' },
  audit: { level: 'privileged', version: 'latest' },
  warn: { level: 'privileged', version: 'latest' },
}

/** The minor version whose checks a server at a level uses, at most its own. */
export function minorOf(version: Version, level: number): number {
  return version === 'latest' ? level : Math.min(version.minor, level)
}

/** Undefined for an unknown level. */
export function parseLevel(text: string): Level | undefined {
  return levels.find((level) => level === text)
}

/** `latest` or `v1.24`. */
export function parseVersion(text: string): Version | undefined {
  if (text === 'latest') return 'latest'
  const minor = /^v1\.(0|[1-9]\d{0,8})$/.exec(text)?.[1]
  return minor === undefined ? undefined : { minor: Number(minor) }
}

export function printVersion(version: Version): string {
  return version === 'latest' ? 'latest' : `v1.${version.minor}`
}

/** `restricted:v1.24`. */
export function printLevelVersion({ level, version }: LevelVersion): string {
  return `${level}:${printVersion(version)}`
}

/** True if both are equal. */
export function isSameLevelVersion(one: LevelVersion, other: LevelVersion): boolean {
  return printLevelVersion(one) === printLevelVersion(other)
}

/** Positive if the first is stricter. */
export function compareLevels(one: Level, other: Level): number {
  return levels.indexOf(one) - levels.indexOf(other)
}

/** Without privileged modes: `enforce=baseline:latest, warn=restricted:v1.24`. */
export function printPolicy(policy: Policy): string {
  return modes
    .filter((mode) => policy[mode].level !== 'privileged')
    .map((mode) => `${mode}=${printLevelVersion(policy[mode])}`)
    .join(', ')
}

export function isFullyPrivileged(policy: Policy): boolean {
  return modes.every((mode) => policy[mode].level === 'privileged')
}

/** The policy from the labels of a namespace, and the labels' errors. */
export type PolicyReading = ReturnType<typeof policyOf>

export const levelText = `must be one of ${levels.join(', ')}`
export const versionText = 'must be "latest" or "v1.x"'

/** The parser of a label, and its value for an absent or invalid label. */
interface LabelReading<T> {
  readonly parse: (text: string) => T | undefined
  readonly expected: string
  readonly absent: T
  readonly unreadable: T
}

/** The policy of a namespace. An invalid level becomes the strictest for enforce, and none for warn and audit; an invalid version becomes the latest. */
export function policyOf(labels: Readonly<Record<string, string>>, defaults: Policy, names: Names) {
  const errors: PlainFieldError[] = []
  const read = <T>(key: string, { parse, expected, absent, unreadable }: LabelReading<T>): T => {
    const label = subdomainLabel(names, 'pod-security', key)
    const text = labels[label]
    if (text === undefined) return absent
    const value = parse(text)
    if (value !== undefined) return value
    const message = `Invalid value: ${JSON.stringify(text)}: ${expected}`
    errors.push({ reason: 'FieldValueInvalid', field: `metadata.labels[${label}]`, message })
    return unreadable
  }
  const of = (mode: Mode): LevelVersion => ({
    level: read(mode, {
      parse: parseLevel,
      expected: levelText,
      absent: defaults[mode].level,
      unreadable: mode === 'enforce' ? 'restricted' : 'privileged',
    }),
    version: read(`${mode}-version`, {
      parse: parseVersion,
      expected: versionText,
      absent: defaults[mode].version,
      unreadable: 'latest',
    }),
  })
  const policy = { enforce: of('enforce'), audit: of('audit'), warn: of('warn') }
  return { policy, errors }
}
