import { execFile } from 'node:child_process'
import { readdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { aFolder } from '@orch/testkit/folder'
import { type RunningServer, type StartOptions, start } from 'orch'
import { beforeAll, describe, onTestFinished } from 'vitest'
import { findProgram, quickStart, withoutPrograms } from '../programs.ts'

const run = promisify(execFile)

/** The oldest and the newest kubectl on this machine: those on the path, and those in the folder that the path's kubectl links to. */
export function findKubectls(): string[] {
  const first = findProgram('kubectl')
  if (first === undefined) return []
  const folder = dirname(realpathSync(first))
  const versions = readdirSync(folder)
    .filter((name) => /^kubectl\.1\.\d+$/.test(name))
    .sort((a, b) => Number(a.split('.')[2]) - Number(b.split('.')[2]))
    .map((name) => join(folder, name))
  return versions.length === 0 ? [first] : [...new Set([versions[0]!, versions.at(-1)!])]
}

const kubectls = findKubectls()

const groupsFor = (chosen: readonly string[]) =>
  describe.skipIf(chosen.length === 0).each(chosen.length === 0 ? [`kubectl${withoutPrograms('kubectl')}`] : chosen)

/** A group of tests that runs with the oldest and the newest kubectl; skipped without kubectl. */
export const describeBothKubectls = groupsFor(kubectls)

/** A group of tests whose result is the same for both: runs with the newest kubectl, and with `ORCH_TEST_KUBECTL=all` also with the oldest. */
export const describeKubectls = process.env['ORCH_TEST_KUBECTL'] === 'all' ? describeBothKubectls : groupsFor(kubectls.slice(-1))

/** One server for the tests of a file, which builds its OpenAPI documents once. Each test finds the server's initial state. */
export function sharedServer(options: StartOptions = {}): () => Promise<RunningServer> {
  let starting: Promise<RunningServer> | undefined
  beforeAll(() => async () => (await starting)?.stop())
  return async () => {
    starting ??= start({ profile: 'kubernetes', ...options })
    const server = await starting
    onTestFinished(server.reset)
    return server
  }
}

/** A server for one test. */
export async function ownServer(options: StartOptions = {}): Promise<RunningServer> {
  const server = await start({ profile: 'kubernetes', ...options })
  onTestFinished(() => server.stop())
  return server
}

/** kubectl with a separate home and configuration, and a server: the given server, or a new server. */
export async function aKubectl(binary: string, openServer = () => ownServer()) {
  const server = await openServer()
  const home = aFolder()
  const env = { ...quickStart(), PATH: process.env['PATH'] ?? '', HOME: home, KUBECONFIG: join(home, 'admin.conf') }
  writeFileSync(env.KUBECONFIG, server.kubeconfig, { mode: 0o600 })
  const kubectl = async (...args: string[]) => (await run(binary, args, { env, timeout: 60_000 })).stdout
  const withFile = (verb: 'apply' | 'create' | 'get' | 'replace' | 'delete', text: string, ...flags: readonly string[]) => {
    const file = join(home, 'manifest.yaml')
    writeFileSync(file, text)
    return kubectl(verb, '-f', file, ...flags)
  }
  return { kubectl, withFile, env }
}
