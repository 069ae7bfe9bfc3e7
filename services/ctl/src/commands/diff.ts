import { unlessRefused } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { createTwoFilesPatch } from 'diff'
import { type Command, command } from '../command.ts'
import { printYaml } from '../output/yaml.ts'
import { objectName } from '../resources.ts'
import type { Session } from '../session.ts'
import { type FileValues, fileFlags, namesFiles, readObjects, readTargets, type Target, targetOf } from '../targets.ts'
import type { CtlTerminal, StatusTerminal } from '../terminal.ts'
import { CtlError } from '../words.ts'
import { ofMany } from './chosen.ts'
import { objectAt } from './history.ts'

/** The sides of a comparison: the live or an earlier object, and the object after the change. */
interface Pair {
  readonly name: string
  readonly before: ApiObject | undefined
  readonly after: ApiObject | undefined
}

/** `orchctl diff`. */
export const diff: Command = command({
  usage: 'diff -f file | diff -k folder | diff resource name --revision=resourceVersion',
  doc: 'print what an apply would change, or what has changed since a revision; the exit code is 1 where there is a difference',
  flags: {
    ...fileFlags,
    revision: { word: 'resourceVersion', doc: 'Compare the object at this resource version with the live one.' },
    'field-manager': { word: 'name', doc: 'Owner of the fields that would be applied.' },
    'force-conflicts': { word: '', doc: 'Compare as if fields were taken over from other managers.' },
    'show-managed-fields': { word: '', doc: 'Compare managedFields, too.' },
  },
  async run({ terminal, session, flags, rest }) {
    const pairs =
      flags.revision === undefined ? await applyPairs({ terminal, session }, flags) : await revisionPairs(session, rest, flags.revision)
    const texts: string[] = []
    for (const { name, before, after } of pairs) {
      const [one, other] = [await textOf(before, flags['show-managed-fields']), await textOf(after, flags['show-managed-fields'])]
      if (one !== other) texts.push(createTwoFilesPatch(`live/${name}`, `merged/${name}`, one, other, undefined, undefined, { context: 3 }))
    }
    terminal.out(texts.map((text) => painted(terminal, text.replace(/^=+\n/, ''))).join(''))
    return texts.length > 0 ? 1 : undefined
  },
})

interface ApplyValues extends FileValues {
  readonly namespace: string | undefined
  readonly 'field-manager': string | undefined
  readonly 'force-conflicts': boolean
}

/** The live objects with the results of a dry-run apply. */
async function applyPairs(
  { terminal, session }: { readonly terminal: StatusTerminal; readonly session: Session },
  flags: ApplyValues,
): Promise<Pair[]> {
  if (!namesFiles(flags)) throw new CtlError('must specify files with -f, a kustomization with -k, or an object and --revision')
  const pairs: Pair[] = []
  const objects = await readObjects(terminal, flags)
  for (const [index, object] of objects.entries()) {
    const target = await targetOf(session, object, flags.namespace)
    terminal.statusLine.show(`comparing ${objectName(target.resource, target.name ?? '')}${ofMany(index, objects)}`)
    const { resource, namespace, name } = target
    if (name === undefined) throw new CtlError(`an object of kind ${object.kind} without a name cannot be applied`)
    const {
      metadata: { managedFields: _, ...metadata },
    } = object
    const after = await session.client
      .resource(resource)
      .patch(
        name,
        { ...object, metadata },
        { type: 'apply', dryRun: true, fieldManager: flags['field-manager'] ?? 'orchctl', force: flags['force-conflicts'], namespace },
      )
    pairs.push({ name: fileName(target), before: await liveOf(session, target), after })
  }
  return pairs
}

async function revisionPairs(session: Session, words: readonly string[], revision: string): Promise<Pair[]> {
  const pairs: Pair[] = []
  for (const target of await readTargets(session, words, { 'all-namespaces': false })) {
    if (target.name === undefined) throw new CtlError('objects must be named: diff resource name --revision=resourceVersion')
    pairs.push({ name: fileName(target), before: await objectAt(session, target, revision), after: await liveOf(session, target) })
  }
  return pairs
}

async function liveOf(session: Session, { resource, namespace, name = '' }: Target): Promise<ApiObject | undefined> {
  return unlessRefused([404], () => session.client.resource(resource).get(name, { namespace }))
}

function fileName({ resource, namespace, name = '' }: Target): string {
  return `${objectName(resource, name).replace('/', '.')}${namespace === undefined ? '' : `.${namespace}`}`
}

/** Versions, which every write changes, are not a difference. */
async function textOf(object: ApiObject | undefined, withOwners: boolean): Promise<string> {
  if (object === undefined) return ''
  const { resourceVersion: _, managedFields, ...metadata } = object.metadata
  return printYaml({ ...object, metadata: { ...metadata, ...(withOwners ? { managedFields } : {}) } })
}

const colors = { '+': 32, '-': 31, '@': 36 } as const

/** Added lines in green and removed ones in red, on a terminal that shows colours. */
function painted({ hasColors }: CtlTerminal, text: string): string {
  if (!hasColors) return text
  return text
    .split('\n')
    .map((line) => {
      const color = (['+', '-', '@'] as const).find((mark) => line.startsWith(mark))
      return color === undefined ? line : `\u001b[${colors[color]}m${line}\u001b[0m`
    })
    .join('\n')
}
