import { type Kind, keyOfKind } from './paths.ts'
import { moment } from './route.ts'
import { type ServerFacts, send, sessionState } from './session.ts'

/** An error response of the server. */
export class ApiError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** Facts about the server of the current session. */
export function serverFacts(): ServerFacts {
  const state = sessionState.value
  if (state.kind !== 'open') throw new Error('there is no session')
  return state.session.server
}

/** `storage` → `storage.k8s.io` or `storage.orch.io`, by the server's profile. */
export function groupNamed(prefix: string): string {
  return `${prefix}.${serverFacts().apiDomain}`
}

/** The media type of objects in another form, such as a Table. */
export function formOf(form: 'PartialObjectMetadata' | 'PartialObjectMetadataList' | 'Table'): string {
  return `application/json;as=${form};g=${groupNamed('meta')};v=v1`
}

/** Sends a request to the API and returns the parsed answer. Reads objects, lists and counts at the displayed moment. */
export async function ask<T>(path: string, init: RequestInit = {}): Promise<T> {
  const isOfMoment = moment.value !== '' && init.method === undefined && /^\/(?:apis?\/|orch\/v1\/objects)/.test(path)
  const response = await send(`/api${isOfMoment ? `/at/${encodeURIComponent(moment.value)}` : ''}${path}`, init)
  if (!response.ok) throw await errorOf(response)
  return response.json().catch(() => undefined)
}

/** The error of a refused request, with the message of its Status. */
export async function errorOf(response: Response): Promise<ApiError> {
  const answer = await response.json().catch(() => undefined)
  return new ApiError(response.status, answer?.message ?? `${response.status} ${response.statusText}`)
}

interface GroupDiscovery {
  readonly metadata: { readonly name?: string }
  readonly versions: readonly {
    readonly version: string
    readonly resources?: readonly {
      readonly resource: string
      readonly responseKind: { readonly kind: string }
      readonly scope: 'Namespaced' | 'Cluster'
      readonly verbs: readonly string[]
      readonly shortNames?: readonly string[]
    }[]
  }[]
}

/** Discovers all resources, each in its preferred version. */
export async function discover(): Promise<Kind[]> {
  const accept = `application/json;g=${groupNamed('apidiscovery')};v=v2;as=APIGroupDiscoveryList`
  const documents = await Promise.all(
    ['/api', '/apis'].map((path) => ask<{ items: readonly GroupDiscovery[] }>(path, { headers: { accept } })),
  )
  const kinds = new Map<string, Kind>()
  for (const { metadata, versions } of documents.flatMap(({ items }) => items)) {
    for (const { version, resources = [] } of versions) {
      for (const { resource, responseKind, scope, verbs, shortNames = [] } of resources) {
        const kind: Kind = {
          group: metadata.name ?? '',
          version,
          resource,
          kind: responseKind.kind,
          isNamespaced: scope === 'Namespaced',
          verbs,
          shortNames,
        }
        if (!kinds.has(keyOfKind(kind))) kinds.set(keyOfKind(kind), kind)
      }
    }
  }
  return [...kinds.values()].sort((one, other) => one.kind.localeCompare(other.kind))
}

/** Runs tasks with limited concurrency, and starts them in order. */
export async function eachOf<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values()
  const worker = async () => {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
