import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLog } from '@orch/platform'
import { expect, onTestFinished, test } from 'vitest'
import { readUpOptions } from '../settings/up-options.ts'
import { threadsHere } from './options.ts'

const policy = 'apiVersion: audit.orch.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n'

async function read(flags: string[], env: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'threads-options-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'policy.yaml'), policy)
  const ignore = () => {}
  const given = flags.map((flag) => flag.replace('@', `${folder}/`))
  return await readUpOptions({ arguments: [], env, workingFolder: folder, out: ignore, error: ignore }, given)
}

const alone: readonly { what: string; flags?: string[]; env?: Record<string, string>; sentence: string }[] = [
  { what: 'audit backends', flags: ['--audit-log-path=-', '--audit-policy-file=@policy.yaml'], sentence: 'with audit backends: ' },
  { what: 'traces', env: { OTEL_TRACES_EXPORTER: 'console' }, sentence: 'with traces (OTEL_* variables): ' },
  { what: 'services apart', flags: ['--distributed'], sentence: 'with --distributed: gateways are processes there; see --gateways' },
  {
    what: 'fewer reads than threads',
    flags: ['--max-requests-inflight=1'],
    sentence: 'with --max-requests-inflight=1: threads divide it, so it is at least 2, or 0',
  },
  {
    what: 'fewer writes than threads',
    flags: ['--max-mutating-requests-inflight=1'],
    sentence: 'with --max-mutating-requests-inflight=1: threads divide it, so it is at least 2, or 0',
  },
]

test.each(alone)('$what: refused with several threads, and not with one', async ({ flags = [], env, sentence }) => {
  await expect(read(['--threads=2', ...flags], env)).rejects.toThrow(`--threads=2 ${sentence}`)
  await expect(read(['--threads=1', ...flags], env)).resolves.toMatchObject({ settings: { threads: 1 } })
})

test('several threads are taken with settings that each can keep, and 1 is the default', async () => {
  expect(await read(['--threads=3', '--max-requests-inflight=0'])).toMatchObject({ settings: { threads: 3 } })
  expect(await read([])).toMatchObject({ settings: { threads: 1 } })
  await expect(read(['--threads=0'])).rejects.toThrow('--threads')
})

test('where threads cannot share a port there is one, and the log says so', () => {
  const warnings: unknown[] = []
  const log = { ...silentLog, warn: (fields: object, message: string) => void warnings.push([fields, message]) }
  expect(threadsHere(4, log, false)).toBe(1)
  expect(warnings).toEqual([[{ threads: 4 }, 'threads can share a port on Linux alone: one thread takes all requests']])
  expect([threadsHere(1, log, false), threadsHere(4, log, true)]).toEqual([1, 4])
  expect(warnings).toHaveLength(1)
})
