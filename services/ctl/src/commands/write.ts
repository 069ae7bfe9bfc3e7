import { type ApiObject, type Status, StatusError } from '@orch/core/meta'
import { type Command, type CommandContext, command } from '../command.ts'
import { parseOutput } from '../output/output.ts'
import { readText } from '../output/yaml.ts'
import { objectName } from '../resources.ts'
import { clientName, type Session } from '../session.ts'
import { choiceFlags, type FileValues, fileFlags, namesFiles, pathOf, readObjects, type Target, targetOf } from '../targets.ts'
import { CtlError, type Flags } from '../words.ts'
import { chosen, ofMany, withStatus } from './chosen.ts'
import { untilMet } from './until.ts'

/** Flags of write commands. */
export const writeFlags = {
  'dry-run': { word: 'server|none', doc: 'server: the server does everything but store the object.' },
  'field-manager': { word: 'name', doc: `Owner of the fields that are written. (default ${clientName})` },
  validate: {
    word: 'strict|warn|ignore|true|false',
    doc: 'Refuse, warn about or drop unknown fields; true is strict, false ignore. (default strict)',
  },
  output: { short: 'o', word: 'format', doc: 'json, yaml, name, jsonpath=…, or custom-columns=… of what was written.' },
} as const

const flagsOfFiles = { ...fileFlags, ...writeFlags } as const

interface WriteValues {
  readonly 'dry-run': string | undefined
  readonly 'field-manager': string | undefined
  readonly validate: string | undefined
  readonly output: string | undefined
}

const validations = { strict: 'Strict', warn: 'Warn', ignore: 'Ignore', true: 'Strict', false: 'Ignore' } as const

/** The options of a write. An unsupported output is refused before anything is written. */
export function writeOptions({ 'dry-run': dryRun, 'field-manager': fieldManager, validate, output }: WriteValues) {
  if (output === 'wide') throw new CtlError('-o wide: must be json, yaml, name, jsonpath=…, or custom-columns=…')
  parseOutput(output, () => '')
  const isKnown = (word: string): word is keyof typeof validations => Object.hasOwn(validations, word)
  const fieldValidation = validate !== undefined && isKnown(validate) ? validations[validate] : validations.strict
  return { dryRun: dryRun === 'server', fieldManager: fieldManager ?? clientName, fieldValidation }
}

/** Prints the outcome for an object: `configmap/a created`, or the object itself. */
export async function printOutcome(
  context: Pick<CommandContext<Flags>, 'terminal'> & { readonly flags: WriteValues },
  target: Target,
  verb: string,
  object: ApiObject,
): Promise<void> {
  const { terminal, flags } = context
  const name = objectName(target.resource, object.metadata.name ?? target.name ?? '')
  const printer = parseOutput(flags.output, () => name)
  if (printer !== undefined) return terminal.out(await printer([object], false))
  terminal.out(`${name} ${verb}${flags['dry-run'] === 'server' ? ' (server dry run)' : ''}\n`)
}

/** One request for each object of the files, in order. */
async function eachObject(
  {
    terminal,
    session,
    flags,
  }: {
    readonly terminal: CommandContext<Flags>['terminal']
    readonly session: Session
    readonly flags: FileValues & { readonly namespace: string | undefined }
  },
  doing: string,
  work: (object: ApiObject, target: Target) => Promise<void>,
): Promise<number | undefined> {
  if (!namesFiles(flags)) throw new CtlError('must specify files with -f, or a kustomization with -k')
  let code: number | undefined
  const objects = await readObjects(terminal, flags)
  for (const [index, object] of objects.entries()) {
    try {
      const target = await targetOf(session, object, flags.namespace)
      terminal.statusLine.show(`${doing} ${objectName(target.resource, target.name ?? '')}${ofMany(index, objects)}`)
      await work(object, target)
    } catch (error) {
      if (!(error instanceof StatusError) && !(error instanceof CtlError)) throw error
      // The other objects are still written.
      terminal.error(`${describeError(error)}\n`)
      code = 1
    }
  }
  return code
}

/** A refusal in kubectl's format. */
export function describeError(error: Error): string {
  if (!(error instanceof StatusError)) return `error: ${error.message}`
  const { reason = '', message = '' } = error.status
  return `Error from server${reason === '' ? '' : ` (${reason})`}: ${message}`
}

/** A command that writes each object of the files by one verb of the client. */
function writing(verb: 'create' | 'update', word: 'create' | 'replace', doc: string): Command {
  return command({
    usage: `${word} -f file | -k folder`,
    doc,
    flags: flagsOfFiles,
    run: (context) =>
      eachObject(context, `${word.slice(0, -1)}ing`, async (object, target) => {
        const { resource, namespace } = target
        const written = await context.session.client.resource(resource)[verb](object, { ...writeOptions(context.flags), namespace })
        await printOutcome(context, target, `${word}d`, written)
      }),
  })
}

export const create: Command = writing('create', 'create', 'create objects from files')
export const replace: Command = writing('update', 'replace', 'replace objects by those of files')

/** `orchctl apply`, which is server-side. */
export const apply: Command = command({
  usage: 'apply -f file | -k folder',
  doc: 'apply the objects of files, server-side',
  flags: {
    ...flagsOfFiles,
    'server-side': { word: 'true|false', whenAlone: 'true', doc: 'Every apply is server-side: false is refused.' },
    'force-conflicts': { word: '', doc: 'Take fields over from other managers.' },
  },
  async run(context) {
    if (context.flags['server-side'] === 'false')
      throw new CtlError('--server-side=false: every apply is server-side; use create or replace')
    return eachObject(context, 'applying', async (object, target) => {
      const { resource, namespace, name } = target
      if (name === undefined) throw new CtlError(`an object of kind ${object.kind} without a name cannot be applied; use create`)
      const {
        metadata: { managedFields: _, ...metadata },
      } = object
      const options = {
        ...writeOptions(context.flags),
        type: 'apply',
        force: context.flags['force-conflicts'],
        namespace,
      } as const
      const applied = await context.session.client.resource(resource).patch(name, { ...object, metadata }, options)
      await printOutcome(context, target, 'serverside-applied', applied)
    })
  },
})

/** `orchctl delete`: one request for each object. */
export const remove: Command = command({
  usage: 'delete resource name… | -f file | -k folder | resource -l selector | resource --all',
  doc: 'delete objects',
  takesObjects: true,
  flags: {
    ...choiceFlags,
    cascade: { word: 'background|foreground|orphan', doc: 'Deletion of dependants, or orphan to keep them. (default background)' },
    'grace-period': { word: 'seconds', doc: 'Time for the object to end; 0 counts as 1 without --force.' },
    force: { word: '', doc: 'Delete at once: a grace period of 0.' },
    'ignore-not-found': { word: '', doc: 'An object that is not there is no failure.' },
    wait: { word: '', doc: 'Return when the objects are gone.' },
    'dry-run': writeFlags['dry-run'],
    output: { short: 'o', word: 'name', doc: 'name: print the names alone.' },
  },
  async run(context) {
    const { terminal, session, flags } = context
    const policies = ['Background', 'Foreground', 'Orphan'] as const
    const propagationPolicy = policies.find((policy) => policy.toLowerCase() === (flags.cascade ?? 'background'))
    const gracePeriodSeconds = gracePeriodOf(flags)
    if (flags.output !== undefined && flags.output !== 'name') throw new CtlError(`-o ${flags.output}: must be name`)
    const body = {
      ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
      ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
      ...(flags['dry-run'] === 'server' ? { dryRun: ['All'] } : {}),
    }
    let code: number | undefined
    const deleted: Deleted[] = []
    for (const target of withStatus(context, 'deleting', await chosen(context))) {
      const { resource, namespace, name = '' } = target
      try {
        const answer = await session.client.resource(resource).delete(name, { namespace }, body)
        const called = objectName(resource, name)
        const kind = resource.group === '' ? resource.singular : `${resource.singular}.${resource.group}`
        terminal.out(
          flags.output === 'name'
            ? `${called}\n`
            : `${kind} "${name}" deleted${flags['dry-run'] === 'server' ? ' (server dry run)' : ''}\n`,
        )
        deleted.push({ target, uid: isStatus(answer) ? answer.details?.uid : answer.metadata.uid })
      } catch (error) {
        if (!(error instanceof StatusError)) throw error
        if (error.code === 404 && flags['ignore-not-found']) continue
        terminal.error(`${describeError(error)}\n`)
        code = 1
      }
    }
    if (flags.wait && flags['dry-run'] !== 'server') await untilGone(context, deleted)
    return code
  },
})

/** Undefined for the default of the kind. */
function gracePeriodOf({ force, 'grace-period': text }: { readonly force: boolean; readonly 'grace-period': string | undefined }) {
  const seconds = text === undefined ? undefined : Number(text)
  if (seconds !== undefined && seconds < 0) return undefined
  if (!force) return seconds === 0 ? 1 : seconds
  if (seconds !== undefined && seconds > 0) throw new CtlError('--force and --grace-period greater than 0 cannot be specified together')
  return 0
}

/** A deleted object; the uid is absent if the answer did not contain it. */
interface Deleted {
  readonly target: Target
  readonly uid: string | undefined
}

/** Resolves when all objects are gone. All were deleted before, as one may wait for another. A recreated object counts as gone. */
async function untilGone(
  { terminal, session }: Pick<CommandContext<Flags>, 'terminal' | 'session'>,
  deleted: readonly Deleted[],
): Promise<void> {
  for (const [index, { target, uid }] of deleted.entries()) {
    const { resource, namespace, name = '' } = target
    const called = objectName(resource, name)
    terminal.statusLine.show(`waiting until ${called} is gone${ofMany(index, deleted)}`)
    const isMet = (found: ApiObject | undefined) => found === undefined || (uid !== undefined && found.metadata.uid !== uid)
    if (!(await untilMet(session.client.resource(resource), { namespace, name, isMet, signal: terminal.signal })))
      throw new CtlError(`the command was ended before ${called} was gone`)
  }
}

function isStatus(answer: ApiObject | Status): answer is Status {
  return answer.kind === 'Status' && answer.apiVersion === 'v1'
}

/** `orchctl patch`. */
export const patch: Command = command({
  usage: 'patch resource name -p patch',
  doc: 'change fields of an object by a patch',
  takesObjects: true,
  flags: {
    ...choiceFlags,
    ...writeFlags,
    patch: { short: 'p', word: 'patch', doc: 'The patch, in JSON or YAML.' },
    type: { word: 'strategic|merge|json', doc: 'Type of the patch. (default strategic)' },
    subresource: { word: 'name', doc: 'Subresource that is patched, such as status or scale.' },
  },
  async run(context) {
    const { session, flags } = context
    if (flags.patch === undefined) throw new CtlError('must specify --patch to do this')
    const type = (['strategic', 'merge', 'json'] as const).find((known) => known === flags.type) ?? ('strategic' as const)
    const body = await readText(flags.patch, 'the patch')
    for (const target of withStatus(context, 'patching', await chosen(context))) {
      const { resource, namespace, name = '' } = target
      const options = {
        ...writeOptions(flags),
        type,
        namespace,
        subresource: flags.subresource,
      }
      await printOutcome(context, target, 'patched', await session.client.resource(resource).patch(name, body, options))
    }
  },
})

/** Splits `resource name… key=value…`: pairs and removals follow the names, which are absent if files name the objects. */
function splitPairs(rest: readonly string[], hasFiles: boolean) {
  const isPair = (word: string) => /^[^/=]+(\/[^=]+)?=/.test(word) || /^[^=]+-$/.test(word)
  const first = rest.findIndex((word, index) => (index > 0 || hasFiles) && isPair(word))
  if (first < 0) throw new CtlError('at least one key=value (or key- to remove the key) is required')
  return { names: rest.slice(0, first), pairs: rest.slice(first) }
}

/** `orchctl label` and `orchctl annotate`. */
function marking(field: 'labels' | 'annotations', usage: string, verb: string) {
  return command({
    usage,
    doc: `set and remove ${field} of objects`,
    takesObjects: true,
    flags: { ...choiceFlags, ...writeFlags, overwrite: { word: '', doc: 'Allow existing values to change.' } },
    async run(context) {
      const { session, flags, rest } = context
      const { names, pairs } = splitPairs(rest, namesFiles(flags))
      const changes = Object.fromEntries(
        pairs.map((pair) =>
          pair.endsWith('-') && !pair.includes('=')
            ? [pair.slice(0, -1), null]
            : [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)],
        ),
      )
      for (const target of withStatus(context, `changing ${field} of`, await chosen({ ...context, rest: names }))) {
        const { resource, namespace, name = '' } = target
        const collection = session.client.resource(resource)
        const live = await collection.get(name, { namespace })
        const there = live.metadata[field] ?? {}
        const refused = Object.entries(changes).find(
          ([key, value]) => value !== null && !flags.overwrite && there[key] !== undefined && there[key] !== value,
        )
        if (refused !== undefined)
          throw new CtlError(`'${refused[0]}' already has a value (${there[refused[0]]}), and --overwrite is false`)
        const metadata = { resourceVersion: live.metadata.resourceVersion, [field]: changes }
        await printOutcome(
          context,
          target,
          verb,
          await collection.patch(name, { metadata }, { ...writeOptions(flags), type: 'merge', namespace }),
        )
      }
    },
  })
}

export const label: Command = marking('labels', 'label resource name key=value… key-…', 'labeled')
export const annotate: Command = marking('annotations', 'annotate resource name key=value… key-…', 'annotated')

/** `orchctl scale`. */
export const scale: Command = command({
  usage: 'scale resource name --replicas=int',
  doc: 'set the number of replicas',
  takesObjects: true,
  flags: {
    ...choiceFlags,
    ...writeFlags,
    replicas: { word: 'int', doc: 'The new number of replicas.' },
    'current-replicas': { word: 'int', doc: 'Scale only if this is the present number of replicas.' },
  },
  async run(context) {
    const { session, flags } = context
    const replicas = Number(flags.replicas)
    if (flags.replicas === undefined || replicas < 0) throw new CtlError('--replicas=int is required and must not be negative')
    for (const target of withStatus(context, 'scaling', await chosen(context))) {
      const { resource, namespace, name = '' } = target
      const collection = session.client.resource(resource)
      const options = { ...writeOptions(flags), type: 'merge', namespace, subresource: 'scale' } as const
      const path = `${pathOf(target)}/scale`
      const live = await session.client.request<ApiObject & { readonly spec?: { readonly replicas?: number } }>({ method: 'GET', path })
      const present = live.spec?.replicas ?? 0
      if (flags['current-replicas'] !== undefined && Number(flags['current-replicas']) !== present) {
        throw new CtlError(`Expected replicas to be ${flags['current-replicas']}, was ${present}`)
      }
      const scaled = await collection.patch(
        name,
        { metadata: { resourceVersion: live.metadata.resourceVersion }, spec: { replicas } },
        options,
      )
      await printOutcome(context, target, 'scaled', scaled)
    }
  },
})
