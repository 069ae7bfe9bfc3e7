import { domainGroup, type Names } from '@orch/core/names'
import type { TableVersion } from '@orch/core/table'
import { limits } from '../limits.ts'

/** The format of an answer. */
export type Format = 'json' | 'yaml' | 'protobuf' | 'cbor'

/** The representation of objects in an answer. */
export type Representation =
  | { readonly kind: 'object' }
  /** Rows for people to read. */
  | { readonly kind: 'table'; readonly version: TableVersion }
  /** Only the metadata; `isList` if the client requests it for a list. */
  | { readonly kind: 'metadata'; readonly version: TableVersion; readonly isList: boolean }

/** The meaning of an `Accept` text. */
export interface Negotiated {
  /** For objects; undefined if no clause can be satisfied. */
  readonly objects: { readonly format: Format; readonly representation: Representation } | undefined
  /** The choice for objects without a Table. */
  readonly withoutTable: Negotiated['objects']
  /** The choice for objects without a Protobuf form; their metadata have one. */
  readonly withoutProtobuf: Negotiated['objects']
  /** For answers with a fixed form, such as a Status. A client that accepts none of ours gets JSON. */
  readonly plain: Format
  /** True if such an answer can satisfy a clause. */
  readonly hasPlain: boolean
  readonly isPretty: boolean
  /** True if a clause names an offered media type, or all types, with any parameters: routes of built-in kinds need that. */
  readonly isKnownType: boolean
}

/** Parses `Accept` texts. */
export type Negotiator = ReturnType<typeof createNegotiator>

/** Media types of objects, in the order of a 406 and a 415. */
export function acceptedMediaTypes({ protobufMediaType }: Names, { hasCbor }: Pick<Negotiator, 'hasCbor'>): readonly string[] {
  return ['application/json', 'application/yaml', protobufMediaType, ...(hasCbor ? ['application/cbor'] : [])]
}

/** Media type of a watch in CBOR. */
export const cborSequence = 'application/cbor-seq'

/** Media types in which watches are answered. */
export function streamedMediaTypes({ protobufMediaType }: Names, { hasCbor }: Pick<Negotiator, 'hasCbor'>): readonly string[] {
  return ['application/json;stream=watch', `${protobufMediaType};stream=watch`, ...(hasCbor ? [cborSequence] : [])]
}

export function mediaTypeOfFormat(format: Format, { protobufMediaType }: Names): string {
  return format === 'protobuf' ? protobufMediaType : `application/${format}`
}

const plainObject: Representation = { kind: 'object' }
const jsonObject = { format: 'json', representation: plainObject } as const

/** The meaning of a request that accepts anything. */
export const acceptsAnything: Negotiated = {
  objects: jsonObject,
  withoutTable: jsonObject,
  withoutProtobuf: jsonObject,
  plain: 'json',
  hasPlain: true,
  isPretty: false,
  isKnownType: true,
}

/**
 * Reads `Accept` texts under a profile. Clauses are tried from the greatest weight to the least, in their own order among equals;
 * a clause that asks for an absent form is skipped.
 *
 *   application/json;as=Table;v=v1;g=meta.orch.io, application/json      objects: a Table in JSON     plain: JSON
 *   application/json;q=0.5, application/yaml                             both: YAML
 */
export function createNegotiator(names: Names, { hasCbor = false }: { readonly hasCbor?: boolean } = {}) {
  const known = new Map<string, Negotiated>()
  return {
    /** True if CBOR is accepted and returned, by its gate. */
    hasCbor,
    /** Cached results. */
    known,
    read(accept: string) {
      const negotiated = negotiate(accept.slice(0, limits.acceptTextReadMax), names, hasCbor)
      if (accept.length > limits.acceptTextLengthMax) return negotiated
      if (known.size >= limits.acceptTextsMax) known.clear()
      known.set(accept, negotiated)
      return negotiated
    },
  }
}

function negotiate(accept: string, names: Names, hasCbor: boolean): Negotiated {
  let objects: Negotiated['objects']
  let withoutTable: Negotiated['objects']
  let withoutProtobuf: Negotiated['objects']
  let plain: Format | undefined
  let isPretty = false
  for (const clause of clausesOf(accept)) {
    const format = formatOf(clause.type, names, hasCbor)
    const representation = representationOf(clause, format, names)
    if (format === undefined || representation === undefined) continue
    if (objects === undefined) isPretty = clause.parameters.get('pretty') === '1'
    objects ??= { format, representation }
    if (representation.kind !== 'table') withoutTable ??= { format, representation }
    if (format !== 'protobuf' || representation.kind === 'metadata') withoutProtobuf ??= { format, representation }
    if (representation.kind === 'object') plain ??= format
  }
  const isKnownType = typesOf(accept).some(
    (type) => type === '*/*' || (!type.endsWith('/*') && formatOf(type, names, hasCbor) !== undefined),
  )
  return { objects, withoutTable, withoutProtobuf, plain: plain ?? 'json', hasPlain: plain !== undefined, isPretty, isKnownType }
}

function formatOf(mediaType: string, names: Names, hasCbor: boolean): Format | undefined {
  const isJson = mediaType === 'application/json' || mediaType === 'application/*' || mediaType === '*/*'
  return isJson ? 'json' : formatBesideJson(mediaType, names, hasCbor)
}

/** The format of a media type other than that of JSON; undefined if the server lacks it. */
export function formatBesideJson(mediaType: string, { protobufMediaType }: Names, hasCbor: boolean): Format | undefined {
  if (mediaType === 'application/yaml') return 'yaml'
  if (mediaType === 'application/cbor') return hasCbor ? 'cbor' : undefined
  return mediaType === protobufMediaType ? 'protobuf' : undefined
}

/** The form of a clause; undefined if unsupported. A Table is neither in Protobuf nor in CBOR. */
function representationOf({ parameters }: Clause, format: Format | undefined, names: Names): Representation | undefined {
  const stream = parameters.get('stream')
  if (stream !== undefined && (stream !== 'watch' || format === 'yaml')) return undefined
  if ((parameters.get('sv') ?? 'v1') !== 'v1') return undefined
  if (!['as', 'g', 'v'].some((name) => parameters.has(name))) return plainObject
  const kind = parameters.get('as')
  const version = parameters.get('v')
  if (parameters.get('g') !== domainGroup(names, 'meta') || (version !== 'v1' && version !== 'v1beta1')) return undefined
  switch (kind) {
    case 'Table':
      return format === 'protobuf' || format === 'cbor' ? undefined : { kind: 'table', version }
    case 'PartialObjectMetadata':
    case 'PartialObjectMetadataList':
      return { kind: 'metadata', version, isList: kind === 'PartialObjectMetadataList' }
    default:
      return undefined
  }
}

/** One media type of an `Accept` text. */
interface Clause {
  /** Such as `application/json`, as it is written. */
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
  readonly weight: number
}

/** The media types of an `Accept` text, the preferred ones first. Parts that are no media type, and parameters without a value, are ignored. */
export function clausesOf(accept: string): readonly Clause[] {
  return accept
    .split(',')
    .flatMap(readClause)
    .sort((one, other) => (precedes(one, other) ? -1 : Number(precedes(other, one))))
}

/** The media types of an `Accept` text without their parameters. */
function typesOf(accept: string): string[] {
  return accept.split(',').map((clause) => (clause.split(';')[0] ?? '').trim())
}

function readClause(text: string): Clause[] {
  const [mediaType = '', ...rest] = text.split(';')
  const [main = '', sub = main === '*' ? '*' : '', ...others] = mediaType.split('/').map((part) => part.trim())
  if (sub === '' || others.length > 0) return []
  const parameters = new Map<string, string>()
  let weight = 1
  for (const parameter of rest) {
    const [name = '', value = '', ...more] = parameter.split('=')
    if (value === '' || more.length > 0) continue
    if (name.trim() === 'q') weight = readWeight(value)
    else parameters.set(name.trim(), value.trim())
  }
  return [{ type: `${main}/${sub}`, parameters, weight }]
}

function readWeight(text: string): number {
  const weight = /\s/.test(text) ? 0 : Number(text)
  return Number.isNaN(weight) ? 0 : weight
}

/** True for a greater weight, and for a type beside a wildcard, as in kube-apiserver's library. */
function precedes(one: Clause, other: Clause): boolean {
  const isBefore = (isWild: (type: string) => boolean) => !isWild(one.type) && isWild(other.type)
  return one.weight > other.weight || isBefore((type) => type.startsWith('*/')) || isBefore((type) => type.endsWith('/*'))
}
