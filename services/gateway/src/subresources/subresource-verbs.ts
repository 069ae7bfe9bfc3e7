import type { ResourceVerb } from '../request/request-info.ts'
import type { SubresourceVerb } from '../verbs/verb.ts'
import { type BindingParts, bindPod } from './binding.ts'
import type { ConnectParts } from './connect.ts'
import { enterContainer } from './enter-container.ts'
import { type EvictionParts, evictPod } from './eviction.ts'
import { forwardPort } from './forward-port.ts'
import { type LogParts, readLog } from './logs.ts'
import { proxy } from './proxy.ts'
import { getScale, patchScale, type ScaleParts, updateScale } from './scale.ts'
import { requestToken, type TokenRequestParts } from './token-request.ts'
import type { TunnelParts } from './tunnel.ts'

/** The dependencies of the verbs of all subresources. */
export type SubresourceParts = BindingParts & ConnectParts & LogParts & EvictionParts & ScaleParts & TokenRequestParts & TunnelParts

type VerbsOfSubresource = Partial<Record<ResourceVerb, SubresourceVerb<SubresourceParts>>>

const tunnel: VerbsOfSubresource = { get: enterContainer, create: enterContainer }

const bySubresource: Readonly<Record<string, VerbsOfSubresource>> = {
  attach: tunnel,
  binding: { create: bindPod },
  eviction: { create: evictPod },
  exec: tunnel,
  log: { get: readLog },
  portforward: { get: forwardPort, create: forwardPort },
  proxy: { create: proxy, delete: proxy, get: proxy, patch: proxy, update: proxy },
  token: { create: requestToken },
  scale: { get: getScale, update: updateScale, patch: patchScale },
}

/** The verb of a subresource with a separate kind; undefined if the server lacks it. */
export function subresourceVerb(subresource: string, verb: ResourceVerb): SubresourceVerb<SubresourceParts> | undefined {
  return bySubresource[subresource]?.[verb]
}
