import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { systemClock } from '@orch/platform'
import { expect, onTestFinished, test } from 'vitest'
import { anApi } from '../api/api.ts'
import { type RecordedAnswer, type RecordedCase, readCases } from './cases.ts'
import { type DifferingPart, knownDifferences } from './known-differences.ts'
import { type Outcome, replay } from './replay.ts'

test('requests recorded with kube-apiserver 1.25 get the same answers, except for those listed with a reason', async () => {
  const cases = readCases()
  const flags = flagsOfTheRecordedServer(cases)
  // The second of the last write orders the owners of fields; all writes are in one second.
  const nowMs = systemClock.now()
  const clock = { ...systemClock, now: () => nowMs }
  const api = await anApi({
    version: '1.25',
    profile: 'kubernetes',
    controllers: ['*'],
    serviceClusterIpRange: '10.96.0.0/16',
    flags,
    clock,
  })
  const outcomes = await replay(api, cases)
  const differing = outcomes.filter(({ recorded, ours }) => !isDeepStrictEqual(recorded, ours))
  write(differing)
  const listed = new Map(knownDifferences.flatMap(({ differsIn, cases }) => cases.map((name) => [name, differsIn] as const)))
  const unexpected = differing.filter(({ name, recorded, ours }) => {
    const part = listed.get(name)
    return part === undefined || !isDeepStrictEqual(without(recorded, part), without(ours, part))
  })
  expect(unexpected, 'not listed, or different in more than the list says').toEqual([])
  const names = new Set(differing.map(({ name }) => name))
  expect(
    [...listed.keys()].filter((name) => !names.has(name)),
    'listed, but the same now',
  ).toEqual([])
})

/** Tokens signed by a key like the recorded server's key, and the authorities that the recorded server published. */
function flagsOfTheRecordedServer(cases: readonly RecordedCase[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'recorded-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = (name: string, content: string | Buffer) => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const published = cases.find(({ name }) => name === 'misc ext auth cm')?.answer.body as { data: Record<string, string> }
  const authorities = (key: string) => file(`${key}.crt`, published.data[key] ?? '')
  return [
    `--service-account-signing-key-file=${file('service-account.key', privateKey.export({ type: 'pkcs8', format: 'pem' }))}`,
    `--client-ca-file=${authorities('client-ca-file')}`,
    `--requestheader-client-ca-file=${authorities('requestheader-client-ca-file')}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
  ]
}

/** The answer without the part that may differ. */
function without(answer: RecordedAnswer, part: DifferingPart): unknown {
  const { status, body, ...rest } = answer
  const { message: _message, code: _code, reason: _reason, ...others } = body as Record<string, unknown>
  switch (part) {
    case 'everything':
      return undefined
    case 'message':
      return { ...rest, status, ...others }
    case 'code':
      return { ...rest, ...others, message: _message }
    case 'values':
      return { ...rest, status, ...others, details: withoutValues(others['details']) }
  }
}

interface Details {
  readonly causes?: readonly { readonly message?: string }[]
}

/** `Invalid value: {"a":"b"}: field is immutable` without the text between the colons. */
function withoutValues(details: unknown): unknown {
  const { causes = [], ...rest } = details as Details
  const blank = (text = '') => text.replace(/^((?:Invalid|Unsupported|Duplicate) value): .*?(: .*)?$/s, '$1$2').split('\n')[0]
  return { ...rest, causes: causes.map((cause) => ({ ...cause, message: blank(cause.message) })) }
}

/** Both sides of each difference, for a reader who uses diff. */
function write(differing: readonly Outcome[]): void {
  const folder = process.env.ORCH_RECORDED_DIFF
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}/differing.json`, JSON.stringify(differing, undefined, 1))
}
