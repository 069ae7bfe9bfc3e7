import type { BootstrapObject } from '@orch/controllers'
import type { Catalogue } from '@orch/core/catalogue'
import { objectKey } from '@orch/core/contracts'
import { printTime, toInstant } from '@orch/core/meta'
import type { Chance, Clock } from '@orch/platform'
import type { Storage } from '@orch/storage'

/** The parts of the start's stored objects that differ between servers. */
interface OwnParts {
  readonly port: number
  /** PEM. */
  readonly authorities: readonly string[]
}

export interface AmendedObjects extends OwnParts {
  readonly catalogue: Catalogue
  readonly base: OwnParts
}

/**
 * Adapts the base's initial objects to this server: the port in its Service and endpoints, and the published authorities. Revisions do not change.
 */
export function amendStartObjects(
  storage: Storage,
  objects: readonly BootstrapObject[],
  { catalogue, base, port, authorities }: AmendedObjects,
): void {
  const portOfBase = new RegExp(`"(port|targetPort)":${base.port}(?!\\d)`, 'g')
  const amend = (text: string) =>
    authorities.reduce(
      (amended, authority, index) => amended.replaceAll(inJson(base.authorities[index] ?? ''), () => inJson(authority)),
      text.replace(portOfBase, `"$1":${port}`),
    )
  for (const one of objects) {
    if (one.resource.namespaced) storage.amend(keyOf(one, catalogue), amend)
  }
}

/** Changes the uids of the initial namespaces, because clients use the uid of kube-system as the uid of the cluster. */
export function renewNamespaces(
  storage: Storage,
  objects: readonly BootstrapObject[],
  { catalogue, chance, clock }: { readonly catalogue: Catalogue; readonly chance: Chance; readonly clock: Clock },
): void {
  const now = printTime(toInstant(clock.now()))
  for (const one of objects) {
    if (one.object.kind !== 'Namespace') continue
    const uid = chance.uuid()
    const renew = (text: string) =>
      text.replace(/"uid":"[^"]*"/, `"uid":"${uid}"`).replace(/"(creationTimestamp|time)":"[^"]*"/g, (_, name) => `"${name}":"${now}"`)
    storage.amend(keyOf(one, catalogue), renew)
  }
}

/** The text as a JSON string has it; for an empty text, a value that never occurs. */
function inJson(text: string): string {
  return text === '' ? '\u0000' : JSON.stringify(text).slice(1, -1)
}

function keyOf({ resource, object: { metadata } }: BootstrapObject, catalogue: Catalogue): string {
  const prefix = catalogue.find(resource.group, resource.version, resource.plural)?.stored.prefix ?? ''
  return objectKey(prefix, metadata.namespace, metadata.name ?? '')
}
