import { MalformedProtobuf, type Reader, wireTypes } from './reader.ts'

/** An object that is being read. */
export type Target = Record<string, unknown>
/** Reads one field after its tag into its object. */
export type ReadField = (reader: Reader, target: Target) => void

export interface FieldReader {
  readonly name: string
  readonly wireType: number
  readonly read: ReadField
  /** Reads several values from a packed field. */
  readonly readPacked?: ReadField
}

/** Reads values of one kind of node. */
export interface ValueReader {
  readonly wireType: number
  /** Reads a value. `before` is the field's earlier value, to which a message adds. */
  readonly read: (reader: Reader, before: unknown) => unknown
  /** The value of a map entry that omits it. */
  readonly zero: () => unknown
}

/** Fields by their number. */
export type FieldReaders = ReadonlyMap<number, FieldReader>

/** Reads the fields of a message into an object. */
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

/** A single-valued field. The last value applies; a message is merged into the earlier one. */
export function singleField(name: string, wireType: number, read: ValueReader['read']): FieldReader {
  return {
    name,
    wireType,
    read: (reader, target) => {
      target[name] = read(reader, target[name])
    },
  }
}
