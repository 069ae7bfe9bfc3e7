import { at } from '@orch/core/json'
import { splitFlag } from './flag-word.ts'
import { suggestion } from './nearest.ts'
import type { SettingType } from './types.ts'

/** A setting. Its flag, environment variable, file key, help and docs derive from this declaration. */
export interface Setting<T> {
  /** `--request-timeout`. Without the dashes it is the key in the file. */
  readonly flag: `--${string}`
  readonly env: string
  /** Deprecated names of the flag, which are accepted with a warning. */
  readonly formerly?: readonly `--${string}`[]
  readonly type: SettingType<T>
  /** The default, as text. */
  readonly default: string
  /** The text in the help for a default that depends on another value. */
  readonly defaultDoc?: string
  /** The heading in the help. */
  readonly group: string
  readonly doc: string
}

// biome-ignore lint/suspicious/noExplicitAny: the value's type is inferred by Values
type AnySetting = Setting<any>

/** Settings and groups of settings, by their names in the code. */
export interface Settings {
  readonly [name: string]: AnySetting | Settings
}
/** The values of settings, by the same names. */
export type Values<S> = { readonly [N in keyof S]: S[N] extends Setting<infer T> ? T : Values<S[N]> }

/** All settings, in order. */
export function eachSetting(settings: Settings): Setting<unknown>[] {
  return Object.values(settings).flatMap((one) => (isSetting(one) ? [one] : eachSetting(one)))
}

function isSetting(one: AnySetting | Settings): one is AnySetting {
  return typeof one.flag === 'string'
}

/** The sources of values, the strongest first. */
export interface SettingSources {
  readonly flags: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** The parsed configuration file. */
  readonly file?: unknown
  /** Flags of similar programs that do not exist here, each with a message. */
  readonly elsewhere?: Readonly<Record<string, string>>
}

/** The result of reading settings. */
export interface SettingsResult<S extends Settings> {
  readonly values: Values<S>
  /** The texts that a flag, a variable or a file gives, by flag. */
  readonly texts: ReadonlyMap<string, string>
  /** Messages for the user, for example about a deprecated name. */
  readonly warnings: readonly string[]
}

/** An invalid value of a setting. The message names the setting and is meant for the user. */
export class SettingsError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SettingsError'
  }
}

/** The declaration of a setting. Omitted members derive from the others. */
type Declaration<T> = Omit<Setting<T>, 'env' | 'default' | 'group' | 'doc'> & Partial<Pick<Setting<T>, 'env' | 'default'>>

/**
 * Declares the settings of one heading of the help, each with a sentence. The variable of `--request-timeout` is
 * `ORCH_REQUEST_TIMEOUT` unless the declaration names another; the default value is the empty text.
 */
export function settingsOf(group: string): <T>(declaration: Declaration<T>, doc: string) => Setting<T> {
  return (declaration, doc) => ({
    env: `ORCH_${declaration.flag.slice('--'.length).toUpperCase().replaceAll('-', '_')}`,
    default: '',
    group,
    doc,
    ...declaration,
  })
}

/** The values of all settings. Precedence: flag, environment, file, default. */
export function readSettings<S extends Settings>(settings: S, sources: SettingSources): SettingsResult<S> {
  const warnings: string[] = []
  const namesOf = nameReader(settings, sources.elsewhere ?? {}, warnings)
  const flags = readFlags(namesOf, sources.flags)
  const file = readFileKeys(namesOf, sources.file)
  const texts = new Map<string, string>()
  const readValue = (declared: Setting<unknown>) => {
    const env = sources.env[declared.env]
    const source =
      flags.get(declared.flag) ?? (env === undefined ? undefined : { text: env, origin: declared.env }) ?? file.get(declared.flag)
    if (source !== undefined) texts.set(declared.flag, source.text)
    return parseValue(declared, source ?? { text: declared.default, origin: declared.flag })
  }
  const valuesOf = (group: Settings): Record<string, unknown> =>
    Object.fromEntries(Object.entries(group).map(([name, one]) => [name, isSetting(one) ? readValue(one) : valuesOf(one)]))
  return { values: valuesOf(settings) as Values<S>, texts, warnings }
}

/** Every flag without its dashes, with its given value or its default. */
export function flagTexts(settings: Settings, texts: ReadonlyMap<string, string>): Map<string, string> {
  return new Map(eachSetting(settings).map(({ flag, default: text }) => [flag.slice(2), texts.get(flag) ?? text]))
}

/** The text of one flag on the command line, or undefined. It is for settings that affect how others are read. */
export function flagText(flags: readonly string[], flag: string): string | undefined {
  const index = flags.findLastIndex((argument) => argument === flag || argument.startsWith(`${flag}=`))
  if (index < 0) return undefined
  const argument = at(flags, index)
  return argument === flag ? flags[index + 1] : argument.slice(flag.length + 1)
}

interface Source {
  readonly text: string
  /** The name of the source in messages. */
  readonly origin: string
}

/** Finds a setting by its flag. For an unknown name, `where` describes the source of the name. */
type NameReader = (flag: string, where: { readonly unknown: string; readonly known: (flag: string) => string }) => Setting<unknown>

function nameReader(settings: Settings, elsewhere: Readonly<Record<string, string>>, warnings: string[]): NameReader {
  const all = eachSetting(settings)
  const byFlag = new Map<string, Setting<unknown>>(all.map((declared) => [declared.flag, declared]))
  const former = new Map(all.flatMap((declared) => (declared.formerly ?? []).map((flag) => [flag as string, declared] as const)))
  return (flag, { unknown, known }) => {
    const declared = byFlag.get(flag)
    if (declared !== undefined) return declared
    const renamed = former.get(flag)
    if (renamed !== undefined) {
      warnings.push(`${flag} is deprecated: use ${renamed.flag}`)
      return renamed
    }
    if (Object.hasOwn(elsewhere, flag)) throw new SettingsError(`${flag} does not exist here: ${elsewhere[flag]}`)
    throw new SettingsError(`${unknown}${suggestion(known(flag), [...byFlag.keys()].map(known))}`)
  }
}

function readFlags(settingOf: NameReader, flags: readonly string[]): Map<string, Source> {
  const found = new Map<string, Source>()
  for (let index = 0; index < flags.length; index++) {
    const argument = at(flags, index)
    if (!argument.startsWith('--')) throw new SettingsError(`unexpected argument ${argument}`)
    const given = splitFlag(argument)
    // Like kube-apiserver, an underscore in a name means a dash.
    const flag = given.flag.replaceAll('_', '-')
    const declared = settingOf(flag, { unknown: `unknown flag ${flag}`, known: (name) => name })
    const text = given.text ?? (declared.type.word === '' ? 'true' : flags[++index])
    if (text === undefined) throw new SettingsError(`${flag} needs a value: ${declared.type.expected}`)
    const earlier = declared.type.isList === true ? found.get(declared.flag) : undefined
    found.set(declared.flag, { text: earlier === undefined ? text : `${earlier.text}${declared.type.between ?? ','}${text}`, origin: flag })
  }
  return found
}

function readFileKeys(settingOf: NameReader, file: unknown): Map<string, Source> {
  const found = new Map<string, Source>()
  if (file === undefined || file === null) return found
  if (typeof file !== 'object' || Array.isArray(file)) throw new SettingsError('the configuration file must be a map of settings')
  for (const [key, value] of Object.entries(file)) {
    const unknown = `unknown setting ${key} in the configuration file`
    const { flag, type } = settingOf(`--${key}`, { unknown, known: (name) => name.slice(2) })
    found.set(flag, { text: printFileValue(key, value, type.between), origin: `${key} in the configuration file` })
  }
  return found
}

function printFileValue(key: string, value: unknown, between = ','): string {
  if (Array.isArray(value)) return value.map((item) => printFileValue(key, item)).join(between)
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([name, item]) => `${name}=${printFileValue(key, item)}`)
      .join(',')
  }
  throw new SettingsError(`${key} in the configuration file has no value`)
}

function parseValue<T>({ type, default: defaultText }: Setting<T>, { text, origin }: Source): T {
  const value = type.parse(text)
  if (value !== undefined) return value
  const hint = type.choices === undefined ? '' : suggestion(text, type.choices)
  throw new SettingsError(`${origin}=${text}: must be ${type.expected}${hint}${defaultText === '' ? '' : ` (default ${defaultText})`}`)
}
