import { createHash } from 'node:crypto'
import type { Catalogue, Group, Resource } from '@orch/core/catalogue'
import type { Clock } from '@orch/platform'
import type { RemoteOpenApi } from '../aggregation/remote-openapi.ts'
import type { Authenticators } from '../authentication/authenticators.ts'
import type { Pace } from '../request/pace.ts'
import type { VersionInfo } from '../server/version-info.ts'

/** What the documents are made from, and where the work on them shares the event loop. */
export interface OpenApiParts {
  readonly authentication: Pick<Authenticators, 'issuer'>
  readonly catalogue: Catalogue
  /** The same without custom resources. */
  readonly builtInCatalogue: Catalogue
  readonly clock: Pick<Clock, 'now'>
  readonly pace: Pace
  readonly version: Pick<VersionInfo, 'gitVersion'>
  /** What other servers say of their group versions. */
  readonly remoteOpenApi: Pick<RemoteOpenApi, 'all' | 'thread'>
}

/** The parts with the catalogue and the remote documents of now, which do not change while a document is made. */
export function presentParts({
  authentication,
  catalogue,
  builtInCatalogue,
  clock,
  pace,
  version,
  remoteOpenApi,
}: OpenApiParts): OpenApiParts {
  const { all, thread } = remoteOpenApi
  return { authentication, catalogue, builtInCatalogue, clock, pace, version, remoteOpenApi: { all, thread } }
}

/** What the document of the built-in kinds is made from. */
export type BuiltInParts = Pick<OpenApiParts, 'authentication' | 'builtInCatalogue' | 'clock' | 'pace' | 'version'>

/** The parts that the built-in kinds depend on. What is cached with these kinds refers to no other part, so that no earlier catalogue stays in memory. */
export function builtInParts({ authentication, builtInCatalogue, clock, pace, version }: OpenApiParts): BuiltInParts {
  return { authentication, builtInCatalogue, clock, pace, version }
}

/** The options of all documents, whatever they describe. */
export function openApiOptions({ authentication }: Pick<OpenApiParts, 'authentication'>): { readonly hasIssuer: boolean } {
  return { hasIssuer: authentication.issuer !== undefined }
}

/** The resources of a group, in the order of its versions. */
export function resourcesOf({ catalogue }: OpenApiParts, { name, versions }: Group): readonly Resource[] {
  return versions.flatMap((version) => catalogue.inGroupVersion(name, version))
}

/** What definitions say of resources; undefined where some come from no definition. */
export function definitionsOf(resources: readonly Resource[]): readonly string[] | undefined {
  const sources = resources.flatMap(({ definedBy }) => definedBy ?? [])
  return sources.length === resources.length ? sources : undefined
}

/** The hash of a document. */
export function hashOf(content: Uint8Array | string): string {
  return createHash('sha512').update(content).digest('hex').toUpperCase()
}
