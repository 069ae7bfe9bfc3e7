import { MalformedProtobuf, type Reader, wireTypes } from './reader.ts'

/** An object that is being read. */
export type Target = Record<string, unknown>
/** Reads one field, whose tag has been read, into its object. */
export type ReadField = (reader: Reader, target: Target) => void

/** The reader of one field. */
export interface FieldReader {
  readonly name: string
  readonly wireType: number
  readonly read: ReadField
  /** Reads many values at once, from a field that packs them. */
  readonly readPacked?: ReadField
}

/** The reader of one kind of node's values. */
export interface ValueReader {
  readonly wireType: number
  /** A value; `before` is the one that the field had already, to which a message adds. */
  readonly read: (reader: Reader, before: unknown) => unknown
  /** The value of a map's entry without one. */
  readonly zero: () => unknown
}

/** Fields by their number. */
export type FieldReaders = ReadonlyMap<number, FieldReader>

/** Reads the fields of a message, up to its end, into an object. */
export function fillFrom(fields: ReadonlyMap<number, FieldReader>, reader: Reader, target: Target): void {
  while (!reader.isAtEnd) {
    const tag = reader.tag()
    const wireType = tag % 8
    const field = fields.get(Math.floor(tag / 8))
    if (field === undefined) reader.skip(wireType)
    else if (field.wireType === wireType) field.read(reader, target)
    else if (field.readPacked !== undefined && wireType === wireTypes.bytes) field.readPacked(reader, target)
    else throw new MalformedProtobuf(`field ${field.name} has the wire type ${wireType} instead of ${field.wireType}`)
  }
}

/** A field with one value. The last of several counts; a message adds to the earlier one. */
export function singleField(name: string, wireType: number, read: ValueReader['read']): FieldReader {
  return {
    name,
    wireType,
    read: (reader, target) => {
      target[name] = read(reader, target[name])
    },
  }
}
