import type { Node } from '../../description/node.ts'
import { namesOf } from '../../names.ts'
import { decoderOf } from '../../schema/decode.ts'
import { resolveNode, resolveType } from '../../schema/resolve.ts'
import type { Part } from '../../validation/part.ts'
import { applyDefaults, validateObject } from './readers-testing.ts'

/** Paths that name no field of the type: kube-apiserver has them so, and clients know them. */
const otherNames: readonly RegExp[] = [
  /(?:^|\.)template\.(?:labels$|annotations(?:$|\[))/,
  /\.volumeMounts\.mountPropagation$/,
  /\.hostAliases\.(?:hostnames|ip)$/,
  /\.(?:cephFS|downwarAPI|iscsi\.initiatorname|persistentDisk\.\w+|volumeClaimTemplate\.metadata\.uID)$/,
  /\.pod(?:Anti)?Affinity\..*\.namespace$/,
  /\.securityContext\.shareProcessNamespace$/,
  /^metadata\.taints\[\d+\]/,
  /^status\.Phase$/,
  /^status\.conditions\[\d+\]\.Type$/,
  /^spec\.LoadBalancerSourceRanges$/,
  /^spec\.resources\[storage\]$/,
  /^overhead\.limits\[/,
  /\.resources\.containers\[\d+\]\[[^\]]*\]\.limits$/,
  /^spec\.scopeSelector\.matchExpressions\.(?:scopeName|operator|values)$/,
  /^volumeMode$/,
  /^spec\.persistentvolumesource$/,
  /^scheduling\.tolerations\.tolerations\[/,
  // The name of a CSIDriver, and parts of an Event by their names in the core group.
  /^(?:name|namespace|source|count|firstTimestamp|lastTimestamp|involvedObject(?:\.namespace)?)$/,
  // A conversion by its form without a version.
  /^spec\.conversion\.(?:webhookClientConfig|conversionReviewVersions)(?:[.[]|$)/,
  // A definition in that form: what its versions share stands above them, and the first of them twice. A column's path is in capitals.
  /^spec\.(?:validation|subresources|additionalPrinterColumns|selectableFields)(?:[.[]|$)/,
  /^spec\.version$/,
  /\.additionalPrinterColumns\[\d+\]\.JSONPath$/,
  // The first version of an autoscaler has one number, which stands for a metric.
  /^spec\.metrics(?:\[0\]\.resource\.target\.averageUtilization)?$/,
]

const names = namesOf('orch')

/** The object with its defaults, or undefined where the types of its fields are wrong. */
export function completed(type: string, body: unknown): Part | undefined {
  const decoded = decoderOf(type)(body, { trackUnknown: false })
  if (decoded.kind !== 'decoded') return undefined
  const object = structuredClone(decoded.object)
  applyDefaults(type, object, names)
  return object
}

/** The fields that the rules object to. */
export function fieldsOf(type: string, object: Part, part: 'main' | 'status', live?: Part): string[] {
  const before = live === undefined ? {} : { live }
  return validateObject({ type, body: object, object, part, names, ...before }).map(({ field }) => field ?? '')
}

/** The part of a path that the type lacks; undefined when it has all of it. */
function findUnknown(declared: Node, path: string): string | undefined {
  if (path === '') return undefined
  const node = resolveNode(declared)
  const step = /^\.?([^.[]+)|^\[\d+\]/.exec(path)
  if (node.kind === 'map') return undefined
  if (step === null) return path
  const rest = path.slice(step[0].length)
  if (node.kind === 'list' && step[1] === undefined) return findUnknown(node.items, rest)
  const field = node.kind === 'struct' ? node.fields.find(({ name }) => name === step[1]) : undefined
  return field === undefined ? path : findUnknown(field.node, rest)
}

/** The fields that the type does not have. */
export function unknownFields(type: string, fields: readonly string[]): string[] {
  const node = resolveType(type)
  return fields.filter((field) => findUnknown(node, field) !== undefined && !otherNames.some((form) => form.test(field)))
}
