import { execFile } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findBackend } from '@orch/testkit/backends'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { runCommand } from '../../services/orch/src/command-line.ts'
import { printingTerminal } from '../../services/orch/src/process/terminal-testing.ts'
import {
  anEnvironment,
  clientOf,
  type Environment,
  freePort,
  type GoOptions,
  goArguments,
  goEtcdArguments,
  helpOf,
  type Started,
  startGo as startGoIn,
  startProgram,
  untilReady,
} from './envtest-harness.ts'
import { installPackage } from './installed-package.ts'

const run = promisify(execFile)
const { project, bin } = await installPackage()
const binDir = join(project, 'bin')
const platform = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`
const folderOf = (version: string, folder = binDir) => join(folder, 'k8s', `${version}-${platform}`)
const assets = folderOf('1.37.0')
const backend = await findBackend('etcd')
const realEtcd = backend.kind === 'found' ? backend.path : undefined

function command(...args: readonly string[]) {
  return run(process.execPath, [bin, 'envtest-assets', ...args], { cwd: project })
}

/** Runs the command in this process, for words with which it writes no program. */
async function runHere(words: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { printed, terminal } = printingTerminal(project, ['envtest-assets', ...words])
  const code = await runCommand({ ...terminal, env: { ...terminal.env, ...env } })
  return { code, ...printed }
}

beforeAll(async () => {
  await command('use', '--bin-dir', binDir)
})

const program = (name: 'etcd' | 'kube-apiserver' | 'kubectl') => join(assets, name)

const startGo = (environment: Environment, options: GoOptions = {}) => startGoIn(assets, environment, options)

const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } })

describe('orch envtest-assets, a drop-in for setup-envtest', () => {
  test('prints the folder with use -p path without a newline, a shell line with -p env, and version, platform and path otherwise', async () => {
    expect((await command('use', '--bin-dir', binDir, '-p', 'path')).stdout).toBe(assets)
    expect((await command('use', 'v1.37.2', '--bin-dir', binDir, '-p', 'env')).stdout).toBe(`export KUBEBUILDER_ASSETS='${assets}'\n`)
    expect((await command('use', '--bin-dir', binDir)).stdout).toMatch(/^Version: 1\.37\.0\nOS\/Arch: \w+\/\w+\nPath: /)
  })

  test('makes a read-only folder with the three read-only programs', () => {
    expect(statSync(assets).mode & 0o777).toBe(0o555)
    for (const name of ['etcd', 'kube-apiserver', 'kubectl'] as const) expect(statSync(program(name)).mode & 0o777).toBe(0o555)
  })

  test('exits with 2 for a version that is not served', async () => {
    expect(await runHere(['use', '1.38.x', '--bin-dir', binDir])).toMatchObject({
      code: 2,
      error: 'orch: no assets of version 1.38.x: the versions from 1.25.0 to 1.37.0 are served; --allow-any-version takes the newest\n',
    })
  })

  test('uses the newest version with --allow-any-version, and says so', async () => {
    const { stdout, stderr } = await command('use', '1.38.x', '--allow-any-version', '--bin-dir', binDir, '-p', 'path')
    expect([stdout, stderr]).toEqual([
      assets,
      'orch: warning: these assets are not of version 1.38.x: the versions from 1.25.0 to 1.37.0 are served\n',
    ])
  })

  test('writes nothing with -i, uses a complete folder with --use-env, removes its files with cleanup, and writes them again', async () => {
    const other = join(project, 'other-bin')
    expect(await runHere(['use', '-i', '--bin-dir', other])).toMatchObject({ code: 2 })
    expect(existsSync(other)).toBe(false)
    const used = await runHere(['use', '--use-env', '--bin-dir', other, '-p', 'path'], { KUBEBUILDER_ASSETS: assets })
    expect(used.out).toBe(assets)
    await command('use', '--bin-dir', other)
    await command('cleanup', '--bin-dir', other)
    expect(existsSync(folderOf('1.37.0', other))).toBe(false)
  })

  test('lists all thirteen releases and marks installed ones; with -i it lists only installed releases', async () => {
    const line = (minor: number) => `(${minor === 37 ? 'installed' : 'available'})  v1.${minor}.0  ${platform.replace('-', '/')}\n`
    const minors = Array.from({ length: 13 }, (_, index) => 37 - index)
    expect((await runHere(['list', '--bin-dir', binDir])).out).toBe(minors.map(line).join(''))
    expect((await runHere(['list', '-i', '--bin-dir', binDir])).out).toBe(line(37))
    expect((await runHere(['list', '~1.36.0', '--bin-dir', binDir])).out).toBe(line(36))
  })

  test('makes the folder of a release, whose kube-apiserver has that release, in /version too, also after the folder was moved', async () => {
    const other = join(project, 'older-bin')
    onTestFinished(async () => void (await command('cleanup', '--bin-dir', other)))
    const older = folderOf('1.31.0', other)
    expect((await command('use', '1.31.x', '--bin-dir', other, '-p', 'path')).stdout).toBe(older)
    // The command uses an installed version that fits unless the caller requests the newest.
    expect((await command('use', '<1.33', '-i', '--bin-dir', other, '-p', 'path')).stdout).toBe(older)
    expect((await command('use', '<1.33', '--bin-dir', other, '-p', 'path')).stdout).toBe(older)
    const moved = join(project, 'moved', 'elsewhere')
    cpSync(older, moved, { recursive: true })
    onTestFinished(() => rmSync(moved, { recursive: true, force: true }))
    const environment = await anEnvironment()
    await startGoIn(moved, environment)
    const served = await clientOf(environment).request({ method: 'GET', path: '/version' })
    expect(served).toMatchObject({ major: '1', minor: '31', gitVersion: expect.stringMatching(/^v1\.31\.0\+/) })
  })
})

describe('help of the test assets', () => {
  test('has no --insecure-port at the beginning of a line for kube-apiserver, and lists flags without object', () => {
    const help = helpOf(program('kube-apiserver'))
    expect(help).not.toMatch(/^\s*--insecure-port\b/m)
    expect(help).toMatch(/^\s*--secure-port\b/m)
    expect(help).toMatch(/^ {2}--vmodule\n {8}No effect here; in kube-apiserver it tunes logging/m)
  })

  test('has --unsafe-no-fsync at the beginning of a line for etcd', () => {
    expect(helpOf(program('etcd'))).toMatch(/^\s*--unsafe-no-fsync\b/m)
  })

  test('is printed without the Node of the assets', async () => {
    const copy = join(project, 'without-node')
    cpSync(assets, copy, { recursive: true })
    onTestFinished(() => rmSync(copy, { recursive: true, force: true }))
    chmodSync(copy, 0o755)
    const script = readFileSync(join(copy, 'kube-apiserver'), 'utf8').replaceAll(process.execPath, '/nowhere/node')
    chmodSync(join(copy, 'kube-apiserver'), 0o755)
    writeFileSync(join(copy, 'kube-apiserver'), script)
    expect(helpOf(join(copy, 'kube-apiserver'))).toContain('kube-apiserver [flags]')
    const failed = await run('/bin/sh', [join(copy, 'kube-apiserver'), '--secure-port=1'], { env: { PATH: '/nowhere' } }).catch(
      (error) => error,
    )
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('the Node that wrote these assets is gone (/nowhere/node)') })
  })
})

describe('the test assets with envtest', () => {
  let shared: Environment
  let started: Awaited<ReturnType<typeof startGo>>

  beforeAll(async () => {
    const ends: (() => void)[] = []
    const owner = (end: () => void) => void ends.push(end)
    shared = await anEnvironment({ owner })
    const more = [
      '--v=4',
      '--contention-profiling',
      '--watch-cache=false',
      '--insecure-port=0',
      '--feature-gates=WatchList=true',
      '--allow-privileged',
    ]
    started = await startGo(shared, { more, owner })
    return () => {
      for (const end of ends.reverse()) end()
    }
  })

  test('run three API servers in sequence: the first has the namespace default and no controllers, and stops on the first signal with a watch open; the second has the stored objects, and the controllers of a variable; the third, with a new etcd on the same folder, ends when the reader of its log is gone', async () => {
    const environment = await anEnvironment()
    const { etcd, api } = await startGo(environment)
    const client = clientOf(environment)
    expect(await client.objects.get({ apiVersion: 'v1', kind: 'Namespace', name: 'default' })).toMatchObject({
      status: { phase: 'Active' },
    })
    const namespaces = client.resource({ group: '', version: 'v1', plural: 'namespaces', namespaced: false })
    await namespaces.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'going' } })
    await namespaces.delete('going')
    expect(await namespaces.get('going')).toMatchObject({ status: { phase: 'Terminating' } })
    const accounts = client.resource({ group: '', version: 'v1', plural: 'serviceaccounts', namespaced: true })
    expect((await accounts.list()).items).toEqual([])
    const configMaps = client.resource({ group: '', version: 'v1', plural: 'configmaps', namespaced: true })
    const watch = await configMaps.watch({})
    void watch.next().catch(() => {})
    await client.objects.create(configMap('kept'))
    expect(await api.stop()).toBe(0)

    const isKept = async () =>
      expect(await clientOf(environment).objects.get({ ...configMap('kept'), name: 'kept', namespace: 'default' })).toBeDefined()
    const second = startProgram(program('kube-apiserver'), goArguments(environment), { ORCH_ENVTEST_CONTROLLERS: 'namespace,ttl' })
    await untilReady(`https://127.0.0.1:${environment.apiPort}/healthz`, second)
    await isKept()
    const again = clientOf(environment).resource({ group: '', version: 'v1', plural: 'namespaces', namespaced: false })
    await expect
      .poll(() =>
        again.get('going').then(
          () => 'there',
          () => 'gone',
        ),
      )
      .toBe('gone')
    const nodes = clientOf(environment).resource({ group: '', version: 'v1', plural: 'nodes', namespaced: false })
    await nodes.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'annotated' } })
    await expect.poll(async () => (await nodes.get('annotated')).metadata.annotations).toEqual({ 'node.alpha.kubernetes.io/ttl': '0' })
    await second.stop()
    expect(await etcd.stop()).toBe(0)

    const { api: third } = await startGo(environment, { more: ['--log-level=debug'] })
    await isKept()
    third.process.stderr?.destroy()
    await clientOf(environment)
      .objects.create(configMap('seen-by-nobody'))
      .catch(() => {})
    expect(await third.ended).toBe(0)
  })

  test('separate two API servers at one etcd with --etcd-prefix, and refuse two with one prefix', async () => {
    const second = { ...(await anEnvironment()), etcdPort: shared.etcdPort }
    const same = startProgram(program('kube-apiserver'), goArguments(second))
    expect(await same.ended).toBe(1)
    expect(same.log()).toContain('Error: ')
    const other = startProgram(program('kube-apiserver'), goArguments(second, ['--etcd-prefix=/other']))
    await untilReady(`https://127.0.0.1:${second.apiPort}/healthz`, other)
    await clientOf(shared).objects.create(configMap('of-the-first'))
    await expect(clientOf(second).objects.get({ ...configMap(''), name: 'of-the-first', namespace: 'default' })).rejects.toThrow(
      'not found',
    )
  })

  test('name flags without object in one line, refuse flags that would change an answer, and end with one line for a used port', async () => {
    const { api, etcd } = started
    expect(api.log()).toContain('flags without object here flags=["--v","--contention-profiling","--watch-cache"]')
    for (const [flag, why] of [
      ['--etcd-servers-overrides=/x#https://a', '--etcd-servers-overrides does not exist here: '],
      ['--no-such-flag', 'unknown flag --no-such-flag'],
    ] as const) {
      const refused = startProgram(program('kube-apiserver'), goArguments(shared, [flag]))
      expect([flag, await refused.ended]).toEqual([flag, 2])
      expect(refused.log()).toContain(`Error: ${why}`)
    }
    const otherEtcd = startProgram(program('etcd'), goEtcdArguments(shared, join(shared.folder, 'other')))
    expect(await otherEtcd.ended).toBe(1)
    expect(otherEtcd.log().trim().split('\n')).toEqual([expect.stringContaining('EADDRINUSE')])
    const second = await anEnvironment()
    const otherApi = startProgram(program('kube-apiserver'), goArguments({ ...shared, certDir: second.certDir }, ['--etcd-prefix=/x']))
    expect(await otherApi.ended).toBe(1)
    expect(otherApi.log()).toContain(`port ${shared.apiPort} on 127.0.0.1 is in use`)
    expect([api.process.exitCode, etcd.process.exitCode]).toEqual([null, null])
  })

  test('have the kubectl of the PATH, and orchctl without one', async () => {
    const { serving, admin, apiPort, folder } = shared
    for (const [name, text] of Object.entries({ 'ca.crt': serving.certificate, 'admin.crt': admin.certificate, 'admin.key': admin.key })) {
      writeFileSync(join(folder, name), text)
    }
    const configuration = {
      'current-context': 'x',
      clusters: [{ name: 'c', cluster: { server: `https://127.0.0.1:${apiPort}`, 'certificate-authority': 'ca.crt' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      users: [{ name: 'u', user: { 'client-certificate': 'admin.crt', 'client-key': 'admin.key' } }],
    }
    writeFileSync(join(folder, 'config'), JSON.stringify(configuration))
    const env = { PATH: assets, KUBECONFIG: join(folder, 'config') }
    expect((await run('/bin/sh', [program('kubectl'), 'get', 'ns', 'default', '-o', 'name'], { env })).stdout).toBe('namespace/default\n')
    const other = join(folder, 'bin')
    mkdirSync(other)
    writeFileSync(join(other, 'kubectl'), '#!/bin/sh\necho "kubectl $*"\n', { mode: 0o755 })
    const found = await run('/bin/sh', [program('kubectl'), 'version'], { env: { ...env, PATH: `${assets}:${other}` } })
    expect(found.stdout).toBe('kubectl version\n')
  })
})

describe('the test assets with other clients', () => {
  test(`accept the arguments of older projects${realEtcd === undefined ? '' : ', beside a real etcd, which has the objects'}`, async () => {
    const environment = await anEnvironment()
    const etcd = startProgram(realEtcd ?? program('etcd'), goEtcdArguments(environment))
    await untilReady(`http://127.0.0.1:${environment.etcdPort}/health`, etcd)
    const api = startProgram(program('kube-apiserver'), [
      '--advertise-address=127.0.0.1',
      `--etcd-servers=http://127.0.0.1:${environment.etcdPort}`,
      `--cert-dir=${environment.certDir}`,
      '--insecure-port=0',
      `--secure-port=${environment.apiPort}`,
      `--service-account-signing-key-file=${join(environment.certDir, 'sa-signer.key')}`,
      `--service-account-issuer=https://127.0.0.1:${environment.apiPort}/`,
      '--disable-admission-plugins=ServiceAccount',
      '--service-cluster-ip-range=10.0.0.0/24',
      '--authorization-mode=RBAC',
      `--client-ca-file=${join(environment.certDir, 'client-cert-auth-ca.crt')}`,
    ])
    await untilReady(`https://127.0.0.1:${environment.apiPort}/healthz`, api)
    const endpoints = await clientOf(environment).objects.get({
      apiVersion: 'v1',
      kind: 'Endpoints',
      name: 'kubernetes',
      namespace: 'default',
    })
    expect(endpoints['subsets']).toMatchObject([{ addresses: [{ ip: expect.not.stringMatching(/^127\./) }] }])
    if (realEtcd === undefined) return
    await clientOf(environment).objects.create(configMap('in-etcd'))
    const everyKey = { key: 'AA==', range_end: 'AA==', keys_only: true }
    const answer = await fetch(`http://127.0.0.1:${environment.etcdPort}/v3/kv/range`, { method: 'POST', body: JSON.stringify(everyKey) })
    const { kvs } = (await answer.json()) as { kvs: readonly { key: string }[] }
    expect(kvs.map(({ key }) => Buffer.from(key, 'base64').toString())).toContainEqual(
      expect.stringContaining('/configmaps/default/in-etcd'),
    )
  })

  test('accept jenvtest: separate words, single dashes for etcd, the API server first, a private key that verifies, two issuers, its own certificate', async () => {
    const environment = await anEnvironment({ hasServing: false })
    const { folder, certDir, etcdPort, apiPort } = environment
    const key = join(certDir, 'sa-signer.key')
    const api = startProgram(program('kube-apiserver'), [
      ...['--cert-dir', certDir, '--secure-port', String(apiPort), '--etcd-servers', `http://0.0.0.0:${etcdPort}`],
      ...['--authorization-mode', 'RBAC', '--service-account-issuer', 'https://localhost'],
      ...['--service-account-signing-key-file', key, '--service-account-signing-key-file', key],
      ...['--service-account-key-file', key, '--service-account-issuer', join(certDir, 'sa-signer.crt')],
      ...['--disable-admission-plugins', 'ServiceAccount', '--client-ca-file', join(certDir, 'client-cert-auth-ca.crt')],
      ...['--service-cluster-ip-range', '10.0.0.0/24', '--allow-privileged'],
    ])
    const urls = `http://0.0.0.0:${etcdPort}`
    startProgram(program('etcd'), [
      ...[
        '-data-dir',
        join(folder, 'etcd'),
        '-wal-dir',
        join(folder, 'wal'),
        '--listen-client-urls',
        urls,
        '--advertise-client-urls',
        urls,
      ],
      ...['--initial-cluster', 'default=http://localhost:1', '--initial-advertise-peer-urls', 'http://localhost:1'],
      ...['--listen-peer-urls', 'http://localhost:1'],
    ])
    await untilReady(`https://127.0.0.1:${apiPort}/readyz`, api)
    const client = clientOf(environment, readFileSync(join(certDir, 'apiserver.crt'), 'utf8'))
    expect(await client.objects.get({ apiVersion: 'v1', kind: 'Namespace', name: 'default' })).toBeDefined()
    api.process.kill('SIGKILL')
    expect(await api.ended).toBe('SIGKILL')
  })

  test('accept envtest-js: a serving certificate by flags beside the folder, a public key, health with a text', async () => {
    const environment = await anEnvironment()
    const etcd = startProgram(program('etcd'), goEtcdArguments(environment))
    await untilReady(`http://127.0.0.1:${environment.etcdPort}/health`, etcd)
    expect(await (await fetch(`http://127.0.0.1:${environment.etcdPort}/health`)).json()).toMatchObject({ health: 'true' })
    const other = join(environment.folder, 'other')
    mkdirSync(other)
    for (const name of ['apiserver.crt', 'apiserver.key']) copyFileSync(join(environment.certDir, name), join(other, name))
    const api = startProgram(
      program('kube-apiserver'),
      goArguments(environment, [
        `--tls-cert-file=${join(other, 'apiserver.crt')}`,
        `--tls-private-key-file=${join(other, 'apiserver.key')}`,
      ]),
    )
    await untilReady(`https://127.0.0.1:${environment.apiPort}/readyz`, api)
    expect(await clientOf(environment).objects.create(configMap('js'))).toBeDefined()
  })
})

describe('the etcd of the test assets', () => {
  test.each([
    [['--cert-file=/x'], '--cert-file is not supported: this etcd holds the data of one orch API server for tests; use etcd itself'],
    [['--data-dir'], 'flag needs an argument: --data-dir'],
    [['words'], "'words' is not a valid flag"],
    [
      ['--listen-client-urls=https://127.0.0.1:1'],
      '--listen-client-urls=https://127.0.0.1:1: must be URLs such as http://127.0.0.1:2379; TLS',
    ],
  ])('refuses %s', async (words, message) => {
    const refused: Started = startProgram(program('etcd'), words)
    expect(await refused.ended).toBe(1)
    expect(refused.log()).toContain(`etcd: ${message}`)
  })

  test('answers other paths with the message that it is no etcd', async () => {
    const port = await freePort()
    const etcd = startProgram(program('etcd'), [`--listen-client-urls=http://127.0.0.1:${port}`, '--data-dir', join(project, 'etcd-alone')])
    await untilReady(`http://127.0.0.1:${port}/health`, etcd)
    const response = await fetch(`http://127.0.0.1:${port}/v3/kv/range`, { method: 'POST' })
    expect([response.status, await response.json()]).toEqual([404, { error: expect.stringContaining('it has no API of its own') }])
  })
})
