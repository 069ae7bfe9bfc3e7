import type { Freshness, StorageService } from '@orch/core/contracts'
import { notFound } from '@orch/core/meta'
import { type ResolvedRead, resolveRead } from '@orch/core/read'
import { isCurrent, type StoredContent } from '../conversion/convert.ts'
import { withReaders } from '../custom-resources/ready-readers.ts'
import type { SchemaParts } from '../custom-resources/schema-budget.ts'
import { noteShown, type ShownParts } from '../custom-resources/shown-definitions.ts'
import type { RepresentationCache } from '../representations/representation-cache.ts'
import { type RespondStoredParts, respondStored } from '../representations/respond-stored.ts'
import { callContext, type GatewayRequest } from '../request/request.ts'
import type { Served } from '../target/target.ts'
import { type FrozenParts, frozenAt, seesPresent } from './frozen-read.ts'
import { readQueryOf, refuseExport, type Verb } from './verb.ts'

/** The dependencies of a get. */
export type GetParts = RespondStoredParts &
  SchemaParts &
  ShownParts &
  FrozenParts & {
    readonly storage: Pick<StorageService, 'get'>
    readonly representations: Pick<RepresentationCache, 'of'>
  }

const latestRead: ResolvedRead = { kind: 'latest', limit: 0 }

/** One object. The answer has its stored bytes, unless another version or form is requested. */
export const get: Verb<GetParts> = async (request, target, parts) => {
  const { info, served } = target
  refuseExport(request)
  const asked = request.query.isEmpty ? latestRead : resolveRead('get', readQueryOf(request), { names: parts.names })
  const frozen = seesPresent(request, parts) ? undefined : await frozenAt(request, asked, parts)
  const read = frozen ?? freshnessOf(asked)
  const { entry, epoch } = await parts.storage.get({ key: `${target.keyPrefix}${info.name}`, read }, callContext(request, parts))
  if (entry === undefined) throw notFound(served.name, info.name)
  request.revision = entry.revision
  parts.faults?.reads.give(request, entry.revision)
  noteShown(served, entry.revision, parts)
  const respond = () =>
    respondStored(request, { code: 200, served, content: entry, representations: parts.representations.of(epoch) }, parts)
  await (needsReaders(request, served, entry) ? withReaders(served, parts, respond) : respond())
}

/** True if the answer needs a schema, unlike stored bytes and those of metadata. */
function needsReaders({ answer: { format, representation } }: GatewayRequest, served: Served, entry: StoredContent): boolean {
  if (served.resource.readers.preparable === undefined) return false
  const isCopied = representation.kind === 'metadata' || (representation.kind === 'object' && format !== 'protobuf')
  return !isCopied || !isCurrent(served, entry)
}

function freshnessOf(read: ReturnType<typeof resolveRead>): Freshness {
  switch (read.kind) {
    case 'latest':
    case 'any':
      return { kind: read.kind }
    case 'notOlderThan':
      return { kind: 'notOlderThan', revision: read.revision, asked: read.asked }
    case 'refused':
      throw read.error
    case 'exact':
    case 'continue':
    case 'watchFrom':
    case 'watchFromNow':
    case 'watchWithState':
      throw new Error(`a get was read as ${read.kind}`)
  }
}
