import { isUtf8 } from 'node:buffer'
import type { Catalogue } from '@orch/core/catalogue'
import { printJson } from '@orch/core/json'
import { parseApiVersion } from '@orch/core/meta'
import { parseEnvelope } from '@orch/core/protobuf'
import { readCbor } from '../texts/read-cbor.ts'

/** The displayed content of a body: its text, or its bytes with its value as JSON. */
export type BodyContent = { readonly text: string } | { readonly base64: string; readonly json?: string }

/** Decodes the body of a request. Valid Protobuf and CBOR are also returned as JSON. */
export function bodyContent(body: Uint8Array, contentType: string, catalogue: Catalogue): BodyContent {
  const isProtobuf = contentType === catalogue.names.protobufMediaType
  const isCbor = /^application\/(?:[\w-]+\+)?cbor$/.test(contentType)
  if (!isProtobuf && !isCbor && isUtf8(body)) return { text: Buffer.from(body).toString() }
  const json = isProtobuf ? jsonOfProtobuf(body, catalogue) : isCbor ? jsonOfCbor(body) : undefined
  return { base64: Buffer.from(body).toString('base64'), ...(json === undefined ? {} : { json }) }
}

function jsonOfProtobuf(body: Uint8Array, catalogue: Catalogue): string | undefined {
  const reading = parseEnvelope(body, catalogue.names)
  if (reading.kind === 'malformed') return undefined
  const { apiVersion, kind, raw } = reading.envelope
  const version = parseApiVersion(apiVersion)
  const message = version === undefined ? undefined : catalogue.readersOfKind({ ...version, kind })?.protobuf?.decode(raw)
  return message?.kind === 'decoded' ? printJson({ apiVersion, kind, ...message.object }, { hasBigIntegers: true }) : undefined
}

function jsonOfCbor(body: Uint8Array): string | undefined {
  const reading = readCbor(body)
  return reading.kind === 'bytes' ? Buffer.from(reading.bytes).toString() : undefined
}
