import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createTransport, loadConfiguration, readText } from '@orch/client'
import { controlPath } from '@orch/core/names'
import { messageOf, systemClock, timeoutSignal } from '@orch/platform'
import { controlFile } from '../control/settings.ts'
import type { Terminal } from '../process/terminal.ts'
import { readCommandSettings } from '../settings/general.ts'
import { findInstances, type Instance, instanceSettings, noFolder } from './folders.ts'

/** `orch status`: prints a line for each data folder. The exit code is 0 if a server is ready, else 1. */
export async function status(terminal: Terminal, flags: readonly string[]): Promise<number> {
  const { values } = await readCommandSettings(instanceSettings, terminal, flags)
  const instances = findInstances(terminal, values)
  if (instances.length === 0) {
    terminal.out(`${noFolder(values)}\n`)
    return 1
  }
  const states = await Promise.all(instances.map((instance) => stateOf(instance, terminal)))
  terminal.out(instances.map((instance, index) => `${instance.name}: ${states[index]?.text}\n`).join(''))
  return states.some(({ isReady }) => isReady) ? 0 : 1
}

async function stateOf({ folder, owner }: Instance, terminal: Terminal) {
  if (owner === undefined) return { text: 'no server runs on it', isReady: false }
  const { pid, address } = owner
  if (address === '') return { text: `process ${pid} is starting`, isReady: false }
  const reason = await whyUnready(folder, terminal)
  const control = existsSync(join(folder, controlFile)) ? `; ${join(folder, controlFile)} has the token of ${address}${controlPath}` : ''
  const text = `process ${pid} listens on ${address} and is ${reason === undefined ? 'ready' : `not ready: ${reason}`}${control}`
  return { text, isReady: reason === undefined }
}

/** Requests the readiness as the administrator; undefined if the server is ready. */
async function whyUnready(folder: string, { env, error }: Terminal): Promise<string | undefined> {
  const configuration = await loadConfiguration(join(folder, 'admin.conf'))
  const transport = createTransport(configuration, { now: () => systemClock.now(), env, isInteractive: false, say: error })
  try {
    const response = await transport.send({ method: 'GET', path: '/readyz', headers: {}, signal: timeoutSignal(systemClock, askMsMax) })
    const text = await readText(response)
    return response.status === 200 ? undefined : text.trim()
  } catch (failure) {
    return messageOf(failure)
  } finally {
    transport.close()
  }
}

/** Timeout of the answer; a slower server counts as not ready. */
const askMsMax = 5_000
