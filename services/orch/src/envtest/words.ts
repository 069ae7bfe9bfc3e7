import { eachSetting, type Settings, SettingsError, splitFlag } from '@orch/platform'
import { isDeprecated, requireFlag } from './flag-releases.ts'
import { flagsWithoutObject } from './without-object.ts'

/** Values of true and false as Go's strconv.ParseBool reads them. */
const truths: Readonly<Record<string, string>> = Object.fromEntries([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [text, 'true']),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [text, 'false']),
])

/**
 * Reads a command line of kube-apiserver 1.`minor` as pflag does: `--name=value`, `--name value`, and for booleans `--name` alone. Flags of other
 * releases are refused. Unknown flags are kept; the reader of settings refuses them with a reason.
 */
export function readApiServerWords(settings: Settings, words: readonly string[], minor: number) {
  const settingTypesByFlag = new Map(eachSetting(settings).map(({ flag, type }): [string, typeof type] => [flag, type]))
  const flags: string[] = []
  const withoutObject = new Set<string>()
  const deprecated = new Set<string>()
  for (let index = 0; index < words.length; index++) {
    const word = longName(words[index] ?? '')
    if (!word.startsWith('--') || word === '--') throw new SettingsError(`unexpected argument ${word}: flags begin with --`)
    const given = splitFlag(word)
    const flag = given.flag.replaceAll('_', '-')
    requireFlag(flag, minor)
    if (isDeprecated(flag, minor)) deprecated.add(flag)
    const tuning = flagsWithoutObject.get(flag)
    const isBoolean = tuning?.isBoolean ?? settingTypesByFlag.get(flag)?.word === ''
    const isKnown = tuning !== undefined || settingTypesByFlag.has(flag) || flag === insecurePort
    const text = given.text ?? (isBoolean ? 'true' : isKnown ? words[++index] : undefined)
    if (text === undefined && isKnown) throw new SettingsError(`flag needs an argument: ${flag}`)
    if (flag === insecurePort) checkInsecurePort(text)
    else if (tuning !== undefined) withoutObject.add(flag)
    else flags.push(text === undefined ? flag : `${flag}=${isBoolean ? (truths[text] ?? text) : text}`)
  }
  return {
    /** `--name=value`, for settings. */
    flags,
    /** Names of the flags without effect, each once. */
    withoutObject: [...withoutObject],
    /** Names of the deprecated flags, each once. */
    deprecated: [...deprecated],
  }
}

/** The only short form: `-v=4`, `-v 4`, `-v4`. */
function longName(word: string): string {
  const short = /^-v(?:=?(.+))?$/.exec(word)
  if (short === null) return word
  return short[1] === undefined ? '--v' : `--v=${short[1]}`
}

const insecurePort = '--insecure-port'

/** Older harnesses disable the insecure port that servers before 1.24 had. */
function checkInsecurePort(text: string | undefined): void {
  if (text !== '0') throw new SettingsError(`${insecurePort}=${text}: there is only the port of --secure-port; 0 is accepted`)
}
