import type { ResourceVerb } from '../request-info.ts'
import type { Verb } from '../verbs/verb.ts'
import { bindPod } from './binding.ts'
import { enterContainer, proxy, readLog } from './connect.ts'
import { evictPod } from './eviction.ts'
import { getScale, patchScale, updateScale } from './scale.ts'
import { requestToken } from './token-request.ts'

type VerbsOfSubresource = Partial<Record<ResourceVerb, Verb>>

const tunnel: VerbsOfSubresource = { get: enterContainer, create: enterContainer }

const bySubresource: Readonly<Record<string, VerbsOfSubresource>> = {
  attach: tunnel,
  binding: { create: bindPod },
  eviction: { create: evictPod },
  exec: tunnel,
  log: { get: readLog },
  portforward: tunnel,
  proxy: { create: proxy, delete: proxy, get: proxy, patch: proxy, update: proxy },
  token: { create: requestToken },
  scale: { get: getScale, update: updateScale, patch: patchScale },
}

/** What a verb does with a subresource that is not a part of its object; undefined: the server can't do it. */
export function subresourceVerb(subresource: string, verb: ResourceVerb): Verb | undefined {
  return bySubresource[subresource]?.[verb]
}
