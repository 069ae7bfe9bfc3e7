import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createClient, createTransport, isRefusal, loadConfiguration } from '@orch/client'
import { isJsonObject } from '@orch/core/json'
import { controlPath, namesOf } from '@orch/core/names'
import { printYaml, readYaml } from '@orch/core/yaml'
import { messageOf, SettingsError, settingsOf, settingTypes, systemClock, writePrivateFile } from '@orch/platform'
import { StartError, type Terminal } from '../process/terminal.ts'
import { readCommandSettings } from '../settings/general.ts'
import { instanceSettings, oneInstance } from './folders.ts'

const { bool, string } = settingTypes
const setting = settingsOf('Client configuration')

/** All settings of `orch kubeconfig`. */
export const kubeconfigSettings = {
  ...instanceSettings,
  user: setting(
    { flag: '--user', env: 'ORCH_KUBECONFIG_USER', type: string, defaultDoc: 'the administrator' },
    'Prints the configuration of a user of this name, with all rights, whom a server of orch up --control makes where it has none.',
  ),
  merge: setting(
    { flag: '--merge', env: 'ORCH_KUBECONFIG_MERGE', type: bool, default: 'false' },
    'Adds the server to the client configuration of the user (KUBECONFIG, or ~/.kube/config) and makes it the current context, in place of printing it.',
  ),
  remove: setting(
    { flag: '--remove', env: 'ORCH_KUBECONFIG_REMOVE', type: bool, default: 'false' },
    'Takes out of the client configuration of the user what --merge has added, and makes the context current again that was current before.',
  ),
  context: setting(
    { flag: '--context', env: 'ORCH_KUBECONFIG_CONTEXT', type: string, defaultDoc: 'orch-<profile>' },
    'Name of the context, the cluster and the user that --merge adds and --remove takes out.',
  ),
}

type Fields = Record<string, unknown>

/** `orch kubeconfig`: prints the administrator's client configuration, adds it to the user's configuration, or removes it from there. */
export async function kubeconfig(terminal: Terminal, flags: readonly string[]): Promise<number> {
  const { values } = await readCommandSettings(kubeconfigSettings, terminal, flags)
  const { merge, remove, user } = values
  if (merge && remove) throw new SettingsError('--merge and --remove exclude each other')
  if (user !== '' && (merge || remove)) throw new SettingsError('--user excludes --merge and --remove')
  const { folder, name: instance } = oneInstance(terminal, values)
  const own = join(folder, 'admin.conf')
  if (!existsSync(own)) throw new StartError(`there is no ${own}: no server has been ready on this folder yet`)
  if (user !== '') {
    terminal.out(await configurationOf(user, { own, instance, terminal }))
    return 0
  }
  if (!merge && !remove) {
    terminal.out(readFileSync(own, 'utf8'))
    return 0
  }
  const source = readFields(own)
  const name = values.context === '' ? nameOf(folder) : values.context
  const file = userFile(terminal.env)
  const before: Fields = existsSync(file) ? readFields(file) : { apiVersion: 'v1', kind: 'Config' }
  const after = merge ? merged(before, source, name) : without(before, name)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writePrivateFile(file, printYaml(after))
  terminal.out(merge ? `${file}: context ${name} was added and is the current one\n` : `${file}: context ${name} was removed\n`)
  return 0
}

interface UserParts {
  /** The administrator's file. */
  readonly own: string
  readonly instance: string
  readonly terminal: Terminal
}

/** Creates a test user in the server; returns the user's configuration. */
async function configurationOf(user: string, { own, instance, terminal: { env, error } }: UserParts): Promise<string> {
  const configuration = await loadConfiguration(own)
  const client = createClient(createTransport(configuration, { now: () => systemClock.now(), env, isInteractive: false, say: error }))
  try {
    const path = `${controlPath}/users`
    const made = await client.request<{ readonly kubeconfig: string }>({ method: 'POST', path, body: { name: user } })
    return made.kubeconfig
  } catch (failure) {
    if (!isRefusal(failure, [404])) throw failure
    throw new StartError(`${instance}: its server makes no users; start it with --control`)
  } finally {
    client.close()
  }
}

const product = namesOf('orch').serverServiceName
/** Marks the entries of this command, and stores the previous current context. */
const extensionName = `${namesOf('orch').labelDomain}/kubeconfig`

function nameOf(folder: string): string {
  const last = folder.split(/[/\\]/).at(-1) ?? ''
  return last === product ? product : `${product}-${last}`
}

/** The file that kubectl would change: the first existing file of KUBECONFIG, else its first name, else the file in the home folder. */
function userFile(env: Terminal['env']): string {
  const named = (env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '')
  return named.find((file) => existsSync(file)) ?? named[0] ?? join(env['HOME'] ?? homedir(), '.kube', 'config')
}

function readFields(file: string): Fields {
  let value: unknown
  try {
    value = readYaml(readFileSync(file, 'utf8')) ?? {}
  } catch (error) {
    throw new StartError(`${file} is no client configuration: ${messageOf(error)}`, { cause: error })
  }
  if (!isJsonObject(value)) throw new StartError(`${file} is no client configuration: it must be a map`)
  return value
}

const lists = [
  ['clusters', 'cluster'],
  ['users', 'user'],
  ['contexts', 'context'],
] as const

function merged(before: Fields, source: Fields, name: string): Fields {
  const there = entry(before, 'contexts', name)
  if (there !== undefined && !isOurs(there)) throw new StartError(taken(name))
  for (const [list] of lists) if (there === undefined && entry(before, list, name) !== undefined) throw new StartError(taken(name))
  const current = before['current-context']
  const previous = current === name ? previousOf(there) : current
  const extension = { name: extensionName, extension: { previousContext: previous ?? '' } }
  const added: Fields = {
    clusters: { name, cluster: entriesOf(source, 'clusters')[0]?.['cluster'] },
    users: { name, user: entriesOf(source, 'users')[0]?.['user'] },
    contexts: { name, context: { cluster: name, user: name, extensions: [extension] } },
  }
  const changed = Object.fromEntries(lists.map(([list]) => [list, [...others(before, list, name), added[list]]]))
  return { ...before, ...changed, 'current-context': name }
}

function without(before: Fields, name: string): Fields {
  const there = entry(before, 'contexts', name)
  if (there === undefined) throw new StartError(`the client configuration has no context named ${name}`)
  if (!isOurs(there)) throw new StartError(`the context ${name} was not added by orch kubeconfig --merge, and is left as it is`)
  const changed = Object.fromEntries(lists.map(([list]) => [list, others(before, list, name)]))
  const current = before['current-context'] === name ? previousOf(there) : before['current-context']
  const stays = entry({ ...before, ...changed }, 'contexts', String(current)) !== undefined
  return { ...before, ...changed, 'current-context': stays ? current : '' }
}

function taken(name: string): string {
  return `the client configuration already has an entry named ${name} that is not of orch kubeconfig: give another name by --context`
}

function entriesOf(file: Fields, list: string): Fields[] {
  const found = file[list]
  return Array.isArray(found) ? found.filter(isJsonObject) : []
}

function entry(file: Fields, list: string, name: string): Fields | undefined {
  return entriesOf(file, list).find((one) => one['name'] === name)
}

function others(file: Fields, list: string, name: string): Fields[] {
  return entriesOf(file, list).filter((one) => one['name'] !== name)
}

function extensionOf(context: Fields | undefined): Fields | undefined {
  const fields = context?.['context']
  if (!isJsonObject(fields)) return undefined
  return entry(fields, 'extensions', extensionName)
}

function isOurs(context: Fields): boolean {
  return extensionOf(context) !== undefined
}

function previousOf(context: Fields | undefined): unknown {
  const extension = extensionOf(context)?.['extension']
  return isJsonObject(extension) ? extension['previousContext'] : undefined
}
