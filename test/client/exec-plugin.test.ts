import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CredentialSurroundings, createClient, createTransport, loadConfiguration, parseConfiguration } from '@orch/client'
import { aCertificate, anAuthority } from '@orch/platform/any-certificate'
import { start } from 'orch'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'

// The tests' programs are scripts, so they end before the time limit.
const surroundings: CredentialSurroundings = { now: () => 1_000_000, env: process.env, isInteractive: false, say: () => {} }

const v1 = 'client.authentication.orch.io/v1'
const v1beta1 = 'client.authentication.orch.io/v1beta1'

let server: Awaited<ReturnType<typeof start>>
let cluster: { readonly server: string; readonly 'certificate-authority-data': string }
const clients = await anAuthority('clients')

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'exec-'))
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const tokens = write('tokens.csv', 'first,jane,1,system:masters\nsecond,john,2,system:masters\n')
  server = await start({ flags: [`--token-auth-file=${tokens}`, `--client-ca-file=${write('ca.crt', clients.certificate)}`] })
  const { certificateAuthority = '' } = await parseConfiguration(server.kubeconfig)
  cluster = { server: server.url, 'certificate-authority-data': Buffer.from(certificateAuthority).toString('base64') }
  return async () => {
    await server.stop()
    rmSync(folder, { recursive: true })
  }
})

/** A folder with a plugin. Its script may use `info`, `runs` (the number of earlier runs) and `print(status)`. */
function aPlugin(script: string, apiVersion = v1) {
  const folder = mkdtempSync(join(tmpdir(), 'plugin-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'bin'))
  const file = join(folder, 'bin/plugin')
  const log = join(folder, 'runs')
  writeFileSync(
    file,
    `#!${process.execPath}
const fs = require('node:fs')
const log = ${JSON.stringify(log)}
const runs = fs.existsSync(log) ? fs.readFileSync(log, 'utf8').trim().split('\\n').length : 0
const info = JSON.parse(process.env.ORCH_EXEC_INFO ?? process.env.KUBERNETES_EXEC_INFO)
fs.appendFileSync(log, JSON.stringify({ info, args: process.argv.slice(2), extra: process.env.EXTRA, stdin: fs.fstatSync(0).isCharacterDevice() }) + '\\n')
const print = (status, more) => console.log(JSON.stringify({ apiVersion: ${JSON.stringify(apiVersion)}, kind: 'ExecCredential', status, ...more }))
${script}
`,
  )
  chmodSync(file, 0o755)
  const runs = () =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
      : []
  return { folder, file, runs }
}

interface Exec {
  readonly [field: string]: unknown
}

const aConfiguration = (exec: Exec, extensions?: unknown) =>
  JSON.stringify({
    'current-context': 'x',
    clusters: [{ name: 'c', cluster: { ...cluster, ...(extensions === undefined ? {} : { extensions }) } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    users: [{ name: 'u', user: { exec } }],
  })

/** A client that uses the plugin. */
async function aClient(
  exec: Exec,
  { folder, more = {}, extensions }: { folder?: string; more?: Partial<CredentialSurroundings>; extensions?: unknown } = {},
) {
  const configuration = await parseConfiguration(aConfiguration(exec, extensions), folder === undefined ? {} : { folder })
  const client = createClient(createTransport(configuration, { ...surroundings, ...more }))
  onTestFinished(() => client.close())
  return client
}

const exec = (file: string, more: Exec = {}) => ({ apiVersion: v1, command: file, interactiveMode: 'Never', ...more })

async function userOf(client: Awaited<ReturnType<typeof aClient>>): Promise<string> {
  const review = { apiVersion: 'authentication.orch.io/v1', kind: 'SelfSubjectReview', metadata: {} }
  const path = '/apis/authentication.orch.io/v1/selfsubjectreviews'
  const answer = await client.request<{ status: { userInfo: { username: string } } }>({ method: 'POST', path, body: review })
  return answer.status.userInfo.username
}

describe('the configuration of an exec plugin', () => {
  test('CLI-EXEC-01, CLI-EXEC-03: is exec of the user; a relative command starts at the folder of the file', async () => {
    const plugin = aPlugin("print({ token: 'first' })")
    writeFileSync(join(plugin.folder, 'config'), aConfiguration(exec('bin/plugin')))
    const client = createClient(createTransport(await loadConfiguration(join(plugin.folder, 'config')), surroundings))
    onTestFinished(() => client.close())
    expect(await userOf(client)).toBe('jane')
  })

  test.each([
    ['CLI-EXEC-02: command is required', { command: undefined }, 'user u: exec.command must be specified'],
    ['CLI-EXEC-04: apiVersion is required', { apiVersion: undefined }, 'user u: exec.apiVersion must be specified'],
    [
      'CLI-EXEC-04: and one of the known',
      { apiVersion: 'client.authentication.orch.io/v2' },
      'v2 is not known: must be one of client.authentication.orch.io/v1, client.authentication.orch.io/v1beta1',
    ],
    [
      'CLI-EXEC-11: interactiveMode is required in v1',
      { interactiveMode: undefined },
      'user u: exec.interactiveMode must be specified with client.authentication.orch.io/v1',
    ],
    ['CLI-EXEC-13: and one of three', { interactiveMode: 'Sometimes' }, 'Sometimes: must be one of Never, IfAvailable, Always'],
    ['CLI-EXEC-07: args is a list of strings', { args: [1] }, 'user u: exec.args must be a list of strings'],
    ['CLI-EXEC-06: env is a list of names and values', { env: [{ name: 'A' }] }, 'user u: exec.env must be a list of names and values'],
  ] as const)('%s', async (_, fields, message) => {
    await expect(aClient({ ...exec('plugin'), ...fields })).rejects.toThrow(message)
  })

  test('CLI-EXEC-06, CLI-EXEC-07: passes env and args to the plugin', async () => {
    const plugin = aPlugin("print({ token: 'first' })")
    await userOf(await aClient(exec(plugin.file, { args: ['a', 'b c'], env: [{ name: 'EXTRA', value: 'yes' }] })))
    expect(plugin.runs()).toMatchObject([{ args: ['a', 'b c'], extra: 'yes' }])
  })

  test('CLI-EXEC-08: has an installHint that is shown once when the command is missing', async () => {
    const said: string[] = []
    const client = await aClient(exec('no-such-plugin', { installHint: 'npm install --global no-such-plugin' }), {
      more: { say: (text) => said.push(text) },
    })
    await expect(userOf(client)).rejects.toThrow('exec: executable no-such-plugin not found')
    await expect(userOf(client)).rejects.toThrow('not found')
    expect(said).toEqual([expect.stringContaining('npm install --global no-such-plugin')])
  })
})

describe('the input of an exec plugin', () => {
  const config = { anything: ['at', 'all'] }
  const extensions = [{ name: 'client.authentication.orch.io/exec', extension: config }]

  test('CLI-EXEC-09, CLI-EXEC-16, CLI-EXEC-17: is an ExecCredential, with the cluster on request', async () => {
    const plugin = aPlugin("print({ token: 'first' })")
    await userOf(await aClient(exec(plugin.file, { provideClusterInfo: true }), { extensions }))
    const [{ info }] = plugin.runs()
    expect(info).toEqual({ kind: 'ExecCredential', apiVersion: v1, spec: { interactive: false, cluster: { ...cluster, config } } })
  })

  test('CLI-EXEC-10: has no cluster unless requested', async () => {
    const plugin = aPlugin("print({ token: 'first' })")
    await userOf(await aClient(exec(plugin.file), { extensions }))
    expect(plugin.runs()[0].info.spec).toEqual({ interactive: false })
  })

  test('NAME-04: is in a variable named after the profile of the API group', async () => {
    const plugin = aPlugin(
      "if ('ORCH_EXEC_INFO' in process.env) process.exit(1)\nprint({ token: 'first' })",
      'client.authentication.k8s.io/v1',
    )
    expect(await userOf(await aClient(exec(plugin.file, { apiVersion: 'client.authentication.k8s.io/v1' })))).toBe('jane')
    const own = aPlugin("if ('KUBERNETES_EXEC_INFO' in process.env) process.exit(1)\nprint({ token: 'first' })")
    expect(await userOf(await aClient(exec(own.file)))).toBe('jane')
  })

  test.each([
    ['CLI-EXEC-13: Never: not interactive with a terminal', 'Never', true, false],
    ['CLI-EXEC-14: IfAvailable: interactive with a terminal', 'IfAvailable', true, true],
    ['CLI-EXEC-14: IfAvailable: not without', 'IfAvailable', false, false],
    ['CLI-EXEC-15: Always: interactive with a terminal', 'Always', true, true],
  ] as const)('%s', async (_, interactiveMode, isInteractive, expected) => {
    const plugin = aPlugin("print({ token: 'first' })")
    await userOf(await aClient(exec(plugin.file, { interactiveMode }), { more: { isInteractive } }))
    expect(plugin.runs()[0].info.spec.interactive).toBe(expected)
  })

  test('CLI-EXEC-15: is not sent with Always without a terminal, which fails', async () => {
    const plugin = aPlugin("print({ token: 'first' })")
    await expect(userOf(await aClient(exec(plugin.file, { interactiveMode: 'Always' })))).rejects.toThrow(
      'standard input is not a terminal',
    )
    expect(plugin.runs()).toEqual([])
  })

  test('CLI-EXEC-12: has interactiveMode IfAvailable by default in v1beta1', async () => {
    const plugin = aPlugin("print({ token: 'first' })", v1beta1)
    await userOf(await aClient({ apiVersion: v1beta1, command: plugin.file }, { more: { isInteractive: true } }))
    expect(plugin.runs()[0].info).toMatchObject({ apiVersion: v1beta1, spec: { interactive: true } })
  })
})

describe('the output of an exec plugin', () => {
  test('CLI-EXEC-18, CLI-EXEC-19: has a token in its status, which is sent', async () => {
    expect(await userOf(await aClient(exec(aPlugin("print({ token: 'second' })").file)))).toBe('john')
  })

  test('CLI-EXEC-20, CLI-EXEC-21: has a certificate and a key, with intermediate certificates', async () => {
    const intermediate = await aCertificate({ issuer: clients, commonName: 'intermediate', isAuthority: true })
    const own = await aCertificate({ issuer: intermediate, commonName: 'carl', organizations: ['system:masters'], use: 'client' })
    const status = { clientCertificateData: `${own.certificate.trim()}\n${intermediate.certificate}`, clientKeyData: own.key }
    expect(await userOf(await aClient(exec(aPlugin(`print(${JSON.stringify(status)})`).file)))).toBe('carl')
  })

  test.each([
    [
      'CLI-EXEC-05: another version',
      "print({ token: 'first' }, { apiVersion: 'client.authentication.orch.io/v1beta1' })",
      'is configured to use API version client.authentication.orch.io/v1, plugin returned version client.authentication.orch.io/v1beta1',
    ],
    ['CLI-EXEC-18: another kind', "print({ token: 'first' }, { kind: 'Secret' })", 'its output is not an ExecCredential'],
    ['CLI-EXEC-18: no JSON', "console.log('please log in')", 'its output is not JSON'],
    ['CLI-EXEC-18: no status', 'print()', "didn't return a status field"],
    ['CLI-EXEC-19: neither token nor certificate', 'print({})', "didn't return a token or cert/key pair"],
    ['CLI-EXEC-20: a certificate alone', "print({ clientCertificateData: 'x' })", 'returned only certificate or key, not both'],
    ['CLI-EXEC-20: a key alone', "print({ clientKeyData: 'x' })", 'returned only certificate or key, not both'],
    [
      'CLI-EXEC-22: an expiry that is no time',
      "print({ token: 'first', expirationTimestamp: 'tomorrow' })",
      'its expirationTimestamp "tomorrow" is not a time as RFC 3339 writes it',
    ],
    ['CLI-EXEC-18: a failure', 'process.exit(3)', 'failed with exit code 3'],
    ['CLI-EXEC-18: an end by a signal', "process.kill(process.pid, 'SIGKILL')", 'was ended by SIGKILL'],
  ] as const)('%s is an error', async (_, script, message) => {
    await expect(userOf(await aClient(exec(aPlugin(script).file)))).rejects.toThrow(message)
  })

  test('CLI-EXEC-18: is no longer awaited when the client ends', async () => {
    const plugin = aPlugin('setInterval(() => {}, 1000)')
    const client = await aClient(exec(plugin.file))
    const asked = userOf(client)
    await expect.poll(() => plugin.runs().length).toBe(1)
    client.close()
    await expect(asked).rejects.toThrow('was ended by SIGTERM')
  })
})

describe('the lifetime of exec credentials', () => {
  test('CLI-EXEC-24: lasts until a 401 without an expiry, and parallel requests run the plugin once', async () => {
    const plugin = aPlugin("print({ token: 'first' })")
    const client = await aClient(exec(plugin.file))
    expect(await Promise.all([userOf(client), userOf(client), userOf(client)])).toEqual(['jane', 'jane', 'jane'])
    expect(await userOf(client)).toBe('jane')
    expect(plugin.runs().length).toBe(1)
  })

  test('CLI-EXEC-22, CLI-EXEC-23: lasts until the expiry', async () => {
    const plugin = aPlugin(`print({ token: runs === 0 ? 'first' : 'second', expirationTimestamp: '1970-01-01T01:00:00Z' })`)
    let nowMs = 3_599_999
    const client = await aClient(exec(plugin.file), { more: { now: () => nowMs } })
    expect([await userOf(client), await userOf(client)]).toEqual(['jane', 'jane'])
    nowMs = 3_600_000
    expect(await userOf(client)).toBe('john')
    expect(plugin.runs().length).toBe(2)
  })

  test('CLI-EXEC-23, CLI-EXEC-25: ends with a 401, which runs the plugin again and repeats the request once', async () => {
    const plugin = aPlugin(`print({ token: runs === 0 ? 'revoked' : 'second', expirationTimestamp: '2999-01-01T00:00:00Z' })`)
    expect(await userOf(await aClient(exec(plugin.file)))).toBe('john')
    expect(plugin.runs().length).toBe(2)
  })

  test('CLI-EXEC-25: leaves the 401 if the plugin returns the same credential', async () => {
    const plugin = aPlugin("print({ token: 'revoked' })")
    await expect(userOf(await aClient(exec(plugin.file)))).rejects.toThrow('Unauthorized')
    expect(plugin.runs().length).toBe(2)
  })

  test('CLI-EXEC-26: ends with a new certificate, which is used in a new handshake', async () => {
    const [first, second] = await Promise.all(
      ['one', 'two'].map((commonName) => aCertificate({ issuer: clients, commonName, organizations: ['system:masters'], use: 'client' })),
    )
    const data = [first, second].map((pair) => ({
      clientCertificateData: pair?.certificate,
      clientKeyData: pair?.key,
      expirationTimestamp: '1970-01-01T01:00:00Z',
    }))
    const plugin = aPlugin(`print(${JSON.stringify(data)}[runs])`)
    let nowMs = 0
    const client = await aClient(exec(plugin.file), { more: { now: () => nowMs } })
    expect(await userOf(client)).toBe('one')
    nowMs = 3_600_000
    expect(await userOf(client)).toBe('two')
  })
})
