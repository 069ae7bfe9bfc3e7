import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { loadConfiguration, readText } from '@orch/client'
import { aConfigMap } from '@orch/testkit'
import { aFolder } from '@orch/testkit/folder'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runRefused, runToEnd, type ServerProcess, startProcess } from './server-process.ts'

const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }

const parsed = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

describe('two servers with --memory on one folder', () => {
  test('NAME-05, WATCH-09: are separate; the first has a path prefix, an address from the environment and a JSON log, sends watches a last bookmark at a signal, and exits with 0; the second fails /readyz from the signal on and serves requests during the delay', async () => {
    const flags = ['--log-format=json', '--feature-gates=SeparateTaintEvictionController=true', '--path-prefix=/cluster-a']
    const first = await startProcess(['--memory', ...flags], { env: { ORCH_BIND_ADDRESS: '127.0.0.2' } })
    const { url, client, dataDir } = first
    expect(url).toMatch(/^https:\/\/127\.0\.0\.2:\d+\/cluster-a$/)
    expect(await client.request({ method: 'GET', path: '/version' })).toMatchObject({ major: '1', minor: '37' })
    expect(parsed(first.message)).toEqual([
      { level: 'info', time: expect.any(String), msg: 'ready', url, profile: 'orch', dataDir, kubeconfig: join(dataDir, 'admin.conf') },
    ])
    const events = await client.resource(configMaps).watch({ resourceVersion: '0', allowWatchBookmarks: true })
    await client.resource(configMaps).create(aConfigMap({ name: 'lost' }))
    const types: string[] = []
    const reading = (async () => {
      for await (const { type } of events) types.push(type)
    })()
    const exit = await first.stop()
    await reading
    expect(exit).toMatchObject({ code: 0 })
    expect(parsed(exit.error).map(({ msg }) => msg)).toContain('stopping')
    expect(types.at(-1)).toBe('BOOKMARK')
    expect(readdirSync(dataDir).filter((name) => name.includes('mdb'))).toEqual([])

    const second = await startProcess(['--memory', '--shutdown-delay-duration=1m'], { dataDir })
    await expect(second.client.resource(configMaps).get('lost', { namespace: 'default' })).rejects.toMatchObject({ code: 404 })
    expect(await statusOf(second, '/readyz')).toBe(200)
    second.signal('SIGTERM')
    while ((await statusOf(second, '/readyz')) === 200);
    expect(await statusOf(second, '/readyz')).toBe(500)
    expect(await second.client.resource(configMaps).list()).toMatchObject({ kind: 'ConfigMapList' })
    second.signal('SIGTERM')
    expect(await second.exited).toMatchObject({ code: 1 })
  })
})

test('a request under way at a signal is answered, even if watches end at once', async () => {
  const flags = ['--memory', '--shutdown-watch-termination-grace-period=0s']
  const { url, client, dataDir, signal, exited } = await startProcess(flags)
  const events = await client.resource(configMaps).watch({ resourceVersion: '0' })
  const { certificateAuthority: ca, clientCertificate: cert, clientKey: key } = await loadConfiguration(join(dataDir, 'admin.conf'))
  const headers = { 'content-type': 'application/json' }
  const sent = request(`${url}/api/v1/namespaces/default/configmaps`, { method: 'POST', headers, ca, cert, key })
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>
  sent.write('{"metadata":')
  const inFlight = 'apiserver_current_inflight_requests{request_kind="mutating"} 1'
  while (!(await readText(await client.transport.send({ method: 'GET', path: '/metrics', headers: {} }))).includes(inFlight));
  signal('SIGTERM')
  for await (const _ of events);
  sent.end('{"name":"late"}}')
  const [answer] = await answered
  answer.resume()
  expect([answer.statusCode, await exited]).toEqual([201, expect.objectContaining({ code: 0 })])
})

describe('the first start', () => {
  test('creates the files of the client, readable only by their owner, and prints their place; a second process on the folder is refused; the state survives a kill', async () => {
    const first = await startProcess([])
    const { dataDir, url, message, pid } = first
    expect(statSync(dataDir).mode & 0o777).toBe(0o700)
    for (const name of ['admin.conf', 'ca.crt', 'ca.key', 'admin.crt', 'admin.key', 'serving.crt', 'serving.key']) {
      expect(statSync(join(dataDir, name)).mode & 0o777).toBe(0o600)
    }
    expect(readFileSync(join(dataDir, 'admin.conf'), 'utf8')).toContain(`server: "${url}"`)
    expect(message).toContain(`orch is ready at ${url} (profile orch, data in ${dataDir})`)
    const { code, error } = await runToEnd([`--data-dir=${dataDir}`, '--secure-port=0'])
    expect(code).toBe(1)
    expect(error).toContain(`orch: the data directory ${dataDir} is in use by process ${pid}, which listens on ${url}\n`)
    const created = await first.client.resource(configMaps).create(aConfigMap({ name: 'kept', data: { a: '1' } }))
    first.signal('SIGKILL')
    await first.exited
    const second = await startProcess([], { dataDir })
    expect(await second.client.resource(configMaps).get('kept', { namespace: 'default' })).toEqual(created)
  })
})

describe('an impossible start is refused with one sentence', () => {
  test('for a port in use', async () => {
    const taken = createServer()
    onTestFinished(() => void taken.close())
    const port = await new Promise<number>((resolve) =>
      taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port)),
    )
    const { code, error } = await runToEnd(['--memory', `--data-dir=${aFolder()}`, `--secure-port=${port}`])
    expect([code, error]).toEqual([1, expect.stringContaining(`orch: port ${port} on 127.0.0.1 is in use by another program`)])
  })

  test('for a client configuration that cannot be written: the listening server ends, and the folder is released', async () => {
    const dataDir = aFolder()
    const configuration = join(dataDir, 'admin.conf')
    mkdirSync(configuration)
    const { code, error } = await runToEnd([`--data-dir=${dataDir}`, '--secure-port=0'])
    expect({ code, error }).toEqual({
      code: 1,
      error: `orch: the file ${configuration} cannot be written: illegal operation on a directory (EISDIR)\n`,
    })
    expect(readdirSync(dataDir).filter((name) => name.endsWith('.new'))).toEqual([])
    rmdirSync(configuration)
    const { client } = await startProcess([], { dataDir })
    expect(await client.resource(configMaps).list()).toMatchObject({ kind: 'ConfigMapList' })
  })

  test('for an invalid data folder, or a data folder that cannot be written', async () => {
    const file = join(aFolder(), 'file')
    writeFileSync(file, '')
    expect(await runToEnd([`--data-dir=${file}`, '--secure-port=0'])).toMatchObject({
      code: 1,
      error: `orch: ${file} is a file, expected a folder\n`,
    })
    const below = join(file, 'below')
    expect(await runToEnd([`--data-dir=${below}`, '--secure-port=0'])).toMatchObject({
      code: 1,
      error: `orch: the folder ${below} cannot be made: not a directory (ENOTDIR)\n`,
    })
  })

  test('for a data file that is truncated, damaged (a large value is noticed soon after the start), or of the other profile', async () => {
    const first = await startProcess([])
    const maps = first.client.resource(configMaps)
    await maps.create(aConfigMap({ name: 'kept', data: { text: 'as it was written' } }))
    await maps.create(aConfigMap({ name: 'large', data: { text: `${'.'.repeat(40_000)}as it is large` } }))
    await first.stop()
    const path = join(first.dataDir, 'state.mdb')
    const bytes = readFileSync(path)
    const again = (...flags: readonly string[]) => runToEnd([`--data-dir=${first.dataDir}`, '--secure-port=0', ...flags])
    const sentence = (what: string, flags = '') =>
      expect.stringMatching(
        new RegExp(`^orch: the data file ${path} is damaged \\(${what}\\): put back a copy of the folder .*\\n$`, flags),
      )
    const changed = (text: string, to: string) => Buffer.from(bytes.toString('latin1').replaceAll(text, to), 'latin1')
    writeFileSync(path, bytes.subarray(0, 20_000))
    expect(await again()).toMatchObject({ code: 1, error: sentence('it has 20000 bytes, and its pages need \\d+') })
    writeFileSync(path, changed('as it was written', 'as it was Written'))
    expect(await again()).toMatchObject({ code: 1, error: sentence('what was written at revision \\d+ has changed') })
    writeFileSync(path, changed('.as it is large', '.as it is Large'))
    expect(await again()).toMatchObject({ code: 1, error: sentence('what was written at revision \\d+ has changed', 'm') })
    writeFileSync(path, bytes)
    expect(await again('--profile=kubernetes')).toMatchObject({ code: 1, error: expect.stringMatching(/^orch: .*orch.*kubernetes.*\n$/) })
    const { client } = await startProcess([], { dataDir: first.dataDir })
    expect(await client.resource(configMaps).get('kept', { namespace: 'default' })).toMatchObject({ data: { text: 'as it was written' } })
    expect(await client.resource(configMaps).get('large', { namespace: 'default' })).toMatchObject({ metadata: { name: 'large' } })
  })
})

describe('the log with --log-format=json has an object in every line', () => {
  test.each([
    ['a flag', ['--log-format=json', '--memry'], {}, 'unknown flag --memry; did you mean --memory?'],
    [
      'the environment',
      ['--gateways=3'],
      { ORCH_LOG_FORMAT: 'json' },
      '--gateways needs --distributed: in one process there is one of each service',
    ],
  ])('for the reason of a failed start, as %s requests', async (_, flags, env, msg) => {
    const { error } = await runRefused(flags, env)
    expect(parsed(error)).toEqual([{ level: 'error', time: expect.any(String), msg }])
  })

  test('for the reason of a failed start, if the file requests it', async () => {
    const folder = aFolder()
    const config = join(folder, 'config.yaml')
    writeFileSync(config, 'log-format: json\nmemory: true\n')
    const { error } = await runRefused([`--config=${config}`, `--data-dir=${config}`])
    expect(parsed(error)).toEqual([{ level: 'error', time: expect.any(String), msg: `${config} is a file, expected a folder` }])
  })
})

async function statusOf({ client }: ServerProcess, path: string): Promise<number> {
  const response = await client.transport.send({ method: 'GET', path, headers: {} })
  await readText(response)
  return response.status
}
