import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf, noStatusLine, SettingsError, type StatusLine, settingsOf, settingTypes } from '@orch/platform'
import { lockDirectory } from '@orch/storage'
import { type Backup, type BackupResult, backupFolder, hasState, openBackup, restoreFolder } from '@orch/storage/backup'
import { etcdSettings, readEtcd } from '../backends/connections.ts'
import { trustSettings } from '../distributed/settings.ts'
import { instanceSettings, oneInstance } from '../instance/folders.ts'
import { isExpected, StartError, type Terminal } from '../process/terminal.ts'
import { defaultDataDir, readCommandSettings, splitWords } from '../settings/general.ts'

const setting = settingsOf('Server')

/** All settings of `orch backup`. */
export const backupSettings = {
  ...instanceSettings,
  ...etcdSettings,
  insecureTransport: trustSettings.insecureTransport,
}

/** All settings of `orch restore`. */
export const restoreSettings = {
  ...backupSettings,
  replace: setting(
    { flag: '--replace', env: 'ORCH_RESTORE_REPLACE', type: settingTypes.bool, default: 'false' },
    'Restores over the objects that are there: a data folder keeps them in a folder replaced-<id>, those of etcd are saved to a file beside the backup first.',
  ),
}

/** `orch backup <file>`: writes all objects at one revision to a file, of a data folder or of etcd, in use or not. */
export async function backup(terminal: Terminal, words: readonly string[]): Promise<number> {
  const { flags, paths } = splitWords(backupSettings, words)
  const { values } = await readCommandSettings(backupSettings, terminal, flags)
  const file = oneFile(terminal, 'backup', paths)
  if (existsSync(file)) throw new StartError(`${file} is there already, and a backup overwrites nothing`)
  const result = await explained(terminal, async (status) => {
    const count = (records: number) => showCount(status, 'writing', records)
    count(0)
    if (values.etcdServers.length > 0) {
      checkOnePlace(values)
      const { backupEtcd } = await import('@orch/storage/etcd')
      return backupEtcd(readEtcd({ ...values, profile: values.profile === '' ? 'orch' : values.profile }), file, count)
    }
    const { folder, name, owner } = oneInstance(terminal, values)
    if (!hasState(folder))
      throw new StartError(`${name}: holds no objects of a server in one process; where they are in etcd, name it by --etcd-servers`)
    return backupFolder(folder, file, owner !== undefined, count)
  })
  terminal.out(`${file}: ${describe(result)}\n`)
  return 0
}

/** `orch restore <file>`: replaces the objects of a data folder or of etcd by those of a backup. */
export async function restore(terminal: Terminal, words: readonly string[]): Promise<number> {
  const { flags, paths } = splitWords(restoreSettings, words)
  const { values } = await readCommandSettings(restoreSettings, terminal, flags)
  const file = oneFile(terminal, 'restore', paths)
  const { profile } = values
  const restored = await explained(terminal, async (status) => {
    status.show(`checking ${file}`)
    const saved = counted(openBackup(file), status)
    if (profile !== '' && saved.profile !== profile)
      throw new StartError(`${file} belongs to the profile '${saved.profile}' and can't be restored under the profile '${profile}'`)
    return values.etcdServers.length > 0
      ? restoreToEtcd(saved, { ...values, profile: saved.profile, file })
      : restoreToFolder(terminal, saved, values)
  })
  terminal.out(restored)
  return 0
}

async function restoreToFolder(
  terminal: Terminal,
  saved: Backup,
  { dataDir, replace }: { readonly dataDir: string; readonly replace: boolean },
): Promise<string> {
  const directory = resolve(terminal.workingFolder, dataDir === '' ? defaultDataDir(saved.profile) : dataDir)
  const lock = lockDirectory(directory)
  try {
    if (hasState(directory) && !replace) throw new StartError(`${directory} holds objects already; --replace moves them aside`)
    const { movedTo, ...result } = await restoreFolder(directory, saved)
    return `${directory}: restored ${describe(result)}${movedTo === undefined ? '' : `; what was there is in ${movedTo}`}\n`
  } finally {
    lock.release()
  }
}

type EtcdTarget = Parameters<typeof readEtcd>[0] & { readonly dataDir: string; readonly replace: boolean; readonly file: string }

async function restoreToEtcd(saved: Backup, target: EtcdTarget): Promise<string> {
  checkOnePlace(target)
  const { restoreEtcd } = await import('@orch/storage/etcd')
  const place = readEtcd(target)
  const replacedPath = `${target.file}.replaced`
  if (target.replace && existsSync(replacedPath))
    throw new StartError(`${replacedPath} is there already: move it away, since what is replaced is saved to it`)
  const result = await restoreEtcd(place, saved, target.replace ? { replacedPath } : {})
  const kept = existsSync(replacedPath) ? `; what was there is in ${replacedPath}` : ''
  return `${place.prefix} in etcd: restored ${describe(result)}${kept}\n`
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

/** Turns an error of a file, a folder or etcd into a sentence for the user. */
async function explained<T>({ statusLine: status = noStatusLine }: Terminal, run: (status: StatusLine) => Promise<T>): Promise<T> {
  try {
    return await run(status)
  } catch (error) {
    throw isExpected(error) ? error : new StartError(messageOf(error), { cause: error })
  } finally {
    status.close()
  }
}

/** Number of records between two progress reports. */
const shownEvery = 1_000

function showCount(status: StatusLine, doing: string, records: number, total?: number): void {
  if (records % shownEvery === 0) status.show(`${doing} ${records}${total === undefined ? '' : ` of ${total}`} keys`)
}

/** The backup; the status line shows its progress. */
function counted(saved: Backup, status: StatusLine): Backup {
  return {
    ...saved,
    *read() {
      let records = 0
      for (const record of saved.read()) {
        showCount(status, 'restoring', records++, saved.records)
        yield record
      }
    },
  }
}
