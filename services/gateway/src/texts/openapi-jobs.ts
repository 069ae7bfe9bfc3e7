import { createHash } from 'node:crypto'
import { hasMembers } from '@orch/core/json'
import { encodeOpenApi2 } from '@orch/core/openapi'
import type { DefinitionFacts, HashedBytes, JoinedOpenApi, JoinOpenApiJob, OpenApiPart, ReadOpenApiAnswer, ReadOpenApiJob } from './jobs.ts'
import { besideDefinitions, type OpenApi2Part, partOfOpenApi2, referencesOf, toOpenApi3 } from './openapi-part.ts'

/** Bytes in a separate buffer, so that they can be moved to another thread. */
const encoder = new TextEncoder()

/** Reads a document's part of a group version. Throws if it is no JSON. */
export function readOpenApi({ bytes, root, title3 }: ReadOpenApiJob): ReadOpenApiAnswer {
  const part = partOfOpenApi2(JSON.parse(textOf(bytes)), root)
  if (part === undefined) return { kind: 'noOpenApi' }
  const facts = Object.entries(part.definitions).map(
    ([name, definition]): DefinitionFacts => [name, hashOfDefinition(definition), ...referencesOf(definition)],
  )
  return {
    kind: 'readOpenApi',
    part: { ...hashed(part), facts: encoder.encode(JSON.stringify(facts)) },
    as3: title3 === undefined ? undefined : hashed(toOpenApi3(part, title3)),
  }
}

/** Prints a part for its place in a larger document. */
export function joinOpenApi({ bytes, beside, info }: JoinOpenApiJob): JoinedOpenApi {
  const { paths, definitions } = besideDefinitions(JSON.parse(textOf(bytes)) as OpenApi2Part, beside)
  const maps = { paths: objectsIn(paths), definitions: objectsIn(definitions), parameters: {}, securityDefinitions: {} }
  return {
    kind: 'joinOpenApi',
    paths: encoder.encode(JSON.stringify(paths).slice(1, -1)),
    definitions: encoder.encode(JSON.stringify(definitions).slice(1, -1)),
    encoded: encodeOpenApi2({ swagger: '2.0', info, ...maps, security: [] }),
  }
}

/** Protobuf cannot represent a member of a wrong type; JSON shows the other server's value. */
function objectsIn(members: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(Object.entries(members).flatMap(([name, member]) => (hasMembers(member) ? [[name, member] as const] : [])))
}

/** The hash has the form of this server's own documents. */
function hashed(document: object): HashedBytes {
  const bytes = encoder.encode(JSON.stringify(document))
  return { bytes, hash: createHash('sha512').update(bytes).digest('hex').toUpperCase() }
}

/** The definitions of a part. */
export function factsOf({ facts }: OpenApiPart): readonly DefinitionFacts[] {
  return JSON.parse(textOf(facts)) as DefinitionFacts[]
}

/** Definitions with equal hashes are equal. */
export function hashOfDefinition(definition: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(definition) ?? '')
    .digest('base64')
}

/** The text of bytes in UTF-8. */
export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
}
