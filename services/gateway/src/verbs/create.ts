import { badRequest } from '@orch/core/meta'
import { type BodyParts, receiveBody } from '../body.ts'
import { type RespondStoredParts, respondStored } from '../forms/respond-stored.ts'
import { type Candidate, judgeProblems, readCandidate } from '../write/candidate.ts'
import { namesVersion } from '../write/metadata.ts'
import { type OptionsParts, writeOptionsOf } from '../write/options.ts'
import { type WriteParts, write } from '../write/write-loop.ts'
import type { Verb } from './verb.ts'

/** What a create needs. */
export type CreateParts = WriteParts & BodyParts & OptionsParts & RespondStoredParts

/** A new object. */
export const create: Verb<CreateParts> = async (request, target, parts) => {
  const { resource } = target.served
  const options = writeOptionsOf(request, parts, 'CreateOptions')
  const parse = await receiveBody(request, parts, target.subresource ?? resource)
  let read: Candidate | undefined = readCandidate(target, await parse(), parts)
  judgeProblems(resource, read.problems, options.fieldValidation, (text) => request.warn(text))
  if (namesVersion(read.object)) throw versionOnCreate()
  const optionsObject = { kind: 'CreateOptions', apiVersion: parts.metaVersion, fieldManager: options.fieldManager }
  // A second attempt is rare: for it the bytes are kept, and not what was made of them.
  const take = async () => {
    const candidate = read ?? readCandidate(target, await parse(), parts)
    read = undefined
    return candidate
  }
  const step = () => ({ kind: 'create', take }) as const
  const { json } = await write({ request, target, name: '', options, optionsObject, step }, parts)
  await respondStored(request, 201, target.served, { value: json }, parts)
}

function versionOnCreate(): Error {
  return badRequest('resourceVersion should not be set on objects to be created')
}
