import { existsSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { type Profile, profiles } from '@orch/core/names'
import { settingsOf, settingTypes } from '@orch/platform'
import { type DirectoryOwner, directoryOwner } from '@orch/storage'
import { StartError, type Terminal } from '../process/terminal.ts'
import { defaultDataDir, generalSettings, stateSettings } from '../settings/general.ts'

const inServer = settingsOf('Server')

/** The selection of a server on this machine, for every command about a server. */
export const instanceSettings = {
  config: generalSettings.config,
  logFormat: generalSettings.logFormat,
  dataDir: { ...stateSettings.dataDir, doc: 'Data folder of the server.', group: 'Server' },
  profile: inServer(
    { flag: '--profile', type: settingTypes.oneOf(['', ...profiles]), defaultDoc: 'any' },
    'Profile of the server, where --data-dir is not given.',
  ),
}

/** The settings that select a server. */
interface Wanted {
  readonly dataDir: string
  readonly profile: '' | Profile
}

/** A data folder on this machine. */
export interface Instance {
  readonly folder: string
  /** The path for messages: relative if the folder is below the working folder, else absolute. */
  readonly name: string
  /** Undefined if no server runs on the folder. */
  readonly owner?: DirectoryOwner
}

/** The folder that the settings name, else all existing folders of `orch up` below the working folder. */
export function findInstances({ workingFolder }: Terminal, { dataDir, profile }: Wanted): Instance[] {
  const named = profiles.filter((known) => profile === '' || known === profile).map(defaultDataDir)
  const folders = (dataDir === '' ? named : [dataDir]).map((folder) => resolve(workingFolder, folder))
  return folders.filter((folder) => existsSync(folder)).map((folder) => toInstance(folder, workingFolder))
}

function toInstance(folder: string, workingFolder: string): Instance {
  const inside = relative(workingFolder, folder)
  const owner = directoryOwner(folder)
  return { folder, name: inside.startsWith('..') ? folder : inside, ...(owner === undefined ? {} : { owner }) }
}

/** The selected folder: the only one, or the only one with a running server. */
export function oneInstance(terminal: Terminal, wanted: Wanted): Instance {
  const found = findInstances(terminal, wanted)
  const running = found.filter(({ owner }) => owner !== undefined)
  const [instance, another] = running.length > 0 ? running : found
  if (instance === undefined) throw new StartError(noFolder(wanted))
  if (another !== undefined) {
    const names = (running.length > 0 ? running : found).map(({ name }) => name).join(' and ')
    throw new StartError(`there are several data folders, ${names}: name one by --data-dir or --profile`)
  }
  return instance
}

/** The reason why no folder was found. */
export function noFolder({ dataDir, profile }: Wanted): string {
  if (dataDir !== '') return `there is no data folder ${dataDir}`
  const names = profiles.filter((known) => profile === '' || known === profile).map(defaultDataDir)
  return `there is no data folder here: neither --data-dir is given, nor is there ${names.join(' or ')}`
}
