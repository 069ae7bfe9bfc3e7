import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { start } from 'orch'
import { expect, onTestFinished, test } from 'vitest'
import { aFolder } from '../audit/audited.ts'
import { findProgram, quickStart, withoutPrograms } from '../programs.ts'

const programs = ['sample-apiserver', 'etcd', 'kubectl'] as const
const [sampleServer = '', etcd = '', kubectlPath = ''] = programs.map((name) => findProgram(name) ?? '')
const run = promisify(execFile)

async function aFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

function aProcess(program: string, args: readonly string[], folder: string): ChildProcess {
  const child = spawn(program, args, { stdio: 'ignore', cwd: folder })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

const apiService = {
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: 'v1alpha1.wardle.example.com' },
  spec: {
    group: 'wardle.example.com',
    version: 'v1alpha1',
    groupPriorityMinimum: 1000,
    versionPriority: 15,
    insecureSkipTLSVerify: true,
    service: { namespace: 'wardle', name: 'api' },
  },
}

/** The seconds that a request waits for a stopped remote server. */
const requestSeconds = 4

/** Kubernetes' sample API server behind this server, with its own etcd. */
async function opened() {
  const folder = aFolder()
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 })
    return join(folder, name)
  }
  const [port, etcdPort, peerPort] = [await aFreePort(), await aFreePort(), await aFreePort()]
  const server = await start({
    profile: 'kubernetes',
    flags: [`--webhook-service-map=wardle/api=127.0.0.1:${port}`, `--request-timeout=${requestSeconds}s`],
  })
  onTestFinished(() => server.stop())
  const kubeconfig = file('admin.conf', server.kubeconfig)
  const url = `http://127.0.0.1:${etcdPort}`
  const peer = `http://127.0.0.1:${peerPort}`
  const peers = [`--listen-peer-urls=${peer}`, `--initial-advertise-peer-urls=${peer}`, `--initial-cluster=default=${peer}`]
  aProcess(etcd, ['--data-dir=etcd', `--listen-client-urls=${url}`, `--advertise-client-urls=${url}`, ...peers], folder)
  mkdirSync(join(folder, 'home'))
  const env = { ...quickStart(), PATH: process.env['PATH'] ?? '', HOME: join(folder, 'home'), KUBECONFIG: kubeconfig }
  const kubectl = async (...args: string[]) => (await run(kubectlPath, args, { env, timeout: 60_000 })).stdout
  const create = (name: string, object: object) => kubectl('create', '-f', file(`${name}.json`, JSON.stringify(object)))
  const serve = () =>
    aProcess(
      sampleServer,
      [
        `--secure-port=${port}`,
        '--bind-address=127.0.0.1',
        `--etcd-servers=${url}`,
        `--cert-dir=${folder}`,
        ...['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig'].map((flag) => `--${flag}=${kubeconfig}`),
      ],
      folder,
    )
  const available = (status: string) =>
    kubectl('wait', `--for=condition=Available=${status}`, '--timeout=50s', 'apiservice/v1alpha1.wardle.example.com')
  return { kubectl, create, serve, available, env }
}

async function until<T>(ask: () => Promise<T>, isWanted: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (isWanted(answer)) return answer
  }
}

const aFlunder = (name: string) => ({
  apiVersion: 'wardle.example.com/v1alpha1',
  kind: 'Flunder',
  metadata: { name, namespace: 'default' },
  spec: { reference: 'x' },
})

test.skipIf(programs.some((name) => findProgram(name) === undefined))(
  `AGG-15, AGG-24, AGG-29: the sample server of Kubernetes serves its kinds through this server${withoutPrograms(...programs)}`,
  { timeout: 180_000 },
  async () => {
    const { kubectl, create, serve, available, env } = await opened()
    const child = serve()
    await create('apiservice', apiService)
    await available('True')
    expect(await create('flunder', aFlunder('one'))).toContain('flunder.wardle.example.com/one created')
    expect(await kubectl('get', 'flunders', 'one', '-o', 'jsonpath={.spec.reference}')).toBe('x')
    expect(await kubectl('get', 'flunders')).toMatch(/^NAME +CREATED AT\none /)
    expect(await kubectl('api-resources', '--api-group=wardle.example.com')).toContain('flunders')
    expect(await kubectl('auth', 'can-i', 'list', 'flunders.wardle.example.com')).toContain('yes')
    await expect(kubectl('get', 'flunders', '--as=jane')).rejects.toThrow('is forbidden')
    const explained = await until(
      () => kubectl('explain', 'flunders.spec').catch(() => ''),
      (text) => text !== '',
    )
    expect(explained).toMatch(/GROUP: +wardle\.example\.com[\s\S]*reference\s+<string>/)
    const watched = await run(kubectlPath, ['get', 'flunders', '-w', '--request-timeout=3s', '-o', 'name'], { env, timeout: 30_000 })
    expect(watched.stdout).toContain('flunder.wardle.example.com/one')
    await kubectl('create', 'namespace', 'empty')
    await kubectl('delete', 'namespace', 'empty', '--timeout=50s')
    await kubectl('create', 'configmap', 'owner')
    const uid = await kubectl('get', 'configmap', 'owner', '-o', 'jsonpath={.metadata.uid}')
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }]
    const owned = aFlunder('owned')
    await create('owned', { ...owned, metadata: { ...owned.metadata, ownerReferences } })
    await kubectl('delete', 'configmap', 'owner')
    await kubectl('wait', '--for=delete', '--timeout=50s', 'flunder/owned')
    child.kill('SIGKILL')
    await available('False')
    await expect(kubectl('get', 'flunders')).rejects.toThrow(/the server is currently unable to handle the request|service unavailable/i)
    expect(await kubectl('api-resources')).toContain('deployments')
    serve()
    await available('True')
    expect(await kubectl('get', 'flunders', '-o', 'name')).toBe('flunder.wardle.example.com/one\n')
  },
)

test.skipIf(programs.some((name) => findProgram(name) === undefined))(
  `AGG-19, AGG-29: while the sample server of Kubernetes is stopped, a request ends in time and other requests are served, until it is back${withoutPrograms(...programs)}`,
  { timeout: 180_000 },
  async () => {
    const { kubectl, create, serve, available } = await opened()
    const child = serve()
    await create('apiservice', apiService)
    await available('True')
    await create('flunder', aFlunder('one'))
    child.kill('SIGSTOP')
    await expect(kubectl('get', 'flunders', 'one')).rejects.toThrow(/did not complete within the allotted timeout|service unavailable/i)
    expect(await kubectl('get', 'namespaces', '-o', 'name')).toContain('namespace/default')
    expect(await kubectl('api-resources')).toContain('deployments')
    await available('False')
    const reason = 'jsonpath={.status.conditions[?(@.type=="Available")].reason}'
    expect(await kubectl('get', 'apiservice', 'v1alpha1.wardle.example.com', '-o', reason)).toBe('FailedDiscoveryCheck')
    await expect(kubectl('get', 'flunders')).rejects.toThrow(/the server is currently unable to handle the request|service unavailable/i)
    child.kill('SIGCONT')
    await available('True')
    expect(await kubectl('get', 'flunders', '-o', 'name')).toBe('flunder.wardle.example.com/one\n')
  },
)
