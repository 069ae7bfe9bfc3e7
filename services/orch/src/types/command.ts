import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseManifests, readManifests } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { settingsOf, settingTypes } from '@orch/platform'
import { clusterSettings, openCluster } from '../cluster/connect.ts'
import { explained } from '../load/load.ts'
import { isDefinition } from '../load/store-objects.ts'
import type { Terminal } from '../process/terminal.ts'
import { generalSettings, readCommandSettings, splitWords } from '../settings/general.ts'
import { StartError } from '../start-error.ts'
import { printTypes } from './print-types.ts'

const { string } = settingTypes
const setting = settingsOf('Types')

/** The settings of `orch types`. */
export const typesSettings = {
  config: generalSettings.config,
  logFormat: generalSettings.logFormat,
  ...clusterSettings,
  output: setting({ flag: '--output', type: string, defaultDoc: 'it is printed' }, 'File that the types are written to.'),
}

/** `orch types config/crd`: prints TypeScript types of definitions from files, or without a path from a running server. */
export async function typesCommand(terminal: Terminal, words: readonly string[]): Promise<number> {
  const { flags, paths } = splitWords(
    typesSettings,
    words.map((word) => (word === '-' ? standardInput : word)),
  )
  const { values } = await readCommandSettings(typesSettings, terminal, flags)
  const objects = await explained(async () => (paths.length === 0 ? definitionsOf(terminal, values) : objectsIn(terminal, paths)))
  const definitions = objects.filter(isDefinition)
  if (definitions.length === 0) throw new StartError(`${paths.join(', ') || 'the server'}: there is no CustomResourceDefinition`)
  const printed = printTypes(definitions)
  if (values.output === '') terminal.out(printed)
  else writeFileSync(resolve(terminal.workingFolder, values.output), printed)
  return 0
}

/** The file of the standard input. An argument `-` would be parsed as a flag. */
const standardInput = '/dev/stdin'

async function objectsIn({ workingFolder }: Terminal, paths: readonly string[]): Promise<ApiObject[]> {
  const found: ApiObject[] = []
  for (const path of paths) {
    const manifests =
      path === standardInput ? await parseManifests(await text(process.stdin), '-') : await readManifests([resolve(workingFolder, path)])
    for (const { object } of manifests) found.push(object)
  }
  return found
}

async function definitionsOf(terminal: Terminal, place: { readonly kubeconfig: string; readonly context: string }): Promise<ApiObject[]> {
  const { client } = await openCluster(terminal, place)
  try {
    const { resources } = await client.discoverVersions()
    const definitions = resources.find(({ kind, group }) => kind === 'CustomResourceDefinition' && group.startsWith('apiextensions.'))
    if (definitions === undefined) return []
    const { items } = await client.resource(definitions).listAll()
    return items.map((item) => ({ ...item, apiVersion: `${definitions.group}/${definitions.version}`, kind: definitions.kind }))
  } finally {
    client.close()
  }
}
