import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf, SettingsError } from '@orch/platform'
import { lockDirectory } from '@orch/storage'
import { type Backup, type BackupResult, backupFolder, hasState, openBackup, restoreFolder } from '@orch/storage/backup'
import { readEtcd } from '../backends/etcd-options.ts'
import { isExpected } from '../expected-error.ts'
import { oneInstance } from '../instance/folders.ts'
import { defaultDataDir, readCommandSettings } from '../settings/up-options.ts'
import { splitWords } from '../settings/words.ts'
import { StartError } from '../start-error.ts'
import type { Terminal } from '../terminal.ts'
import { backupSettings, restoreSettings } from './settings.ts'

/** `orch backup <file>`: writes all objects at one revision to a file, of a data folder or of etcd, in use or not. */
export async function backup(terminal: Terminal, words: readonly string[]): Promise<number> {
  const { flags, paths } = splitWords(backupSettings, words)
  const { values } = await readCommandSettings(backupSettings, terminal, flags)
  const file = oneFile(terminal, 'backup', paths)
  if (existsSync(file)) throw new StartError(`${file} is there already, and a backup overwrites nothing`)
  const result = await explained(async () => {
    if (values.etcdServers.length > 0) {
      checkOnePlace(values)
      const { backupEtcd } = await import('@orch/storage/etcd')
      return backupEtcd(readEtcd({ ...values, profile: values.profile === '' ? 'orch' : values.profile }), file)
    }
    const { folder, name, owner } = oneInstance(terminal, values)
    if (!hasState(folder))
      throw new StartError(`${name}: holds no objects of a server in one process; where they are in etcd, name it by --etcd-servers`)
    return backupFolder(folder, file, owner !== undefined)
  })
  terminal.out(`${file}: ${describe(result)}\n`)
  return 0
}

/** `orch restore <file>`: makes the objects of a data folder or of etcd those of a backup. */
export async function restore(terminal: Terminal, words: readonly string[]): Promise<number> {
  const { flags, paths } = splitWords(restoreSettings, words)
  const { values } = await readCommandSettings(restoreSettings, terminal, flags)
  const file = oneFile(terminal, 'restore', paths)
  const { profile } = values
  return explained(async () => {
    const saved = openBackup(file)
    if (profile !== '' && saved.profile !== profile)
      throw new StartError(`${file} belongs to the profile '${saved.profile}' and can't be restored under the profile '${profile}'`)
    return values.etcdServers.length > 0
      ? restoreToEtcd(terminal, saved, { ...values, profile: saved.profile, file })
      : restoreToFolder(terminal, saved, values)
  })
}

async function restoreToFolder(
  terminal: Terminal,
  saved: Backup,
  { dataDir, replace }: { readonly dataDir: string; readonly replace: boolean },
): Promise<number> {
  const directory = resolve(terminal.workingFolder, dataDir === '' ? defaultDataDir(saved.profile) : dataDir)
  const lock = lockDirectory(directory)
  try {
    if (hasState(directory) && !replace) throw new StartError(`${directory} holds objects already; --replace moves them aside`)
    const { movedTo, ...result } = await restoreFolder(directory, saved)
    terminal.out(`${directory}: restored ${describe(result)}${movedTo === undefined ? '' : `; what was there is in ${movedTo}`}\n`)
    return 0
  } finally {
    lock.release()
  }
}

type EtcdTarget = Parameters<typeof readEtcd>[0] & { readonly dataDir: string; readonly replace: boolean; readonly file: string }

async function restoreToEtcd(terminal: Terminal, saved: Backup, target: EtcdTarget): Promise<number> {
  checkOnePlace(target)
  const { restoreEtcd } = await import('@orch/storage/etcd')
  const place = readEtcd(target)
  const replacedPath = `${target.file}.replaced`
  if (target.replace && existsSync(replacedPath))
    throw new StartError(`${replacedPath} is there already: move it away, since what is replaced is saved to it`)
  const result = await restoreEtcd(place, saved, target.replace ? { replacedPath } : {})
  const kept = existsSync(replacedPath) ? `; what was there is in ${replacedPath}` : ''
  terminal.out(`${place.prefix} in etcd: restored ${describe(result)}${kept}\n`)
  return 0
}

function oneFile(terminal: Terminal, command: string, [path, another]: readonly string[]): string {
  if (path === undefined || another !== undefined) throw new SettingsError(`one file is needed: orch ${command} objects.backup`)
  return resolve(terminal.workingFolder, path)
}

function checkOnePlace({ dataDir }: { readonly dataDir: string }): void {
  if (dataDir !== '') throw new SettingsError('--data-dir with --etcd-servers: the objects are in a folder or in etcd')
}

function describe({ records, revision, profile }: BackupResult): string {
  return `${records} keys of the profile ${profile} at revision ${revision}`
}

/** What is wrong with a file, a folder or etcd is a sentence for the caller. */
async function explained<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw isExpected(error) ? error : new StartError(messageOf(error), { cause: error })
  }
}
