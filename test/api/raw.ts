import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { type Agent, request as httpsRequest } from 'node:https'
import { onTestFinished } from 'vitest'
import type { Api } from './api.ts'

export interface RawAnswer {
  status: number
  headers: IncomingHttpHeaders
  bytes: Buffer
}

interface RawSending {
  headers?: Record<string, string>
  body?: Uint8Array
}

/** Sends a request with a binary body and reads a binary answer. */
export async function sendRaw(api: Api, method: string, target: string, sending: RawSending = {}): Promise<RawAnswer> {
  const response = await opened(api, method, target, { ...sending, agent: api.agent })
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return { status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) }
}

/** Reads the wanted number of pieces of a stream. Four bytes before each piece give its length. */
export async function readFrames(
  api: Api,
  target: string,
  accept: string,
  count: number,
): Promise<{ headers: IncomingHttpHeaders; frames: Buffer[] }> {
  const response = await opened(api, 'GET', target, { headers: { accept } })
  onTestFinished(() => {
    response.destroy()
  })
  const frames: Buffer[] = []
  let pending: Buffer = Buffer.alloc(0)
  for await (const chunk of response) {
    pending = Buffer.concat([pending, chunk as Buffer])
    while (pending.length >= 4 && pending.length >= 4 + pending.readUInt32BE(0)) {
      const end = 4 + pending.readUInt32BE(0)
      frames.push(pending.subarray(4, end))
      pending = pending.subarray(end)
    }
    if (frames.length >= count) break
  }
  return { headers: response.headers, frames }
}

/** Without an agent, the request opens a new connection. */
function opened(
  api: Api,
  method: string,
  target: string,
  { headers = {}, body, agent }: RawSending & { agent?: Agent },
): Promise<IncomingMessage> {
  const { hostname, port, pathname } = new URL(api.url)
  const path = `${pathname === '/' ? '' : pathname}${target}`
  const sent = body === undefined ? headers : { 'content-length': String(body.length), ...headers }
  return new Promise((resolve, reject) => {
    const request = httpsRequest({ method, hostname, port, path, headers: sent, ...api.credentials, agent: agent ?? false }, resolve)
    request.on('error', reject)
    request.end(body)
  })
}

/** A field of a Protobuf message, decoded only by the wire format. */
export type WireValue = bigint | Buffer

/** The fields of a message by number, in wire order. */
export function wireFields(message: Uint8Array): Map<number, WireValue[]> {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.length)
  const fields = new Map<number, WireValue[]>()
  let at = 0
  const varint = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++] as number
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const number = tag >> 3
    let value: WireValue
    if ((tag & 7) === 0) value = varint()
    else if ((tag & 7) === 2) {
      const length = Number(varint())
      value = bytes.subarray(at, at + length)
      at += length
    } else throw new Error(`wire type ${tag & 7} at ${at}`)
    fields.set(number, [...(fields.get(number) ?? []), value])
  }
  return fields
}

/** One field of a message; throws if the message lacks it. */
export function wireField(message: Uint8Array, ...path: readonly number[]): Buffer {
  let current: Uint8Array = message
  for (const number of path) {
    const value = wireFields(current).get(number)?.[0]
    if (!(value instanceof Buffer)) throw new Error(`no message or text in field ${number}`)
    current = value
  }
  return current as Buffer
}

/** Encodes a message of texts and messages, field by field. */
export function wireMessage(...fields: readonly (readonly [number: number, value: string | Uint8Array])[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([number, value]) => {
      const bytes = Buffer.from(value as string)
      return [varintBytes((number << 3) | 2), varintBytes(bytes.length), bytes]
    }),
  )
}

function varintBytes(value: number): Buffer {
  const bytes: number[] = []
  for (let rest = value; ; rest >>>= 7) {
    bytes.push(rest > 0x7f ? (rest & 0x7f) | 0x80 : rest)
    if (rest <= 0x7f) return Buffer.from(bytes)
  }
}

const protobufMagic = Buffer.from([0x6b, 0x38, 0x73, 0x00])

/** A message in its envelope: PROTO-01…06. */
export function envelopeOf(apiVersion: string, kind: string, message: Uint8Array): Buffer {
  return Buffer.concat([protobufMagic, wireMessage([1, wireMessage([1, apiVersion], [2, kind])], [2, message])])
}

/** Reads the contents of an envelope by field number only. */
export function readEnvelope(bytes: Buffer): { apiVersion: string; kind: string; message: Buffer } {
  if (!bytes.subarray(0, 4).equals(protobufMagic)) throw new Error(`no envelope: ${bytes.subarray(0, 40).toString()}`)
  const envelope = bytes.subarray(4)
  return {
    apiVersion: wireField(envelope, 1, 1).toString(),
    kind: wireField(envelope, 1, 2).toString(),
    message: wireField(envelope, 2),
  }
}
