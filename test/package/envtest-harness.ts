import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, createHttpsTransport } from '@orch/client'
import { aCertificate, anAuthority, type Pair } from '@orch/platform/any-certificate'
import { freePorts } from '@orch/platform/backends'
import { onTestFinished } from 'vitest'

/** A process that a harness has started. */
export interface Started {
  readonly process: ChildProcess
  /** The process's standard error so far. */
  log(): string
  /** The process's exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>
  /** Sends SIGTERM and waits until the process has ended. */
  stop(): Promise<number | string>
}

/** Calls back when the owner of a process or folder ends: the test, or the hook that opened it for several tests. */
type Owner = (end: () => void) => void

const theTest: Owner = (end) => onTestFinished(end)

/** Starts a program like a harness: in a new process group. */
export function startProgram(file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}, owner = theTest): Started {
  const child = spawn(file, args, { env: { ...process.env, ...env }, detached: true, stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  child.stderr?.on('data', (part) => {
    log += part
  })
  const ended = new Promise<number | string>((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal ?? '')))
  owner(() => void child.kill('SIGKILL'))
  return {
    process: child,
    log: () => log,
    ended,
    stop() {
      process.kill(-(child.pid ?? 0), 'SIGTERM')
      return ended
    },
  }
}

/** A free port that stays free until the test uses it. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1)
  return port
}

/** The certificates, keys and folders that envtest makes before the start. */
export interface Environment {
  readonly folder: string
  readonly certDir: string
  readonly serving: Pair
  readonly clients: Pair
  readonly admin: Pair
  readonly etcdPort: number
  readonly apiPort: number
}

/** A new environment; `hasServing` tells whether the harness makes the serving certificate, as Go's envtest does. */
export async function anEnvironment({ hasServing = true, owner = theTest } = {}): Promise<Environment> {
  const folder = mkdtempSync(join(tmpdir(), 'k8s_test_framework_'))
  owner(() => rmSync(folder, { recursive: true, force: true }))
  const authority = await anAuthority('envtest-environment')
  const serving = await aCertificate({ issuer: authority, commonName: 'localhost', use: 'server' })
  const clients = await anAuthority('envtest-environment')
  const admin = await aCertificate({ issuer: clients, commonName: 'admin', organizations: ['system:masters'], use: 'client' })
  const signer = await aCertificate({ commonName: 'sa-signer' })
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { mode: 0o600 })
  if (hasServing) {
    write('apiserver.crt', serving.certificate)
    write('apiserver.key', serving.key)
  }
  write('client-cert-auth-ca.crt', clients.certificate)
  write('sa-signer.crt', signer.certificate)
  write('sa-signer.key', signer.key)
  return {
    folder,
    certDir: folder,
    serving: { ...serving, certificate: authority.certificate },
    clients,
    admin,
    etcdPort: await freePort(),
    apiPort: await freePort(),
  }
}

/** The arguments of Go's envtest, sorted by name, each one word. */
export function goArguments({ certDir, etcdPort, apiPort }: Environment, more: readonly string[] = []): string[] {
  return [
    '--allow-privileged=true',
    '--authorization-mode=RBAC',
    '--bind-address=127.0.0.1',
    `--cert-dir=${certDir}`,
    `--client-ca-file=${join(certDir, 'client-cert-auth-ca.crt')}`,
    '--disable-admission-plugins=ServiceAccount',
    `--etcd-servers=http://127.0.0.1:${etcdPort}`,
    `--secure-port=${apiPort}`,
    `--service-account-issuer=https://127.0.0.1:${apiPort}/`,
    `--service-account-key-file=${join(certDir, 'sa-signer.crt')}`,
    `--service-account-signing-key-file=${join(certDir, 'sa-signer.key')}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    ...more,
  ]
}

/** The arguments that Go's envtest gives to etcd. */
export function goEtcdArguments({ etcdPort, folder }: Environment, dataDir = join(folder, 'etcd')): string[] {
  return [
    `--advertise-client-urls=http://127.0.0.1:${etcdPort}`,
    `--data-dir=${dataDir}`,
    `--listen-client-urls=http://127.0.0.1:${etcdPort}`,
    '--listen-peer-urls=http://127.0.0.1:0',
    '--unsafe-no-fsync=true',
  ]
}

/**
 * Repeats a request until the answer is 200, like harnesses: without credentials, without verification of the certificate, over HTTP/1.1, from before
 * the start.
 */
export async function untilReady(url: string, started: Started): Promise<void> {
  let hasEnded = false
  void started.ended.then(() => {
    hasEnded = true
  })
  while ((await statusOf(url)) !== 200) {
    if (hasEnded) throw new Error(`the process has ended: ${started.log()}`)
    await sleep(50)
  }
}

function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const options = { agent: false, ...(url.startsWith('https:') ? { rejectUnauthorized: false } : {}) } as const
    const request = (url.startsWith('https:') ? https : http).get(url, options, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    request.on('error', () => resolve(undefined))
  })
}

/** The administrator's client of an environment. */
export function clientOf({ apiPort, serving, admin }: Environment, certificateAuthority = serving.certificate) {
  const client = createClient(
    createHttpsTransport({
      server: `https://127.0.0.1:${apiPort}`,
      certificateAuthority,
      clientCertificate: admin.certificate,
      clientKey: admin.key,
    }),
  )
  onTestFinished(() => client.close())
  return client
}

/** The output of a program on both streams. */
export function helpOf(file: string): string {
  return execFileSync(file, ['--help'], { encoding: 'utf8' })
}

/** The settings that differ from a project without settings. */
export interface GoOptions {
  /** Further arguments of kube-apiserver. */
  readonly more?: readonly string[]
  readonly env?: NodeJS.ProcessEnv
  readonly owner?: Owner
}

/** Starts both programs of a folder like Go's envtest; returns when both are ready. */
export async function startGo(assets: string, environment: Environment, { more = [], env = {}, owner = theTest }: GoOptions = {}) {
  const etcd = startProgram(join(assets, 'etcd'), goEtcdArguments(environment), {}, owner)
  await untilReady(`http://127.0.0.1:${environment.etcdPort}/health`, etcd)
  const api = startProgram(join(assets, 'kube-apiserver'), goArguments(environment, more), env, owner)
  await untilReady(`https://127.0.0.1:${environment.apiPort}/healthz`, api)
  return { etcd, api }
}
