import { type ByteFields, itemOfCbor, jsonToCbor, jsonToCborItem } from '@orch/core/cbor'
import { limits } from '../limits.ts'
import type { TextThread } from './text-thread.ts'

type Texts = Pick<TextThread, 'do'>

/** JSON as CBOR. Large JSON is converted in the thread of texts. */
export function printCbor(texts: Texts | undefined, json: Uint8Array, fields?: ByteFields): Uint8Array | Promise<Uint8Array> {
  return json.length < limits.largeBytesMin || texts === undefined ? jsonToCbor(json, fields) : printInThread(texts, json, fields)
}

/** Prints an item of a list, without the tag of self-described CBOR. */
export function printCborItem(texts: Texts | undefined, json: Uint8Array, fields?: ByteFields): Uint8Array | Promise<Uint8Array> {
  if (json.length < limits.largeBytesMin || texts === undefined) return jsonToCborItem(json, fields)
  return printInThread(texts, json, fields).then(itemOfCbor)
}

async function printInThread(texts: Texts, bytes: Uint8Array, fields: ByteFields | undefined): Promise<Uint8Array> {
  const made = await texts.do({ kind: 'printCbor', bytes, fields })
  if (made.kind !== 'bytes') throw new Error('no CBOR has been printed')
  return made.bytes
}
