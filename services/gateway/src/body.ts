import { badRequest, decodeJson, requestEntityTooLarge, timeout, unsupportedMediaType } from '@orch/core'
import { load, YAMLException } from 'js-yaml'
import { limits } from './limits.ts'
import { acceptedMediaTypes, bodyFormat } from './negotiate.ts'
import type { GatewayParts } from './parts.ts'
import type { GatewayRequest } from './request.ts'

/** A body that has been read as JSON or YAML. */
export interface ParsedBody {
  readonly value: unknown
  /** Paths of members that are there more than once. */
  readonly duplicates: readonly string[]
  readonly hasBigIntegers: boolean
  /** The body's beginning, for messages. */
  readonly text: string
}

/** The body's bytes, bounded in size and in time. */
export async function readBytes(request: GatewayRequest, { clock, wheel }: GatewayParts): Promise<Uint8Array> {
  const late = Promise.withResolvers<'late'>()
  const timer = wheel.after(Math.max(0, request.deadlineMs - clock.monotonic()), { due: () => late.resolve('late') })
  const outcome = await Promise.race([request.exchange.readBody(limits.bodyBytesMax), late.promise])
  timer.cancel()
  if (outcome === 'late') throw requestLate()
  switch (outcome.kind) {
    case 'body':
      return outcome.bytes
    case 'tooLarge':
      throw requestEntityTooLarge(`Request entity too large: limit is ${limits.bodyBytesMax}`)
    case 'broken':
      throw badRequest('the body of the request was not sent to its end')
  }
}

/** The answer to a request whose time is over. */
export function requestLate(): Error {
  return timeout('request did not complete within requested timeout - context deadline exceeded')
}

/** The body as a value, by its media type. `expected` is the kind that messages name. */
export async function readBody(request: GatewayRequest, parts: GatewayParts, expected: string): Promise<ParsedBody> {
  const format = bodyFormat(request.contentType)
  if (format === 'unknown') throw unsupportedMediaType(acceptedMediaTypes)
  return parseBody(await readBytes(request, parts), format, expected)
}

export function parseBody(bytes: Uint8Array, format: 'json' | 'yaml', expected: string): ParsedBody {
  const unrecognized = (why: string) => badRequest(`the object provided is unrecognized (must be of type ${expected}): ${why}`)
  const text = () => Buffer.from(bytes.subarray(0, 256)).toString()
  if (format === 'yaml') return { value: parseYaml(bytes, unrecognized), duplicates: [], hasBigIntegers: false, text: text() }
  const decoded = decodeJson(bytes)
  if (decoded.kind === 'malformed') throw unrecognized(`couldn't get version/kind; json parse error: ${decoded.message}`)
  return { ...decoded, text: text() }
}

function parseYaml(bytes: Uint8Array, unrecognized: (why: string) => Error): unknown {
  try {
    return load(Buffer.from(bytes).toString())
  } catch (error) {
    if (error instanceof YAMLException) throw unrecognized(`couldn't get version/kind; yaml parse error: ${error.reason}`)
    throw error
  }
}
