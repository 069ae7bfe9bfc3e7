import { type Informer, type ResourceAddress, startInformer } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { bootstrapSecretType } from '@orch/core/tokens'
import { sleep } from '@orch/platform'
import type { ControllerContext } from '../controller.ts'

/** The collection of Secrets. */
export const secrets: ResourceAddress = { group: '', version: 'v1', plural: 'secrets', namespaced: true }

/** Follows the Secrets of bootstrap tokens, which lie in the system namespace. */
export function startBootstrapSecretInformer(
  { client, names, clock, random, log, signal }: ControllerContext,
  onEvent: (name: string) => void,
): Informer<ApiObject> {
  return startInformer({
    resource: client.resource(secrets),
    select: { namespace: names.systemNamespace, fieldSelector: `type=${bootstrapSecretType(names)}` },
    signal,
    sleep: (delayMs, ending) => sleep(clock, delayMs, ending),
    random,
    onEvent: ({ object }) => onEvent(object.metadata.name ?? ''),
    onError: (error) => log.debug({ err: error }, 'bootstrap tokens are listed or watched again'),
  })
}
