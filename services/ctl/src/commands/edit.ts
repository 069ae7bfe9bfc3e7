import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resourcePath } from '@orch/client'
import { isJsonObject, jsonEqual } from '@orch/core/json'
import { type ApiObject, StatusError } from '@orch/core/meta'
import { type Command, command } from '../command.ts'
import { printYaml, readText } from '../output/yaml.ts'
import type { Session } from '../session.ts'
import { readTargets, type Target } from '../targets.ts'
import type { CtlTerminal } from '../terminal.ts'
import { CtlError } from '../words.ts'
import { describeError, printOutcome, writeFlags, writeOptions } from './write.ts'

const explanation = `Please edit the object below. Lines beginning with a '#' will be ignored,
and an empty file will abort the edit. If an error occurs while saving this file will be
reopened with the relevant failures.
`

/** `orchctl edit`: the editor's change goes to the server as a merge patch. */
export const edit: Command = command({
  usage: 'edit resource name…',
  doc: 'change objects in an editor, that of KUBE_EDITOR, EDITOR, or vi',
  takesObjects: true,
  flags: {
    ...writeFlags,
    subresource: { word: 'name', doc: 'Subresource that is edited, such as status or scale.' },
    'show-managed-fields': { word: '', doc: 'Show managedFields in the editor.' },
  },
  async run({ terminal, session, flags, rest }) {
    const options = { ...writeOptions(flags), ...(flags.subresource === undefined ? {} : { subresource: flags.subresource }) }
    for (const target of await readTargets(session, rest, { 'all-namespaces': false })) {
      if (target.name === undefined) throw new CtlError('objects must be named: edit resource name')
      const { resource, namespace, name } = target
      const collection = session.client.resource(resource)
      const live = await readLive({ session, target, subresource: flags.subresource })
      const before = flags['show-managed-fields'] ? live : withoutOwners(live)
      let edited: ApiObject | undefined
      const outcome = await editUntilAccepted(terminal, before, async (after) => {
        const patch = mergePatch(before, after)
        if (patch === undefined) return false
        edited = await collection.patch(name, patch, { ...options, type: 'merge', namespace })
        return true
      })
      if (outcome === 'unchanged' || edited === undefined) terminal.out('Edit cancelled, no changes made.\n')
      else await printOutcome({ terminal, flags }, target, 'edited', edited)
    }
  },
})

interface Reading {
  readonly session: Session
  readonly target: Target
  readonly subresource: string | undefined
}

function readLive({ session, target: { resource, namespace, name = '' }, subresource }: Reading): Promise<ApiObject> {
  return session.client.request<ApiObject>({ method: 'GET', path: resourcePath(resource, namespace, name, subresource) })
}

function withoutOwners(object: ApiObject): ApiObject {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

type Outcome = 'edited' | 'unchanged'

/** Opens the editor until the server accepts the text, the text is unchanged, or the user saves a refused text again. */
async function editUntilAccepted(terminal: CtlTerminal, before: ApiObject, write: (after: unknown) => Promise<boolean>): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'orchctl-edit-'))
  const file = join(folder, `${before.metadata.name ?? 'object'}.yaml`)
  let body = await printYaml(before)
  let complaint = ''
  try {
    for (;;) {
      const shown = `${(explanation + complaint)
        .trimEnd()
        .split('\n')
        .map((line) => `# ${line}`.trimEnd())
        .concat('')
        .join('\n')}${body}`
      writeFileSync(file, shown)
      await openEditor(terminal, file)
      const text = readFileSync(file, 'utf8')
      if (text === shown || withoutComments(text).trim() === '') return giveUp(complaint, body)
      body = withoutComments(text)
      try {
        return (await write(await parse(body))) ? 'edited' : 'unchanged'
      } catch (error) {
        if (!(error instanceof StatusError) && !(error instanceof CtlError)) throw error
        terminal.error(`${describeError(error)}\n`)
        complaint = `\n${describeError(error)}\n`
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A refused text that was not changed again is saved in a file, as it may be long. */
function giveUp(complaint: string, body: string): 'unchanged' {
  if (complaint === '') return 'unchanged'
  const kept = join(mkdtempSync(join(tmpdir(), 'orchctl-edit-')), 'refused.yaml')
  writeFileSync(kept, body)
  throw new CtlError(`Edit cancelled, no valid changes were saved. A copy of your changes has been stored to "${kept}"`)
}

async function openEditor({ env, run }: CtlTerminal, file: string): Promise<void> {
  const [program = 'vi', ...words] = (env['KUBE_EDITOR'] ?? env['EDITOR'] ?? 'vi').split(' ').filter((word) => word !== '')
  const code = await run(program, [...words, file]).catch((error: unknown) => {
    throw new CtlError(`the editor "${program}" cannot be started: ${error instanceof Error ? error.message : String(error)}; set EDITOR`)
  })
  if (code !== 0) throw new CtlError(`the editor "${program}" ended with exit code ${code}`)
}

/** The object in the text of the editor. */
async function parse(text: string): Promise<unknown> {
  const value = await readText(text, 'the text')
  if (!isJsonObject(value)) throw new CtlError('the text must be one object')
  return value
}

function withoutComments(text: string): string {
  return text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
}

/** The JSON merge patch (RFC 7386) that turns `before` into `after`; undefined if they are equal. */
export function mergePatch(before: unknown, after: unknown): unknown {
  if (!isJsonObject(before) || !isJsonObject(after)) return jsonEqual(before, after) ? undefined : after
  const patch: Record<string, unknown> = {}
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) patch[key] = null
  for (const [key, value] of Object.entries(after)) {
    const change = Object.hasOwn(before, key) ? mergePatch(before[key], value) : value
    if (change !== undefined) patch[key] = change
  }
  return Object.keys(patch).length === 0 ? undefined : patch
}
