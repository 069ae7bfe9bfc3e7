import { readFileSync } from 'node:fs'
import { eachSetting, readSettings, type Settings } from '@orch/platform'
import { describe, expect, test } from 'vitest'
import { readApiServerWords } from '../envtest/kube-apiserver.ts'
import { apiServerSettings, flagsWithoutObject, hasFlag } from '../envtest/settings.ts'
import { flagsElsewhere } from './general.ts'
import { upSettings } from './up.ts'

const known: { flags: readonly string[]; newer: readonly string[]; older: readonly string[] } = JSON.parse(
  readFileSync(new URL('kube-apiserver-flags.json', import.meta.url), 'utf8'),
)
/** Each command has a separate help text. */
const all = [...known.flags, ...known.newer, ...known.older].filter((name) => name !== 'help').map((name) => `--${name}`)

const isOf = (settings: Settings, flag: string) =>
  eachSetting(settings).some((one) => one.flag === flag || one.formerly?.includes(flag as `--${string}`) === true)

/** The result of reading one flag with an empty value. */
function refusalOf(settings: Settings, flag: string): string {
  try {
    readSettings(settings, { flags: [`${flag}=`], env: {}, elsewhere: flagsElsewhere })
    return ''
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

test('the flags of 1.25 are in that release, and the newer ones in 1.37 alone', () => {
  expect(known.flags.filter((name) => !hasFlag(`--${name}`, 25))).toEqual([])
  expect(known.newer.filter((name) => hasFlag(`--${name}`, 25) || !hasFlag(`--${name}`, 37))).toEqual([])
})

test('172 flags are in kube-apiserver 1.25, and the others in other releases', () => {
  expect([known.flags.length, known.newer.length, known.older.length]).toEqual([172, 23, 1])
})

describe.each(all)('%s', (flag) => {
  test('is a setting of orch, or is refused there with a reason', () => {
    const refusal = refusalOf(upSettings, flag)
    if (isOf(upSettings, flag)) expect(refusal).not.toContain('does not exist here')
    else expect(refusal).toBe(`${flag} does not exist here: ${flagsElsewhere[flag]}`)
  })

  test('has exactly one class for the drop-in: honoured, without object, refused with a reason', () => {
    const isHonoured = isOf(apiServerSettings, flag)
    const isWithoutObject = flagsWithoutObject.has(flag)
    expect(isHonoured && isWithoutObject).toBe(false)
    const release = [25, 37].find((minor) => hasFlag(flag, minor)) ?? 0
    if (isWithoutObject) expect(readApiServerWords(apiServerSettings, [`${flag}=x`], release)).toMatchObject({ withoutObject: [flag] })
    else if (!isHonoured) expect(refusalOf(apiServerSettings, flag)).toBe(`${flag} does not exist here: ${flagsElsewhere[flag]}`)
    else expect(refusalOf(apiServerSettings, flag)).not.toContain('does not exist here')
  })
})

test('each flag listed as absent or without object is a flag of kube-apiserver', () => {
  const names = new Set(all)
  expect([...Object.keys(flagsElsewhere), ...flagsWithoutObject.keys()].filter((flag) => !names.has(flag))).toEqual([])
})
