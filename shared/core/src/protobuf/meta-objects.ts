import { hasMembers } from '../json/member.ts'
import type { Status } from '../meta/status.ts'
import { decoderOf } from '../schema/decode.ts'
import { printProtobuf } from './envelope.ts'

/** Kinds of answers that belong to no resource. */
const metaKinds: ReadonlySet<unknown> = new Set(['Status', 'APIVersions', 'APIGroupList', 'APIGroup', 'APIResourceList'])

/** The Protobuf envelope of an answer that is not a resource's object; undefined if it has no Protobuf form. */
export function printMetaProtobuf(object: object): Uint8Array | undefined {
  // Some documents omit their version in JSON, but the envelope needs it.
  const { kind, apiVersion = 'v1' }: Readonly<Record<string, unknown>> = hasMembers(object) ? object : {}
  if (!metaKinds.has(kind)) return undefined
  const type = `meta/v1.${String(kind)}`
  const decoded = decoderOf(type)(object, { trackUnknown: false })
  if (decoded.kind === 'mismatch') throw new TypeError(decoded.message)
  return printProtobuf({ apiVersion: String(apiVersion), kind: String(kind), type, object: decoded.object })
}

/** The Protobuf envelope of aggregated discovery. */
export function printAggregatedProtobuf(document: object): Uint8Array {
  const { kind, apiVersion }: Readonly<Record<string, unknown>> = hasMembers(document) ? document : {}
  return printProtobuf({
    apiVersion: String(apiVersion),
    kind: String(kind),
    type: 'apidiscovery/v2.APIGroupDiscoveryList',
    object: document,
  })
}

/** The Protobuf envelope of a Status. */
export function printStatusProtobuf(status: Status): Uint8Array {
  return printMetaProtobuf(status) as Uint8Array
}
