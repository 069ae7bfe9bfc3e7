import type { Resource } from '@orch/core/catalogue'
import { type ApiObject, printTime, toInstant } from '@orch/core/meta'
import { domainGroup, type Names, subdomainLabel } from '@orch/core/names'
import { parseStored } from '@orch/core/schema'
import { encodeObject, encodeStoredObject } from '@orch/core/stored'
import type { Draws } from '../request/draws.ts'
import type { Surroundings } from '../surroundings.ts'

/** The Service that holds a reservation. */
export interface Holder {
  readonly uid: string
  readonly namespace: string
  readonly name: string
}

/** The dependencies of writing used addresses as objects. */
export interface AddressObjectParts extends Pick<Surroundings, 'names' | 'clock'> {
  /** The kind IPAddress. */
  readonly resource: Resource
  readonly draws: Pick<Draws, 'uid'>
}

/** The stored value of the IPAddress of a Service, as the server writes it. */
export function encodeAddress(address: string, holder: Holder, writeId: string, parts: AddressObjectParts): Uint8Array {
  const { resource, names, clock, draws } = parts
  const creationTimestamp = printTime(toInstant(clock.now()))
  const labels = {
    [subdomainLabel(names, 'ipaddress', 'ip-family')]: address.includes(':') ? 'IPv6' : 'IPv4',
    [managerLabel(names)]: allocatorName(names),
  }
  const object: ApiObject = {
    kind: resource.kind,
    apiVersion: resource.stored.apiVersion,
    metadata: {
      name: address,
      uid: draws.uid(),
      creationTimestamp,
      labels,
      managedFields: [
        {
          manager: names.serverManager,
          operation: 'Update',
          apiVersion: resource.stored.apiVersion,
          time: creationTimestamp,
          fieldsType: 'FieldsV1',
          fieldsV1: ownedFields(Object.keys(labels)),
        },
      ],
    },
    spec: { parentRef: { resource: 'services', namespace: holder.namespace, name: holder.name } },
  }
  return encodeStoredObject({ stored: resource.stored, object, encoded: encodeObject(object), writeId, expiresAtMs: 0 })
}

/** The Service of a stored IPAddress, as `namespace/name`; undefined if another program manages it. */
export function parentOf(value: Uint8Array, names: Names): string | undefined {
  const { metadata, spec } = parseStored('networking/v1.IPAddress', value)
  const { namespace = '', name = '' } = spec?.parentRef ?? {}
  return metadata.labels?.[managerLabel(names)] === allocatorName(names) ? `${namespace}/${name}` : undefined
}

function ownedFields(labels: readonly string[]): Record<string, unknown> {
  const members = (names: readonly string[]) => Object.fromEntries([['.', {}], ...names.map((name) => [`f:${name}`, {}])])
  return {
    'f:metadata': { 'f:labels': members(labels.toSorted()) },
    'f:spec': { 'f:parentRef': members(['name', 'namespace', 'resource']) },
  }
}

function managerLabel(names: Names): string {
  return subdomainLabel(names, 'ipaddress', 'managed-by')
}

function allocatorName(names: Names): string {
  return domainGroup(names, 'ipallocator')
}
