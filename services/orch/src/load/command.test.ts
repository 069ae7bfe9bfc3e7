import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHttpsTransport, readText } from '@orch/client'
import { silentLog, systemChance } from '@orch/platform'
import { createMemoryStore } from '@orch/storage'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCommand } from '../command-line.ts'
import { type RunningServer, start } from '../index.ts'
import { printingTerminal } from '../process/terminal-testing.ts'
import { readUpOptions } from '../settings/up.ts'
import { startControlledServer } from '../start/controlled-server.ts'
import { loadIntoStarted } from '../up.ts'

const folder = mkdtempSync(join(tmpdir(), 'load-command-'))
let base: RunningServer

beforeAll(async () => {
  base = await start({ profile: 'kubernetes', control: true })
})
afterAll(async () => {
  await base.stop()
  rmSync(folder, { recursive: true })
})

function write(name: string, content: string): string {
  writeFileSync(join(folder, name), content)
  return name
}

const uid = '00000000-0000-4000-8000-000000000001'
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default', uid }, data: { a: 'b' } }
const thing = { apiVersion: 'nowhere.example.com/v1', kind: 'Thing', metadata: { name: 'thing' } }
const dump = write(
  'dump.json',
  JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [configMap, { ...configMap, metadata: {} }, thing] }),
)

async function run(...words: string[]) {
  const { printed, terminal } = printingTerminal(folder, ['load', ...words])
  return { code: await runCommand(terminal), ...printed }
}

test('orch load stores a dump in a server with a control, and prints the result for its objects', async () => {
  await using server = await base.fork()
  const kubeconfig = write('fork.conf', server.kubeconfig)
  expect(await run('dump.json', '--kubeconfig', kubeconfig)).toEqual({
    code: 0,
    out: [
      'loaded 1 object',
      'kinds: ConfigMap 1',
      'not served: nowhere.example.com/v1 Thing 1',
      `${join(folder, 'dump.json')}: v1 ConfigMap : it has no name`,
      '',
    ].join('\n'),
    error: '',
  })
  expect(await server.client.objects.get({ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: 'default' })).toMatchObject({
    metadata: { uid },
  })
  const again = await run('dump.json', '--kubeconfig', kubeconfig, '--existing=keep', '--output=json')
  expect(JSON.parse(again.out)).toMatchObject({ loaded: 0, skipped: { ConfigMap: 1 } })
})

test.each<[string, readonly string[], number, string]>([
  ['no files', [], 2, 'files or folders are needed: orch load dump.yaml'],
  ['a file that is not there', ['absent.yaml', '--kubeconfig=base.conf'], 1, 'absent.yaml: there is no such file or folder'],
  ['no client configuration', ['dump.json', '--kubeconfig=absent.conf'], 1, 'absent.conf; give one with --kubeconfig'],
  ['a context that is not there', ['dump.json', '--kubeconfig=base.conf', '--context=x'], 1, 'has no context named "x"'],
  ['an unknown kind, where that is an error', ['dump.json', '--kubeconfig=base.conf', '--unknown=error'], 1, 'its kind is not served'],
])('orch load with %s reports it', async (_what, words, code, message) => {
  write('base.conf', base.kubeconfig)
  expect(await run(...words)).toEqual({ code, out: '', error: expect.stringContaining(message) })
})

test('orch load names the flag that a server without a control lacks', async () => {
  await using server = await start({ profile: 'kubernetes' })
  const { code, error } = await run('dump.json', '--kubeconfig', write('plain.conf', server.kubeconfig))
  expect([code, error]).toEqual([1, expect.stringContaining('start it with orch up --control, or load at its start with orch up --load')])
})

test.each<[string, string, string, string, number, string]>([
  ['another content type', '', 'application/json', '{}', 400, 'application/x-ndjson'],
  ['a line that is no JSON', '', 'application/x-ndjson', `${JSON.stringify(configMap)}\n{`, 400, 'line 2: '],
  ['a line that is no object', '', 'application/x-ndjson', '\n[]\n', 400, 'line 1: an object was expected'],
  ['an object without a kind', '', 'application/x-ndjson', '{"apiVersion":"v1","metadata":{}}', 400, 'line 1: an object has no apiVersion'],
  ['a line without an end', '', 'application/x-ndjson', 'x'.repeat(4_000_000), 413, 'a line'],
  ['secrets of lines to redact', '?secrets=redact', 'application/x-ndjson', '', 400, 'secrets=redact: must be redact, for a file'],
  ['an unknown wish', '?existing=x', 'application/x-ndjson', '', 400, 'existing=x: must be keep or replace'],
])('/orch/v1/load refuses a body with %s', async (_what, query, contentType, body, code, message) => {
  const { token, certificateAuthority } = base.control ?? { token: '', certificateAuthority: '' }
  const transport = createHttpsTransport({ server: base.url, certificateAuthority, token })
  const response = await transport.send({
    method: 'POST',
    path: `/orch/v1/load${query}`,
    headers: { 'content-type': contentType },
    body,
  })
  expect([response.status, await readText(response)]).toEqual([code, expect.stringContaining(message)])
  transport.close()
})

test('orch up --load has the objects of a dump before it is ready', async () => {
  const { terminal } = printingTerminal(folder, [])
  const { texts: _, settings, ...options } = await readUpOptions(terminal, ['--profile=kubernetes', '--secure-port=0', `--load=${dump}`])
  const server = await startControlledServer({
    server: { ...options, store: createMemoryStore(), chance: systemChance, log: silentLog },
    dataDir: folder,
    isVirtual: false,
    start: { profile: 'kubernetes' },
  })
  await loadIntoStarted(
    server,
    settings.load.map((name) => join(folder, name)),
    silentLog,
  )
  const client = server.clientAs({ name: 'a', groups: ['system:masters'] })
  expect(await client.objects.get({ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: 'default' })).toMatchObject({
    metadata: { uid },
  })
  client.close()
  await server.stop({ delayMs: 0, graceMs: 0 })
  await expect(readUpOptions(terminal, ['--distributed', '--load=a'])).rejects.toThrow('--load with --distributed')
})
