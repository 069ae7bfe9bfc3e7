import type { Entry, StorageService } from '@orch/core/contracts'
import { StatusError } from '@orch/core/meta'
import { resolveRead } from '@orch/core/read'
import { callContext, type GatewayRequest } from '../request.ts'
import { respondSuccess } from '../respond.ts'
import { rangeOf } from '../selection.ts'
import type { Target } from '../target.ts'
import { invalidIgnored, readDeleteOptions } from '../write/delete-options.ts'
import { invalidOptions } from '../write/options.ts'
import { type DeleteParts, type Deletion, deleteObject, warnOfDefault } from './delete.ts'
import { pageOf } from './list.ts'
import { readQueryOf, shortenDeadline, type Verb } from './verb.ts'

/** What the deletion of a collection needs. */
export type DeleteCollectionParts = DeleteParts & {
  readonly storage: Pick<StorageService, 'list'>
  /** With it off, `limit` does not divide the collection. */
  readonly listChunking: boolean
}

/** Objects that are deleted at the same time. */
const deletesAtOnce = 16

/** A store in memory answers at once: after so many deletions others have their turn. */
const deletesPerTurn = 32

/** Deletes every object that a list with the same parameters would show. */
export const deleteCollection: Verb<DeleteCollectionParts> = async (request, target, parts) => {
  shortenDeadline(request)
  const options = await readDeleteOptions(request, parts)
  if (options.ignoresReadErrors) {
    throw invalidOptions(parts, 'DeleteOptions', [
      invalidIgnored('is not allowed with DELETECOLLECTION, try again after removing the option'),
    ])
  }
  warnOfDefault(request, target, options)
  const entries = await selected(request, target, parts)
  const waiting = entries.values()
  let count = 0
  const worker = async () => {
    for (const entry of waiting) {
      await deletePresent({ request, target, name: nameOf(entry), options }, parts)
      count += 1
      if (count % deletesPerTurn === 0) await parts.pace.turn()
    }
  }
  await Promise.all(Array.from({ length: deletesAtOnce }, worker))
  const { group, plural } = target.served.resource
  return respondSuccess(request, { ...(group === '' ? {} : { group }), kind: plural }, parts)
}

async function selected(request: GatewayRequest, { served, info }: Target, parts: DeleteCollectionParts): Promise<Entry[]> {
  const read = resolveRead('deletecollection', readQueryOf(request), {
    names: parts.names,
    isChunkingOn: parts.listChunking,
  })
  const entries: Entry[] = []
  const listed = parts.storage.list(
    { ...rangeOf(served, info, request.query, parts), ...pageOf(read), layout: 'entries' },
    callContext(request, parts),
  )
  for await (const part of listed) if (part.kind === 'entries') entries.push(...part.entries)
  return entries
}

function nameOf({ key }: Entry): string {
  return key.slice(key.lastIndexOf('/') + 1)
}

/** An object that has gone in the meantime is as good as deleted. */
async function deletePresent(deletion: Deletion, parts: DeleteCollectionParts): Promise<void> {
  try {
    await deleteObject(deletion, parts)
  } catch (error) {
    if (!(error instanceof StatusError) || error.reason !== 'NotFound') throw error
  }
}
