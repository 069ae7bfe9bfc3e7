import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { leaveEarlySignals } from '@orch/platform/early-signals'
import type { StarterMessage, Terminal } from '../process/terminal.ts'
import { StartError } from '../start-error.ts'

/** `orch up --detach`: starts the same command as a separate process, with a log file in the data folder, and returns when it is ready. */
export async function upDetached({ env, workingFolder, out }: Terminal, flags: readonly string[], dataDir: string): Promise<number> {
  leaveEarlySignals()
  const file = join(dataDir, 'server.log')
  const log = openSync(file, 'a', 0o600)
  // The last value of a repeated flag counts.
  const child = spawn(process.execPath, [...nodeFlags(), process.argv[1] ?? '', 'up', ...flags, '--detach=false'], {
    cwd: workingFolder,
    env: { ...env },
    stdio: ['ignore', log, log, 'ipc'],
    detached: true,
  })
  closeSync(log)
  const message = await new Promise<StarterMessage>((resolve, reject) => {
    child.once('message', (message) => resolve(message as StarterMessage))
    child.once('error', reject)
    child.once('exit', (code) => resolve({ kind: 'failed', reason: `the server ended with exit code ${code}; see ${file}` }))
  })
  if (message.kind === 'failed') throw new StartError(message.reason)
  child.disconnect()
  child.unref()
  out(
    `${message['text'] ?? ''}Process ${child.pid} goes on in the background on the folder ${dataDir}; its log is ${file}. End it with: ${stopCommand(env, dataDir)}\n`,
  )
  return 0
}

/** The command as the user would type it here; in a clone it uses npm. Commands find servers outside `.orch` by their folder. */
function stopCommand(env: Terminal['env'], dataDir: string): string {
  const command = env['npm_package_name'] === workspaceName ? 'npm run orch -- stop' : 'orch stop'
  return basename(dirname(dataDir)) === '.orch' ? command : `${command} --data-dir ${dataDir}`
}

/** The name of the clone in its package.json, which npm passes to its scripts. */
const workspaceName = 'orch-workspace'

/** This process's flags without preloaded modules: in a clone, one of them ends the process with its parent. */
function nodeFlags(): string[] {
  const isLoader = (flag: string | undefined) => flag === loaderFlag
  return process.execArgv.filter((flag, index, flags) => !isLoader(flag) && !isLoader(flags[index - 1]))
}

/** Its value is the next word. */
const loaderFlag = '--import'
