import { hasMembers } from '../json/member.ts'
import type { Status } from '../meta/status.ts'
import { decoderOf } from '../schema/decode.ts'
import { printProtobuf } from './envelope.ts'

/** Kinds that a server answers with and that belong to no resource. */
const metaKinds: ReadonlySet<unknown> = new Set(['Status', 'APIVersions', 'APIGroupList', 'APIGroup', 'APIResourceList'])

/** An answer that is no object of a resource in its Protobuf envelope; undefined: it has no form in Protobuf. */
export function printMetaProtobuf(object: object): Uint8Array | undefined {
  // Some documents leave their version out in JSON; the envelope names it all the same.
  const { kind, apiVersion = 'v1' }: Readonly<Record<string, unknown>> = hasMembers(object) ? object : {}
  if (!metaKinds.has(kind)) return undefined
  const type = `meta/v1.${String(kind)}`
  const decoded = decoderOf(type)(object, { trackUnknown: false })
  if (decoded.kind === 'mismatch') throw new TypeError(decoded.message)
  return printProtobuf({ apiVersion: String(apiVersion), kind: String(kind), type, object: decoded.object })
}

/** The aggregated form of discovery in its Protobuf envelope. */
export function printAggregatedProtobuf(document: object): Uint8Array {
  const { kind, apiVersion }: Readonly<Record<string, unknown>> = hasMembers(document) ? document : {}
  return printProtobuf({
    apiVersion: String(apiVersion),
    kind: String(kind),
    type: 'apidiscovery/v2.APIGroupDiscoveryList',
    object: document,
  })
}

/** A Status in its Protobuf envelope. */
export function printStatusProtobuf(status: Status): Uint8Array {
  return printMetaProtobuf(status) as Uint8Array
}
