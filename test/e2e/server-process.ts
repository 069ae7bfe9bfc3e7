import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createClient, createHttpsTransport, loadConfiguration } from '@orch/client'
import { aFolder } from '@orch/testkit/folder'
import { onTestFinished } from 'vitest'
import { runCommand } from '../../services/orch/src/command-line.ts'
import { printingTerminal } from '../../services/orch/src/process/terminal-testing.ts'

const entry = join(import.meta.dirname, '../../services/orch/dist/bundle/main.js')

/** Runs `orch up` as a separate process. */
export type ServerProcess = Awaited<ReturnType<typeof startProcess>>

export interface Exit {
  readonly code: number | null
  readonly signal: string | null
  readonly error: string
}

/** Starts a server and waits until it reports that it is ready. The server ends with the test. */
export async function startProcess(
  flags: readonly string[],
  { dataDir = aFolder(), env = {} }: { dataDir?: string; env?: Record<string, string> } = {},
) {
  const { child, exited, ready } = launch([`--data-dir=${dataDir}`, '--secure-port=0', ...flags], env)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const message = await ready
  const url = /https:\/\/[^\s"]+/.exec(message)?.[0] ?? ''
  const client = createClient(createHttpsTransport(await loadConfiguration(join(dataDir, 'admin.conf'))))
  onTestFinished(() => client.close())
  const signal = (name: 'SIGTERM' | 'SIGKILL') => void child.kill(name)
  return {
    url,
    pid: child.pid ?? 0,
    dataDir,
    /** The process's message when it was ready. */
    message,
    client,
    signal,
    /** Resolves when the process has ended. */
    exited,
    stop() {
      signal('SIGTERM')
      return exited
    },
  }
}

/** Runs the command to its end, for starts that the server refuses. */
export async function runToEnd(flags: readonly string[], env: Record<string, string> = {}): Promise<Exit> {
  const { exited, ready } = launch(flags, env)
  ready.catch(() => {})
  return exited
}

/** Runs the command in this process, for flags that it refuses before anything starts. */
export async function runRefused(flags: readonly string[], env: Record<string, string> = {}) {
  const { printed, terminal } = printingTerminal(aFolder(), ['up', ...flags])
  const code = await runCommand({ ...terminal, env: { ...terminal.env, ...env } })
  return { code, error: printed.error }
}

function launch(flags: readonly string[], env: Record<string, string>) {
  if (!existsSync(entry)) throw new Error(`${entry} is absent: build first`)
  const child = spawn(process.execPath, [entry, 'up', ...flags], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const printed = collect(child)
  const exited = new Promise<Exit>((resolve) => child.on('close', (code, signal) => resolve({ code, signal, error: printed.error })))
  const ready = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', () => {
      if (/Try:|"msg":"ready"/.test(printed.out)) resolve(printed.out)
    })
    child.on('close', () => reject(new Error(`the server has ended: ${printed.error}`)))
  })
  return { child, exited, ready }
}

function collect(child: ChildProcess) {
  const printed = { out: '', error: '' }
  child.stdout?.on('data', (chunk: Buffer) => {
    printed.out += chunk.toString()
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    printed.error += chunk.toString()
  })
  return printed
}
