import { ManifestError, parseManifests, readManifests, resourcePath } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import type { ServedResource } from './resources.ts'
import type { Session } from './session.ts'
import type { CtlTerminal } from './terminal.ts'
import { CtlError } from './words.ts'

/** Flags that name files with objects. */
export const fileFlags = {
  filename: { short: 'f', word: 'path', isList: true, doc: 'Files or folders with objects; - for standard input.' },
  kustomize: { short: 'k', word: 'folder', doc: 'Folder of a kustomization, which the kustomize or kubectl of the PATH builds.' },
} as const

/** Flags that name files, or restrict the read objects. */
export const selectionFlags = {
  ...fileFlags,
  'all-namespaces': { short: 'A', word: '', doc: 'Objects of all namespaces.' },
  selector: { short: 'l', word: 'selector', doc: 'Label selector.' },
  'field-selector': { word: 'selector', doc: 'Field selector.' },
} as const

/** Flags that select the objects of a command. */
export const choiceFlags = {
  ...selectionFlags,
  all: { word: '', doc: 'All objects of the resource.' },
} as const

/** Objects of a resource: one by its name, or the selected ones. */
export interface Target {
  readonly resource: ServedResource
  readonly namespace: string | undefined
  /** Undefined for all selected objects. */
  readonly name?: string
}

interface SelectionValues extends Partial<FileValues> {
  readonly 'all-namespaces': boolean
  readonly selector?: string | undefined
  readonly 'field-selector'?: string | undefined
  readonly all?: boolean
}

/** Parses words such as `pods`, `pods a b`, `pod/a service/b`, `pods,services`. */
export async function readTargets(session: Session, words: readonly string[], flags: SelectionValues): Promise<Target[]> {
  const targets = await readWordTargets(session, words, flags)
  const named = targets.find(({ name }) => name !== undefined)
  if (named !== undefined && isSelecting(flags)) throw new CtlError('name cannot be provided when a selector or --all is specified')
  if (named?.resource.namespaced && flags['all-namespaces'])
    throw new CtlError('a resource cannot be retrieved by name across all namespaces')
  return targets
}

/** True if flags select objects other than by name. */
export function isSelecting({ selector, 'field-selector': fieldSelector, all = false }: Omit<SelectionValues, 'all-namespaces'>): boolean {
  return all || selector !== undefined || fieldSelector !== undefined
}

async function readWordTargets(session: Session, words: readonly string[], flags: SelectionValues): Promise<Target[]> {
  const [first, ...names] = words
  if (first === undefined) throw new CtlError('you must specify the type of resource, such as pods, or files with -f')
  const namespaceOf = (resource: ServedResource) => (resource.namespaced && !flags['all-namespaces'] ? session.namespace : undefined)
  if (words.some((word) => word.includes('/'))) {
    const targets: Target[] = []
    for (const word of words) {
      const [type = '', name = '', more] = word.split('/')
      if (type === '' || name === '' || more !== undefined) throw new CtlError(`${word}: must be resource/name, since another argument is`)
      const resource = await session.resources.find(type)
      targets.push({ resource, namespace: namespaceOf(resource), name })
    }
    return targets
  }
  const resources = await session.resources.findAll(first)
  return resources.flatMap((resource) => {
    const namespace = namespaceOf(resource)
    return names.length === 0 ? [{ resource, namespace }] : names.map((name) => ({ resource, namespace, name }))
  })
}

/** Path of an object, or of the collection. */
export function pathOf({ resource, namespace, name }: Target): string {
  return resourcePath(resource, namespace, name)
}

/** The values of the flags that name files. */
export interface FileValues {
  readonly filename: readonly string[]
  readonly kustomize: string | undefined
}

/** True if the objects come from files. */
export function namesFiles({ filename, kustomize }: FileValues): boolean {
  return filename.length > 0 || kustomize !== undefined
}

/** The targets of files; words and selectors are refused beside them. */
export async function readFileTargets({ terminal, session, flags, rest }: FileContext): Promise<Target[]> {
  if (rest.length > 0) throw new CtlError(`${rest[0]}: objects are given by -f or -k, or by their resource and names, not by both`)
  if (isSelecting(flags)) throw new CtlError('selectors and --all choose among the objects of a resource, not among those of -f or -k')
  const objects = await readObjects(terminal, flags)
  return Promise.all(objects.map((object) => targetOf(session, object, flags.namespace)))
}

interface FileContext {
  readonly terminal: CtlTerminal
  readonly session: Session
  readonly flags: SelectionValues & FileValues & { readonly namespace: string | undefined }
  readonly rest: readonly string[]
}

/** The objects of files, folders and standard input, or of a kustomization. */
export async function readObjects(terminal: CtlTerminal, { filename, kustomize }: FileValues): Promise<ApiObject[]> {
  if (kustomize !== undefined && filename.length > 0) throw new CtlError('only one of -f or -k can be specified')
  try {
    const manifests = kustomize === undefined ? [] : await parseManifests(await buildKustomization(terminal, kustomize), kustomize)
    for (const file of filename) {
      manifests.push(...(file === '-' ? await parseManifests(await terminal.readInput(), 'standard input') : await readManifests([file])))
    }
    for (const { file, repeats } of manifests) {
      for (const { line, message } of repeats) terminal.error(`Warning: ${file}:${line}: ${message}\n`)
    }
    const found = manifests.map(({ object }) => object)
    if (found.length === 0) throw new CtlError('no objects passed')
    return found
  } catch (error) {
    if (error instanceof ManifestError) throw new CtlError(error.message)
    throw error
  }
}

/** Builds a kustomization, as a text. */
async function buildKustomization(terminal: CtlTerminal, folder: string): Promise<string> {
  for (const [program, word] of [
    ['kustomize', 'build'],
    ['kubectl', 'kustomize'],
  ] as const) {
    const built = await terminal.capture(program, [word, folder])
    if (built === undefined) continue
    if (built.code !== 0) throw new CtlError(`${program} cannot build ${folder}: ${built.error.trim()}`)
    return built.out
  }
  throw new CtlError('-k wants kustomize or kubectl on the PATH, which build kustomizations')
}

/** The target of an object from a file: in its own namespace, otherwise in that of the session. */
export async function targetOf(session: Session, object: ApiObject, wanted: string | undefined): Promise<Target> {
  const resource = await session.resources.ofKind(object.apiVersion, object.kind)
  const own = object.metadata.namespace
  if (wanted !== undefined && own !== undefined && wanted !== own) {
    throw new CtlError(
      `the namespace from the provided object "${own}" does not match the namespace "${wanted}". You must pass '--namespace=${own}' to perform this operation.`,
    )
  }
  const namespace = resource.namespaced ? (own ?? session.namespace) : undefined
  return { resource, namespace, ...(object.metadata.name === undefined ? {} : { name: object.metadata.name }) }
}
