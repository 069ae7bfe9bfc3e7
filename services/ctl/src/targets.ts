import { ManifestError, parseManifests, readManifests, resourcePath } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import type { ServedResource } from './resources.ts'
import type { Session } from './session.ts'
import type { CtlTerminal } from './terminal.ts'
import { CtlError } from './words.ts'

/** Flags that choose objects. */
export const selectionFlags = {
  filename: { short: 'f', word: 'path', isList: true, doc: 'Files or folders with objects; - for standard input.' },
  'all-namespaces': { short: 'A', word: '', doc: 'Objects of all namespaces.' },
  selector: { short: 'l', word: 'selector', doc: 'Label selector.' },
  'field-selector': { word: 'selector', doc: 'Field selector.' },
  all: { word: '', doc: 'All objects of the resource.' },
} as const

/** Objects of a resource: one by its name, or those that selectors choose. */
export interface Target {
  readonly resource: ServedResource
  readonly namespace: string | undefined
  /** Absent: all that the selectors choose. */
  readonly name?: string
}

interface SelectionValues {
  readonly 'all-namespaces': boolean
}

/** What words such as `pods`, `pods a b`, `pod/a service/b`, `pods,services` mean. */
export async function readTargets(session: Session, words: readonly string[], flags: SelectionValues): Promise<Target[]> {
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

/** The objects of files, folders and standard input. */
export async function readObjects(terminal: CtlTerminal, files: readonly string[]): Promise<ApiObject[]> {
  try {
    const found: ApiObject[] = []
    for (const file of files) {
      const manifests = file === '-' ? await parseManifests(await terminal.readInput(), 'standard input') : await readManifests([file])
      found.push(...manifests.map(({ object }) => object))
    }
    if (found.length === 0) throw new CtlError('no objects passed')
    return found
  } catch (error) {
    if (error instanceof ManifestError) throw new CtlError(error.message)
    throw error
  }
}

/** Where an object of a file belongs: its own namespace, else that of the session. */
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
