import { type RespondStoredParts, respondStored } from '../representations/respond-stored.ts'
import { type BodyParts, type ParsedBody, parseReceived, receiveBody } from '../request/body.ts'
import { type CandidateParts, readNew } from '../write/candidate.ts'
import { type OptionsParts, writeOptionsOf } from '../write/options.ts'
import { type WriteParts, write } from '../write/write.ts'
import type { Verb } from './verb.ts'

/** The dependencies of a create. */
export type CreateParts = WriteParts & CandidateParts & BodyParts & OptionsParts & RespondStoredParts

/** A new object: the one in the body, after the steps of a create (`write/steps.ts`). */
export const create: Verb<CreateParts> = async (request, target, parts) => {
  const options = writeOptionsOf(request, parts, 'CreateOptions')
  const received = await receiveBody(request, parts, target.subresource ?? target.served.resource)
  const optionsObject = { kind: 'CreateOptions', apiVersion: parts.metaVersion, fieldManager: options.fieldManager }
  let parsed: ParsedBody | undefined = await parseReceived(request, received, parts)
  const decide = async () => {
    const body = parsed ?? (await parseReceived(request, received, parts))
    // A second attempt is rare, and parses the body again: while the first waits for the disk, only the bytes are stored.
    parsed = undefined
    return readNew({ request, target, options }, body, parts)
  }
  const { json, object, fingerprint } = await write({ request, target, name: '', options, optionsObject, decide }, parts)
  await respondStored(request, { code: 201, served: target.served, content: { value: json, fingerprint }, object }, parts)
}
