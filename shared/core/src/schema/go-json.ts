import { plainNameOf } from '../description/levels.ts'
import { type Field, isScalar, type Node, type ScalarNode, type StructNode } from '../description/node.ts'
import { escapeMarkup, isJsonObject, printJson } from '../json/index.ts'
import { parseQuantity, printQuantity } from '../meta/quantity.ts'
import { goFieldName, isPointer } from './go-names.ts'
import { packageOf, resolveNode, resolveStruct } from './resolve.ts'

/**
 * A value of a type as Go's `encoding/json` prints it inside kube-apiserver's validation. Types of meta/v1 have their JSON
 * names and omit empty fields. All other types are internal types, which have Go names and omit nothing.
 */
export function goJson(node: Node, value: unknown): string {
  const target = resolveNode(node)
  if (isScalar(target)) return scalarTexts[target.kind](value)
  switch (target.kind) {
    case 'ref':
      return goJson(target, value)
    case 'struct':
      return `{${membersOf(node.kind === 'ref' ? node.name : undefined, target, isJsonObject(value) ? value : {}).join(',')}}`
    case 'list':
      if (!Array.isArray(value)) return 'null'
      // One call for all texts: a list may have tens of thousands.
      if (resolveNode(target.items).kind === 'string') return escapeMarkup(JSON.stringify(value.map((item: unknown) => textOf(item))))
      return `[${value.map((item: unknown) => goJson(target.items, item)).join(',')}]`
    case 'map':
      return mapText(target.values, value)
    case 'string':
      return goJsonText(textOf(value))
    case 'variant':
      return rawText(value)
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

function goJsonText(text: string): string {
  return escapeMarkup(JSON.stringify(text))
}

const numberText = (value: unknown): string => String(value ?? 0)
const rawText = (value: unknown): string => (value === undefined ? 'null' : escapeMarkup(printJson(value)))
const textOrNull = (value: unknown): string => (typeof value === 'string' ? goJsonText(value) : 'null')

/** The canonical text of a quantity: Go keeps the amount, not the original text. */
function canonicalText(text: string): string {
  const quantity = parseQuantity(text)
  return quantity === undefined ? text : printQuantity(quantity)
}

const scalarTexts: Readonly<Record<ScalarNode['kind'], (value: unknown) => string>> = {
  boolean: (value) => String(value === true),
  int32: numberText,
  int64: numberText,
  double: numberText,
  bytes: textOrNull,
  time: textOrNull,
  microTime: textOrNull,
  quantity: (value) => goJsonText(canonicalText(String(value ?? '0'))),
  intOrString: (value) => (typeof value === 'string' ? goJsonText(value) : numberText(value)),
  raw: rawText,
  json: rawText,
  fieldsV1: rawText,
}

/** Go names of fields that only one type has. */
const otherNames: Readonly<Record<string, string>> = {
  'core/v1.PodSpec.serviceAccount': 'DeprecatedServiceAccount',
  'resource/v1.DeviceAttribute.int': 'IntValue',
  'resource/v1.DeviceAttribute.bool': 'BoolValue',
  'resource/v1.DeviceAttribute.string': 'StringValue',
  'resource/v1.DeviceAttribute.version': 'VersionValue',
  'resource/v1.DeviceAttribute.ints': 'IntValues',
  'resource/v1.DeviceAttribute.bools': 'BoolValues',
  'resource/v1.DeviceAttribute.strings': 'StringValues',
  'resource/v1.DeviceAttribute.versions': 'VersionValues',
}

/** Fields whose order differs from that of the versioned type. */
const fieldOrders: Readonly<Record<string, readonly string[]>> = {
  'core/v1.PodSpec': [
    ...['volumes', 'initContainers', 'containers', 'ephemeralContainers', 'restartPolicy', 'terminationGracePeriodSeconds'],
    ...['activeDeadlineSeconds', 'dnsPolicy', 'nodeSelector', 'serviceAccountName', 'serviceAccount', 'automountServiceAccountToken'],
    ...['nodeName', 'hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace', 'securityContext', 'imagePullSecrets', 'hostname'],
    ...['subdomain', 'affinity', 'schedulerName', 'tolerations', 'hostAliases', 'priorityClassName', 'priority', 'dnsConfig'],
    ...['readinessGates', 'runtimeClassName', 'enableServiceLinks', 'preemptionPolicy', 'overhead', 'topologySpreadConstraints'],
    ...['setHostnameAsFQDN', 'os', 'hostUsers', 'schedulingGates', 'resourceClaims', 'resources'],
  ],
}

/** Fields without a position in the order come last. */
function inOrder(type: string | undefined, fields: readonly Field[]): readonly Field[] {
  const names = type === undefined ? undefined : fieldOrders[plainNameOf(type)]
  if (names === undefined) return fields
  const placeOf = ({ name }: Field): number => (names.includes(name) ? names.indexOf(name) : names.length)
  return fields.toSorted((left, right) => placeOf(left) - placeOf(right))
}

function membersOf(type: string | undefined, struct: StructNode, value: Readonly<Record<string, unknown>>): string[] {
  const isVersioned = type !== undefined && packageOf(type) === 'meta/v1'
  const fields = struct.hasTypeMeta ? struct.fields.filter(({ name }) => name !== 'kind' && name !== 'apiVersion') : struct.fields
  return inOrder(type, fields).flatMap((field) => {
    const given = value[field.name]
    if (isVersioned) return isLeftOut(field, given) ? [] : [`"${field.name}":${goJson(field.node, given)}`]
    // Metadata is embedded, so its members are among those of the object.
    if (field.node.kind === 'ref' && packageOf(field.node.name) === 'meta/v1' && field.name === 'metadata')
      return membersOf(field.node.name, resolveStruct(field.node.name), isJsonObject(given) ? given : {})
    const isNull = isPointer(type, field) && (given === undefined || given === null)
    const shown = otherNames[`${plainNameOf(type ?? '')}.${field.name}`] ?? goFieldName(field)
    return [`"${shown}":${isNull ? 'null' : goJson(field.node, given)}`]
  })
}

function isLeftOut({ required, keepEmpty }: Field, value: unknown): boolean {
  if (required === true || keepEmpty === true) return false
  if (value === undefined || value === null || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

function mapText(values: Node, value: unknown): string {
  if (!isJsonObject(value)) return 'null'
  const members = Object.keys(value)
    .sort()
    .map((key) => `${goJsonText(key)}:${goJson(values, value[key])}`)
  return `{${members.join(',')}}`
}
