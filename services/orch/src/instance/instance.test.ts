import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readYaml } from '@orch/core/yaml'
import { silentLog } from '@orch/platform'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { runCommand } from '../command-line.ts'
import { printingTerminal } from '../process/terminal-testing.ts'
import { start } from '../start/start.ts'
import { lockDataFolder, makeDataFolder } from '../storage/open.ts'

let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'instance-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
})

async function run(...args: string[]) {
  const { printed, terminal } = printingTerminal(folder, args)
  const code = await runCommand(terminal)
  return { code, ...printed }
}

const printed = (out: unknown, code = 0) => ({ code, out, error: '' })
const refused = (reason: string) => ({ code: 1, out: '', error: expect.stringContaining(reason) })

/** A data folder as a server leaves it. */
function aDataFolder(profile = 'kubernetes', files: readonly string[] = ['state.mdb', 'initialized', 'ca.crt']): string {
  const data = join(folder, '.orch', profile)
  mkdirSync(data, { recursive: true })
  for (const file of files) writeFileSync(join(data, file), '')
  return data
}

/** This process locks the folder like a server. */
function serve(data: string, address = 'https://127.0.0.1:1'): void {
  makeDataFolder(data, silentLog)
  lockDataFolder(data).announce(address)
}

describe('console', () => {
  test('prints a link of the server of a folder, or reports that no server runs', async () => {
    const data = aDataFolder()
    expect(await run('console')).toEqual(refused('.orch/kubernetes: no server runs on it; start one with orch up'))
    serve(data)
    for (const hasConsole of [true, false]) {
      const server = await start({ console: hasConsole })
      onTestFinished(() => server.stop())
      writeFileSync(join(data, 'admin.conf'), server.kubeconfig)
      const answer = hasConsole
        ? printed(expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/console\/#ticket=[\w-]{43}\n$/))
        : refused('.orch/kubernetes: its server has no console; start it with --console=true')
      expect(await run('console')).toEqual(answer)
    }
  })
})

describe('status', () => {
  test('finds no server without a data folder', async () => {
    expect(await run('status')).toEqual(
      printed('there is no data folder here: neither --data-dir is given, nor is there .orch/orch or .orch/kubernetes\n', 1),
    )
    expect(await run('status', '--data-dir=x')).toEqual(printed('there is no data folder x\n', 1))
  })

  test('a folder on which no server runs', async () => {
    aDataFolder()
    expect(await run('status')).toEqual(printed('.orch/kubernetes: no server runs on it\n', 1))
    expect(await run('status', '--profile=orch')).toEqual(printed(expect.stringContaining('there is no data folder here'), 1))
  })

  test('does not take a process that has ended silently for the server', async () => {
    const data = aDataFolder()
    writeFileSync(join(data, 'owner'), JSON.stringify({ pid: process.pid, address: 'https://127.0.0.1:1' }))
    expect((await run('status')).out).toBe('.orch/kubernetes: no server runs on it\n')
  })

  test('a server that does not answer is not ready', async () => {
    const data = aDataFolder()
    serve(data)
    writeFileSync(
      join(data, 'admin.conf'),
      'current-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\nclusters: [{name: a, cluster: {server: "http://127.0.0.1:1"}}]\nusers: [{name: a, user: {}}]\n',
    )
    const { code, out } = await run('status')
    expect(code).toBe(1)
    expect(out).toMatch(
      new RegExp(`^\\.orch/kubernetes: process ${process.pid} listens on https://127\\.0\\.0\\.1:1 and is not ready: .*ECONNREFUSED`),
    )
  })

  test('shows a server that has not announced its address as starting', async () => {
    serve(aDataFolder(), '')
    expect(await run('status')).toEqual(printed(`.orch/kubernetes: process ${process.pid} is starting\n`, 1))
  })
})

describe('stop', () => {
  test('has nothing to do without a server', async () => {
    aDataFolder()
    expect(await run('stop')).toEqual(printed('.orch/kubernetes: no server runs on it\n'))
  })

  test('of several folders one must be named, unless one alone has a server', async () => {
    aDataFolder('orch')
    aDataFolder('kubernetes')
    expect(await run('stop')).toEqual(
      refused('there are several data folders, .orch/orch and .orch/kubernetes: name one by --data-dir or --profile'),
    )
    expect(await run('stop', '--profile=orch')).toEqual(printed('.orch/orch: no server runs on it\n'))
  })
})

describe('reset', () => {
  test('deletes the state with --yes, and leaves the certificates', async () => {
    const data = aDataFolder()
    expect(await run('reset')).toEqual(
      printed('.orch/kubernetes: would delete all objects, in state.mdb, initialized; certificates stay. Repeat it with --yes\n', 1),
    )
    expect(existsSync(join(data, 'state.mdb'))).toBe(true)
    expect(await run('reset', '--yes')).toEqual(printed('.orch/kubernetes: all objects have been deleted\n'))
    expect(['state.mdb', 'initialized', 'ca.crt'].map((file) => existsSync(join(data, file)))).toEqual([false, false, true])
    expect(await run('reset')).toEqual(printed('.orch/kubernetes: holds no objects\n'))
  })

  test('a folder on which a server runs is left alone', async () => {
    const data = aDataFolder()
    serve(data)
    expect(await run('reset', '--yes')).toEqual(refused(`.orch/kubernetes: process ${process.pid} serves it; stop it first: orch stop`))
    expect(existsSync(join(data, 'state.mdb'))).toBe(true)
  })
})

describe('kubeconfig', () => {
  const own = `apiVersion: v1
kind: Config
clusters: [{name: kubernetes, cluster: {server: "https://127.0.0.1:6443"}}]
users: [{name: kubernetes-admin, user: {token: t}}]
contexts: [{name: kubernetes, context: {cluster: kubernetes, user: kubernetes-admin}}]
current-context: kubernetes
`
  const others = `apiVersion: v1
kind: Config
preferences: {colors: true}
clusters: [{name: work, cluster: {server: "https://work"}}]
users: [{name: work, user: {token: w}}]
contexts: [{name: work, context: {cluster: work, user: work}}]
current-context: work
`
  const user = () => readYaml(readFileSync(join(folder, '.kube/config'), 'utf8'))
  const writeUser = (text: string) => {
    mkdirSync(join(folder, '.kube'))
    writeFileSync(join(folder, '.kube/config'), text)
  }
  const withServer = () => writeFileSync(join(aDataFolder(), 'admin.conf'), own)

  test('is printed', async () => {
    withServer()
    expect(await run('kubeconfig')).toEqual(printed(own))
  })

  test('has a separate user with --user, if the server has a control', async () => {
    await using server = await start({ profile: 'kubernetes', control: true })
    writeFileSync(join(aDataFolder(), 'admin.conf'), server.kubeconfig)
    const made = await run('kubeconfig', '--user', 'operator')
    expect(made).toEqual(printed(server.user('operator').kubeconfig))
    expect((await run('kubeconfig', '--user', 'operator')).out).toBe(made.out)
    expect(await run('kubeconfig', '--user', 'operator', '--merge')).toMatchObject({ code: 2 })
    await using plain = await start({ profile: 'kubernetes' })
    writeFileSync(join(folder, '.orch/kubernetes/admin.conf'), plain.kubeconfig)
    expect((await run('kubeconfig', '--user', 'operator')).error).toContain('its server makes no users; start it with --control')
  })

  test('is merged into the user’s file, and removed again without a trace', async () => {
    withServer()
    writeUser(others)
    expect(await run('kubeconfig', '--merge')).toEqual(
      printed(`${join(folder, '.kube/config')}: context orch-kubernetes was added and is the current one\n`),
    )
    expect(user()).toMatchObject({
      preferences: { colors: true },
      'current-context': 'orch-kubernetes',
      clusters: [{ name: 'work' }, { name: 'orch-kubernetes', cluster: { server: 'https://127.0.0.1:6443' } }],
      users: [{ name: 'work' }, { name: 'orch-kubernetes', user: { token: 't' } }],
      contexts: [{ name: 'work' }, { name: 'orch-kubernetes', context: { cluster: 'orch-kubernetes', user: 'orch-kubernetes' } }],
    })
    // A second call changes nothing.
    await run('kubeconfig', '--merge')
    expect((await run('kubeconfig', '--remove')).code).toBe(0)
    expect(user()).toEqual(readYaml(others))
  })

  test('a user without a client configuration gets one', async () => {
    withServer()
    expect((await run('kubeconfig', '--merge', '--context=mine')).code).toBe(0)
    expect(user()).toMatchObject({ 'current-context': 'mine', contexts: [{ name: 'mine' }] })
  })

  test.each(['clusters', 'users', 'contexts'])('entries of others are not replaced: %s', async (list) => {
    withServer()
    writeUser(`apiVersion: v1\nkind: Config\n${list}: [{name: orch-kubernetes}]\n`)
    expect(await run('kubeconfig', '--merge')).toEqual(
      refused('already has an entry named orch-kubernetes that is not of orch kubeconfig: give another name by --context'),
    )
  })

  test('entries of others are not removed', async () => {
    withServer()
    writeUser(others)
    expect(await run('kubeconfig', '--remove', '--context=work')).toEqual(
      refused('the context work was not added by orch kubeconfig --merge'),
    )
    expect(await run('kubeconfig', '--remove')).toEqual(refused('the client configuration has no context named orch-kubernetes'))
    expect(user()).toEqual(readYaml(others))
  })

  test('leaves a file that is no client configuration unchanged', async () => {
    withServer()
    writeUser('- a\n')
    expect(await run('kubeconfig', '--merge')).toEqual(refused('is no client configuration: it must be a map'))
    expect(user()).toEqual(['a'])
  })

  test('does not exist in a folder before a server was ready', async () => {
    aDataFolder()
    expect(await run('kubeconfig')).toEqual(refused('no server has been ready on this folder yet'))
  })

  test('--merge and --remove exclude each other', async () => {
    expect((await run('kubeconfig', '--merge', '--remove')).code).toBe(2)
  })
})
