import { randomUUID } from 'node:crypto'
import { objectKey, type StorageService, type User } from '@orch/core/contracts'
import type { ApiObject } from '@orch/core/meta'
import { encodeStoredObject, toWriteId } from '@orch/core/stored'
import type { Served } from '../served.ts'
import { type CandidateParts, complete, decodeCandidate } from './candidate.ts'
import { encodeWrite } from './commit.ts'
import { fillMetadata, type MetadataParts } from './metadata.ts'
import { type OwnershipParts, ownersOfNew, setOwners } from './ownership.ts'

/** What creating the server's own objects needs. */
export type PlantParts = CandidateParts &
  OwnershipParts &
  MetadataParts & {
    readonly storage: Pick<StorageService, 'commit'>
  }

/** An object of the server's own. */
export interface PlantedObject {
  readonly resource: { readonly group: string; readonly version: string; readonly plural: string }
  readonly object: ApiObject
  /** As what it is written; absent: as the server. */
  readonly fieldManager?: string
  /** Fields that a manager of their own has applied; absent: none. */
  readonly applied?: { readonly fieldManager: string; readonly fields: readonly string[] }
}

/**
 * Creates objects of the server's own in collections that are empty at the first start. They become what a POST would make of
 * them; nobody asks whether they may, as nobody has asked for them: no admission, no validation, no audit event. Not for objects
 * that reserve something, such as Services. What is not served is left out, and what somebody else has made meanwhile stays.
 */
export async function plant(objects: readonly PlantedObject[], parts: PlantParts): Promise<void> {
  await Promise.all(
    objects.map(async (planted) => {
      const { group, version, plural } = planted.resource
      const served = parts.served.find(group, version, plural)
      if (served !== undefined) await plantOne(served, planted, parts)
    }),
  )
}

async function plantOne(served: Served, planted: PlantedObject, parts: PlantParts): Promise<void> {
  const { resource, strategy } = served
  const body = JSON.parse(JSON.stringify(planted.object)) as Record<string, unknown>
  const { object: draft } = decodeCandidate(resource, body, { hasBigIntegers: false, duplicates: [] })
  if (served.hasStatus) delete draft.status
  const object = complete(resource, draft, parts)
  setOwners(object, ownersOfNew(served, object, planted, parts))
  fillMetadata(object, served, parts)
  strategy.rules.prepareCreate?.(object, parts.names, ownUser)
  const { namespace, name = '' } = object.metadata
  const { stored, encoded } = encodeWrite({ served, object, hasBigIntegers: false }, parts)
  const writeId = toWriteId(randomUUID(), undefined)
  const value = encodeStoredObject({ stored: resource.stored, object: stored, encoded, writeId, expiresAtMs: 0 })
  const key = objectKey(resource.stored.prefix, resource.isNamespaced ? namespace : undefined, name)
  await parts.storage.commit({ key, expected: 0, conditions: [], value, writeId })
}

/** Who makes what the gateway itself needs. */
export const ownUser: User = { name: 'system:apiserver', uid: '', groups: ['system:masters'], extra: {} }
