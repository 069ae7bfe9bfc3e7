import { badRequest } from '@orch/core'
import { readBody } from '../body.ts'
import { respondStored } from '../forms/respond-stored.ts'
import { judgeProblems, readCandidate } from '../write/candidate.ts'
import { namesVersion } from '../write/metadata.ts'
import { writeOptionsOf } from '../write/options.ts'
import { write } from '../write/write-loop.ts'
import type { Verb } from './verb.ts'

/** A new object. */
export const create: Verb = async (request, target, parts) => {
  const { resource } = target.served
  const options = writeOptionsOf(request, parts, 'CreateOptions')
  const candidate = readCandidate(target, await readBody(request, parts, target.subresource ?? resource))
  judgeProblems(resource, candidate.problems, options.fieldValidation, (text) => request.warn(text))
  if (namesVersion(candidate.object)) throw versionOnCreate()
  const optionsObject = { kind: 'CreateOptions', apiVersion: parts.metaVersion, fieldManager: options.fieldManager }
  const step = () => ({ kind: 'create', candidate }) as const
  const { json } = await write({ request, target, name: '', options, optionsObject, step }, parts)
  await respondStored(request, 201, target.served, { value: json }, parts)
}

function versionOnCreate(): Error {
  return badRequest('resourceVersion should not be set on objects to be created')
}
