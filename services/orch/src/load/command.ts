import { resolve } from 'node:path'
import type { Transport } from '@orch/client'
import { printJson } from '@orch/core/json'
import { controlPath } from '@orch/core/names'
import type { LoadedObject } from '@orch/gateway'
import { SettingsError, settingsOf, settingTypes } from '@orch/platform'
import { clusterSettings, openCluster } from '../ctl.ts'
import { StartError, type Terminal } from '../process/terminal.ts'
import { generalSettings, readCommandSettings, splitWords } from '../settings/general.ts'
import { explained, type LoadReport, load } from './load.ts'
import type { StoreObjects, StoreReport } from './store-objects.ts'

const { bool, list, oneOf } = settingTypes
const setting = settingsOf('Load')

/** The settings of `orch load`. */
export const loadSettings = {
  config: generalSettings.config,
  logFormat: generalSettings.logFormat,
  ...clusterSettings,
  skip: setting({ flag: '--skip', type: list }, 'Kinds that are left out, such as Pod, beside those of every load.'),
  redactSecrets: setting(
    { flag: '--redact-secrets', type: bool, default: 'false' },
    'Replaces the values of Secrets by the word redacted.',
  ),
  unknown: setting(
    { flag: '--unknown', type: oneOf(['skip', 'error']), default: 'skip' },
    'Objects of kinds that the server does not serve: with error, nothing is loaded if there is one.',
  ),
  existing: setting(
    { flag: '--existing', type: oneOf(['replace', 'keep']), default: 'replace' },
    'Objects that are there already, by name.',
  ),
  output: setting({ flag: '--output', type: oneOf(['text', 'json']), default: 'text' }, 'json for machines: the whole report.'),
}

/** `orch load dump.yaml`: loads dumps of a cluster into a server that runs with `--control`. */
export async function loadCommand(terminal: Terminal, words: readonly string[]): Promise<number> {
  const { flags, paths } = splitWords(loadSettings, words)
  const { values } = await readCommandSettings(loadSettings, terminal, flags)
  if (paths.length === 0) throw new SettingsError('files or folders are needed: orch load dump.yaml')
  const { skip, redactSecrets, unknown, existing } = values
  const { client, transport } = await openCluster(terminal, values)
  try {
    const report = await explained(() =>
      load(
        paths.map((path) => resolve(terminal.workingFolder, path)),
        { skip, unknown, existing, ...(redactSecrets ? { secrets: 'redact' } : {}) },
        {
          client,
          store: storeOver(transport),
        },
      ),
    )
    terminal.out(values.output === 'json' ? `${JSON.stringify(report, undefined, 2)}\n` : printReport(report))
    return 0
  } finally {
    client.close()
  }
}

/** Stores objects over the control of a server. */
export function storeOver(transport: Transport): StoreObjects {
  return async (objects, { keepsExisting }) => {
    const response = await transport.send({
      method: 'POST',
      path: `${controlPath}/load?existing=${keepsExisting ? 'keep' : 'replace'}`,
      headers: { accept: 'application/json', 'content-type': 'application/x-ndjson' },
      body: await linesOf(objects),
    })
    const parts: Uint8Array[] = []
    for await (const part of response.body) parts.push(part)
    const text = Buffer.concat(parts).toString()
    if (response.status === 404)
      throw new StartError('the server has no control: start it with orch up --control, or load at its start with orch up --load')
    if (response.status !== 200) throw new StartError(`the server refuses the load: ${messageIn(text)}`)
    const report: StoreReport = JSON.parse(text)
    return report
  }
}

async function linesOf(objects: AsyncIterable<LoadedObject>): Promise<Uint8Array> {
  const lines: Buffer[] = []
  for await (const { object, hasBigIntegers } of objects) lines.push(Buffer.from(`${printJson(object, { hasBigIntegers })}\n`))
  return Buffer.concat(lines)
}

function messageIn(text: string): string {
  try {
    const { message }: { readonly message?: unknown } = JSON.parse(text)
    return typeof message === 'string' ? message : text
  } catch {
    return text
  }
}

function printReport({ loaded, kinds, skipped, unknown, findings, unread }: LoadReport): string {
  const counted = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1))
      .map(([name, number]) => `${name} ${number}`)
      .join(', ')
  const line = (word: string, counts: Readonly<Record<string, number>>) =>
    Object.keys(counts).length === 0 ? [] : [`${word}: ${counted(counts)}`]
  return [
    `loaded ${loaded} ${loaded === 1 ? 'object' : 'objects'}`,
    ...line('kinds', kinds),
    ...line('skipped', skipped),
    ...line('not served', unknown),
    ...findings.map(({ object, file, reason }) => `${file}: ${object}: ${reason}`),
    ...(unread.length === 0 ? [] : [`files without objects: ${unread.length}`]),
    '',
  ].join('\n')
}
