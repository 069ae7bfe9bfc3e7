import { decodeJson } from '@orch/core/json'
import { namesOf, type Profile } from '@orch/core/names'
import { encodeProtobuf, printEnvelope } from '@orch/core/protobuf'
import { decoderOf, type Node, resolveType } from '@orch/core/schema'
import { sampleFields } from '../api/sample-objects.ts'
import type { Chance } from './chance.ts'
import { type Drawing, drawValue, drawVariant, hostileValue, type Notation } from './values.ts'

/** The type of the object in a body. */
export interface Described {
  readonly kind: string
  readonly apiVersion: string
  readonly type: string
}

export interface DrawnBody {
  readonly contentType: string
  readonly bytes: Buffer
}

/** The media types that a content type header may name, besides the types that fit the body. */
const oddMediaTypes = [
  ...['', 'text/plain', 'application/json; charset=utf-8', 'application/json;as=Table', 'APPLICATION/JSON', 'application/octet-stream'],
  ...[
    'application/x-www-form-urlencoded',
    ';',
    'application/apply-patch+yaml',
    'application/vnd.kubernetes.protobuf',
    'multipart/form-data',
  ],
]

/** A body that contains an object in one of the formats. */
export function objectBody(chance: Chance, profile: Profile, described: Described, name: string, namespace: string): DrawnBody {
  const format = chance.pick(['json', 'json', 'json', 'yaml', 'protobuf', 'protobuf'] as const)
  const drawing = drawingOf(chance, format === 'yaml' ? 'yaml' : 'json')
  const text = objectText(drawing, profile, described, name, namespace)
  const body = format === 'protobuf' ? protobufBody(chance, profile, described, text) : textBody(format, text)
  const bytes = chance.oneIn(40) ? damaged(chance, body.bytes) : body.bytes
  return { contentType: chance.oneIn(30) ? chance.pick(oddMediaTypes) : body.contentType, bytes }
}

function drawingOf(chance: Chance, notation: Notation): Drawing {
  return { chance, notation, hostileOneIn: chance.pick([8, 30, 100, 1_000_000]) }
}

function objectText(drawing: Drawing, profile: Profile, { kind, apiVersion, type }: Described, name: string, namespace: string): string {
  const { chance } = drawing
  const node = resolveType(type)
  if (chance.oneIn(4)) return withTypeMeta(drawValue(node, drawing), { kind, apiVersion }, chance)
  const domain = namesOf(profile).apiDomain
  const metadata = { name, ...(namespace === '' ? {} : { namespace }), ...extraMetadata(chance) }
  const sample = { kind, apiVersion, metadata, ...sampleFields(kind, apiVersion, { domain, namespace }) }
  return drawVariant(sample, node, drawing)
}

function extraMetadata(chance: Chance): object {
  if (!chance.oneIn(3)) return {}
  return chance.pick<object>([
    { labels: { app: 'a' } },
    { finalizers: ['example.com/f'] },
    { generateName: 'g-', name: undefined },
    { resourceVersion: '1' },
    { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'u' }] },
    { managedFields: [{ manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } }] },
  ])
}

/** The text of an object usually contains its kind. */
function withTypeMeta(text: string, { kind, apiVersion }: Pick<Described, 'kind' | 'apiVersion'>, chance: Chance): string {
  if (!text.startsWith('{') || chance.oneIn(20)) return text
  const rest = text.slice(1)
  return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)}${rest === '}' ? '' : ','}${rest}`
}

function textBody(format: 'json' | 'yaml', text: string): DrawnBody {
  return { contentType: `application/${format}`, bytes: Buffer.from(text) }
}

/** The object as a Protobuf message, if its text is of a known type. */
function protobufBody(chance: Chance, profile: Profile, { kind, apiVersion, type }: Described, text: string): DrawnBody {
  const decoded = decodeJson(Buffer.from(text))
  const read = decoded.kind === 'json' ? decoderOf(type)(decoded.value, { trackUnknown: false }) : undefined
  if (read?.kind !== 'decoded') return textBody('json', text)
  const raw = encodeProtobuf(type, read.object as object)
  const bytes = printEnvelope({ apiVersion, kind, raw: chance.oneIn(6) ? damaged(chance, Buffer.from(raw)) : raw })
  return { contentType: namesOf(profile).protobufMediaType, bytes: Buffer.from(bytes) }
}

/** Changes, removes or adds some bytes. */
function damaged(chance: Chance, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  if (copy.length === 0) return Buffer.from(' ')
  if (chance.oneIn(4)) return copy.subarray(0, chance.below(copy.length))
  if (chance.oneIn(4)) return Buffer.concat([copy, copy.subarray(chance.below(copy.length))])
  for (let flips = 1 + chance.below(4); flips > 0; flips--) copy[chance.below(copy.length)] = chance.below(256)
  return copy
}

/** A patch of an object in one of the four patch types. */
export function patchBody(chance: Chance, profile: Profile, described: Described, name: string): DrawnBody {
  switch (chance.below(4)) {
    case 0:
      return { contentType: 'application/json-patch+json', bytes: Buffer.from(jsonPatchText(drawingOf(chance, 'json'), described)) }
    case 1:
      return { contentType: 'application/merge-patch+json', bytes: partBytes(chance, described) }
    case 2:
      return { contentType: 'application/strategic-merge-patch+json', bytes: strategicBytes(chance, described) }
    default: {
      const drawing = drawingOf(chance, chance.oneIn(2) ? 'yaml' : 'json')
      const text = objectText(drawing, profile, described, name, '')
      return { contentType: 'application/apply-patch+yaml', bytes: Buffer.from(text) }
    }
  }
}

function partBytes(chance: Chance, { type }: Described): Buffer {
  return Buffer.from(drawValue(resolveType(type), drawingOf(chance, 'json')))
}

const directives = [
  ...['"$patch":"delete"', '"$patch":"replace"', '"$patch":"merge"', '"$patch":"x"', '"$patch":9007199254740993', '"$retainKeys":["name"]'],
  ...['"$retainKeys":null', '"$retainKeys":[9007199254740993]', '"$deleteFromPrimitiveList/finalizers":["a"]', '"$setElementOrder/x":[1]'],
  ...[
    '"$setElementOrder/containers":[{"name":"a"}]',
    '"$setElementOrder/ports":[{"port":9007199254740993}]',
    '"$deleteFromPrimitiveList/x":{}',
  ],
]

/** Patch directives stand next to fields at any depth. */
function strategicBytes(chance: Chance, described: Described): Buffer {
  const text = partBytes(chance, described).toString()
  if (!chance.oneIn(2)) return Buffer.from(text)
  const opens = [...text.matchAll(/\{(?=")/g)].map(({ index }) => index + 1)
  if (opens.length === 0) return Buffer.from(text)
  const at = chance.pick(opens)
  return Buffer.from(`${text.slice(0, at)}${chance.pick(directives)},${text.slice(at)}`)
}

const operations = ['add', 'remove', 'replace', 'move', 'copy', 'test', 'x', '']

function jsonPatchText(drawing: Drawing, described: Described): string {
  const { chance } = drawing
  if (chance.oneIn(30)) return hostileValue(drawing)
  const operation = () => {
    const place = placeIn(chance, resolveType(described.type))
    const from = chance.oneIn(3) ? `,"from":${JSON.stringify(placeIn(chance, resolveType(described.type)).pointer)}` : ''
    const value = chance.oneIn(8) ? '' : `,"value":${drawValue(place.node, drawing, 3)}`
    return `{"op":${JSON.stringify(chance.pick(operations))},"path":${JSON.stringify(place.pointer)}${from}${value}}`
  }
  return `[${[operation(), ...chance.several(3, operation)].join()}]`
}

/** A JSON pointer into an object of a type, and the value at this place. */
function placeIn(chance: Chance, start: Node): { pointer: string; node: Node } {
  let node = start
  let pointer = ''
  for (let steps = 1 + chance.below(5); steps > 0; steps--) {
    const known: Node = node.kind === 'ref' ? resolveType(node.name) : node
    if (known.kind === 'struct' && known.fields.length > 0) {
      const field = chance.pick(known.fields)
      pointer += `/${field.name}`
      node = field.node
    } else if (known.kind === 'list') {
      pointer += `/${chance.pick(['0', '0', '-', '1', '-1', '01', '99999999999'])}`
      node = known.items
    } else if (known.kind === 'map') {
      pointer += `/${chance.pick(['a', 'app', 'x~1y', '~0', '__proto__', ''])}`
      node = known.values
    } else break
  }
  return { pointer: chance.oneIn(40) ? `${pointer}~2` : pointer, node }
}

/** The options of a deletion. */
export function deleteBody(chance: Chance, apiVersion: string): DrawnBody {
  const drawing = drawingOf(chance, chance.oneIn(4) ? 'yaml' : 'json')
  const text = withTypeMeta(drawValue(resolveType('meta/v1.DeleteOptions'), drawing), { kind: 'DeleteOptions', apiVersion }, chance)
  return { contentType: drawing.notation === 'yaml' ? 'application/yaml' : 'application/json', bytes: Buffer.from(text) }
}
