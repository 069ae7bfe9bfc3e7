import type { Node } from '../../description/node.ts'
import { namesOf } from '../../names.ts'
import { decoderOf } from '../../schema/decode.ts'
import { resolveNode, resolveType } from '../../schema/resolve.ts'
import type { Part } from '../../validation/part.ts'
import { applyDefaults, validateObject } from './readers-testing.ts'

/** Paths in kube-apiserver's messages that name no field of the type. */
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
  /^spec\.attachedRequired$/,
  /^spec\.resources\[storage\]$/,
  /^overhead\.limits\[/,
  /\.resources\.containers\[\d+\]\[[^\]]*\]\.limits$/,
  /^spec\.scopeSelector\.matchExpressions\.(?:scopeName|operator|values)$/,
  /^volumeMode$/,
  /^spec\.persistentvolumesource$/,
  /^scheduling\.tolerations\.tolerations\[/,
  // A CSIDriver's name, and fields of an Event by their core names.
  /^(?:name|namespace|source|count|firstTimestamp|lastTimestamp|involvedObject(?:\.namespace)?)$/,
  // The fields of a conversion in v1beta1.
  /^spec\.conversion\.(?:webhookClientConfig|conversionReviewVersions)(?:[.[]|$)/,
  // The fields of a definition in v1beta1: fields shared by all versions are at the top level, and column paths are in capitals.
  /^spec\.(?:validation|subresources|additionalPrinterColumns|selectableFields)(?:[.[]|$)/,
  /^spec\.version$/,
  /\.additionalPrinterColumns\[\d+\]\.JSONPath$/,
  // v1 has one field for CPU utilization; errors name the equivalent metric of v2.
  /^spec\.metrics(?:\[0\]\.resource\.target\.averageUtilization)?$/,
]

const names = namesOf('orch')

/** The object with its defaults; undefined if a field has the wrong type. */
export function completed(type: string, body: unknown): Part | undefined {
  const decoded = decoderOf(type)(body, { trackUnknown: false })
  if (decoded.kind !== 'decoded') return undefined
  const object = structuredClone(decoded.object)
  applyDefaults(type, object, names)
  return object
}

/** The fields that validation refuses. */
export function fieldsOf(type: string, object: Part, part: 'main' | 'status', live?: Part): string[] {
  const before = live === undefined ? {} : { live }
  return validateObject({ type, body: object, object, part, names, ...before }).map(({ field }) => field ?? '')
}

/** The first part of a path that the type lacks; undefined if it has all parts. */
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

/** The paths that name no field of the type. */
export function unknownFields(type: string, fields: readonly string[]): string[] {
  const node = resolveType(type)
  return fields.filter((field) => findUnknown(node, field) !== undefined && !otherNames.some((form) => form.test(field)))
}
