import type { Entry, ListPart } from '@orch/core/contracts'
import { StatusError } from '@orch/core/meta'
import { controllersUser } from '@orch/core/rbac'
import { resolveRead } from '@orch/core/read'
import { nameIn } from '../allocation/reserved-keys.ts'
import { listRepresentationOf } from '../representations/list-representation.ts'
import { callContext, type GatewayRequest } from '../request/request.ts'
import { rangeOf } from '../target/selection.ts'
import type { Target } from '../target/target.ts'
import { ownUser } from '../write/bootstrap-objects.ts'
import { invalidIgnored, readDeleteOptions } from '../write/delete-options.ts'
import { invalidOptions } from '../write/options.ts'
import { type DeleteParts, type Deletion, deleteObject, warnOfDefault } from './delete.ts'
import { headOf, type ListParts, pageOf, sendList } from './list.ts'
import { readQueryOf, shortenDeadline, type Verb } from './verb.ts'

/** The dependencies of deleting a collection. */
export type DeleteCollectionParts = DeleteParts & ListParts

/** Maximum number of parallel deletions. */
const deletesAtOnce = 16

/** A store in memory answers at once, so other work runs after this number of deletions. */
const deletesPerTurn = 32

/** Deletes every object of a list with the same parameters, and returns that list with the objects before their deletion. */
export const deleteCollection: Verb<DeleteCollectionParts> = async (request, target, parts) => {
  shortenDeadline(request)
  const options = await readDeleteOptions(request, parts)
  if (options.ignoresReadErrors) {
    throw invalidOptions(parts, 'DeleteOptions', [
      invalidIgnored('is not allowed with DELETECOLLECTION, try again after removing the option'),
    ])
  }
  // Before anything is deleted, as it refuses forms that a list lacks.
  const representation = listRepresentationOf(request, target.served.converted ?? target.served, parts)
  const listed = await selected(request, target, parts)
  warnOfDefault(request, target, options)
  const isAdmitted = isCleanUp(request, target)
  const waiting = listed.entries.values()
  let count = 0
  const worker = async () => {
    for (const entry of waiting) {
      await deletePresent({ request, target, name: nameIn(entry.key), options, isAdmitted }, parts)
      count += 1
      if (count % deletesPerTurn === 0) await parts.pace.turn()
    }
  }
  await Promise.all(Array.from({ length: deletesAtOnce }, worker))
  const { entries, ...begun } = listed
  await sendList(request, target.served, { ...begun, representation, objects: inParts(entries) }, parts)
}

/** True for the server's own deletion of all objects of a definition: as in kube-apiserver, it skips admission, whose webhooks may be deleted. */
function isCleanUp({ user }: GatewayRequest, { served }: Target): boolean {
  return served.resource.isTerminating === true && (user.name === ownUser.name || user.name === controllersUser)
}

/** All selected objects, read before anything is deleted. */
async function selected(request: GatewayRequest, { served, info }: Target, parts: DeleteCollectionParts) {
  const read = resolveRead('deletecollection', readQueryOf(request), {
    names: parts.names,
    level: parts.level,
    isChunkingOn: parts.listChunking,
  })
  if (read.kind === 'refused') throw read.error
  const range = rangeOf(served, info, request.query, parts)
  const pages = parts.storage.list({ ...range, ...pageOf(read), layout: 'entries' }, callContext(request, parts))
  const iterator = pages[Symbol.asyncIterator]()
  try {
    const head = await headOf(iterator, read, range, parts)
    const entries: Entry[] = []
    for await (const part of { [Symbol.asyncIterator]: () => iterator }) if (part.kind === 'entries') entries.push(...part.entries)
    return { read, range, head, entries }
  } finally {
    pages.close()
  }
}

async function* inParts(entries: readonly Entry[]): AsyncGenerator<ListPart> {
  for (let start = 0; start < entries.length; start += deletesPerTurn) {
    yield { kind: 'entries', entries: entries.slice(start, start + deletesPerTurn) }
  }
}

/** An object deleted in the meantime counts as deleted. */
async function deletePresent(deletion: Deletion, parts: DeleteCollectionParts): Promise<void> {
  try {
    await deleteObject(deletion, parts)
  } catch (error) {
    if (!(error instanceof StatusError) || error.reason !== 'NotFound') throw error
  }
}
