import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createClient, createTransport, isRefusal, loadConfiguration, readText } from '@orch/client'
import { controlPath } from '@orch/core/names'
import { messageOf, settingsOf, settingTypes, systemClock, timeoutSignal } from '@orch/platform'
import { directoryOwner, storeFiles } from '@orch/storage'
import { consoleLink } from '../console/open.ts'
import { StartError, type Terminal } from '../process/terminal.ts'
import { controlFile, readCommandSettings } from '../settings/general.ts'
import { findInstances, type Instance, instanceSettings, noFolder, oneInstance } from './folders.ts'

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

/** All settings of `orch stop`. */
export const stopSettings = {
  ...instanceSettings,
  timeout: settingsOf('Server')(
    { flag: '--timeout', env: 'ORCH_STOP_TIMEOUT', type: settingTypes.duration, default: '60s' },
    'Longest wait for the end of the server. It is not killed afterwards.',
  ),
}

/** The interval of checks of the folder's lock. */
const lookMs = 20

/** `orch stop`: stops the server of a data folder gracefully, and returns when its folder is unlocked. It does nothing if no server runs. */
export async function stop(terminal: Terminal, flags: readonly string[]): Promise<number> {
  const { values } = await readCommandSettings(stopSettings, terminal, flags)
  const { folder, name, owner } = oneInstance(terminal, values)
  if (owner === undefined) {
    terminal.out(`${name}: no server runs on it\n`)
    return 0
  }
  process.kill(owner.pid, 'SIGTERM')
  const endMs = systemClock.now() + values.timeout
  while (directoryOwner(folder)?.pid === owner.pid) {
    if (systemClock.now() >= endMs)
      throw new StartError(`${name}: process ${owner.pid} has not ended within the --timeout; it goes on ending`)
    // The process has no other work, and the clock's timers would not keep it alive.
    await setTimeout(lookMs)
  }
  terminal.out(`${name}: process ${owner.pid} has ended\n`)
  return 0
}

/** All settings of `orch reset`. */
export const resetSettings = {
  ...instanceSettings,
  yes: settingsOf('Server')(
    { flag: '--yes', env: 'ORCH_RESET_YES', type: settingTypes.bool, default: 'false' },
    'Deletes the objects; without it the command only prints what it would delete.',
  ),
}

/** File and folder names of the state: of a server in one process, and of the etcd and NATS of `orch up --distributed`. */
const stateNames = [...storeFiles, 'etcd', 'nats']

/**
 * `orch reset`: deletes all objects of a data folder. Certificates and keys stay, so that client configurations remain valid. It refuses a folder
 * with a running server.
 */
export async function reset(terminal: Terminal, flags: readonly string[]): Promise<number> {
  const { values } = await readCommandSettings(resetSettings, terminal, flags)
  const { folder, name, owner } = oneInstance(terminal, values)
  if (owner !== undefined) throw new StartError(`${name}: process ${owner.pid} serves it; stop it first: orch stop`)
  const found = stateNames.filter((file) => existsSync(join(folder, file)))
  if (found.length === 0) {
    terminal.out(`${name}: holds no objects\n`)
    return 0
  }
  if (!values.yes) {
    terminal.out(`${name}: would delete all objects, in ${found.join(', ')}; certificates stay. Repeat it with --yes\n`)
    return 1
  }
  // No server can start on the folder while it is locked. The import is here because the other commands open no store.
  const lock = (await import('../storage/open.ts')).lockDataFolder(folder)
  for (const file of found) rmSync(join(folder, file), { recursive: true, force: true })
  lock.release()
  terminal.out(`${name}: all objects have been deleted\n`)
  return 0
}

/** `orch console`: prints a link that opens the console once, within a minute, as the administrator. */
export async function console(terminal: Terminal, flags: readonly string[]): Promise<number> {
  const { values } = await readCommandSettings(instanceSettings, terminal, flags)
  const { folder, name, owner } = oneInstance(terminal, values)
  if (owner === undefined) throw new StartError(`${name}: no server runs on it; start one with orch up`)
  const { env, error } = terminal
  const configuration = await loadConfiguration(join(folder, 'admin.conf'))
  const client = createClient(createTransport(configuration, { now: () => systemClock.now(), env, isInteractive: false, say: error }))
  try {
    terminal.out(`${await consoleLink(client)}\n`)
    return 0
  } catch (failure) {
    if (!isRefusal(failure, [404])) throw failure
    throw new StartError(`${name}: its server has no console; start it with --console=true`)
  } finally {
    client.close()
  }
}
