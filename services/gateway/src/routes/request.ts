import { isUtf8 } from 'node:buffer'
import type { Catalogue } from '@orch/core/catalogue'
import { printJson } from '@orch/core/json'
import { badRequest, parseApiVersion } from '@orch/core/meta'
import { parseEnvelope } from '@orch/core/protobuf'
import { pageNotFound, parseRequestInfo, refuseUnknownParameters } from '../request/index.ts'
import type { RequestDetails } from '../request/request-details.ts'
import type { RequestLog } from '../request/request-log.ts'
import { type ExplainParts, isAboutSecret, mayExplain, mayRead } from '../steps/explain.ts'
import { readCbor } from '../texts/read-cbor.ts'
import { type DocumentHandler, objectResponse } from './document.ts'

/** The dependencies of the page of a request. */
export type RequestRouteParts = ExplainParts & {
  readonly catalogue: Catalogue
  /** Undefined, or without details, if the server has no control. */
  readonly requestLog: RequestLog | undefined
}

/**
 * Serves one logged request with its query, its trace, its body, and the decisions about it. The path needs a permission. The body, which may contain
 * values of a Secret, is sent with `?body=true` to users who may get the object; so are the changes that plugins made to a Secret.
 */
export const requestRoute: DocumentHandler<RequestRouteParts> = async (context) => {
  const { request, parts } = context
  const { requestLog, explanations, authorizers, names, catalogue } = parts
  const id = context.param('id')
  const { query } = request
  refuseUnknownParameters(query, ['body'])
  const asked = query.get('body') ?? 'false'
  if (asked !== 'true' && asked !== 'false') throw badRequest(`body: ${asked}: must be true or false`)
  if (!/^\d{1,15}$/.test(id)) throw badRequest(`${id}: must be the id of a request of the log, a whole number`)
  const details = requestLog?.detailsOf(Number(id))
  const entry = details === undefined ? undefined : requestLog?.matcher({})(Number(id))
  if (details === undefined || entry === undefined) throw pageNotFound()
  const { method, auditId, traceparent, query: sent } = details
  const info = parseRequestInfo({ method, path: entry.path, isWatch: entry.watch !== undefined })
  const knowsObject = await mayRead(request.user, info, authorizers)
  const kept = (await mayExplain(request.user, names, authorizers)) ? explanations?.find(auditId) : undefined
  const showsValues = knowsObject && (asked === 'true' || !isAboutSecret(info))
  const explanation = kept?.explanation.show({ knowsObject: showsValues, knowsAnswer: request.user.name === entry.user })
  return objectResponse(context, {
    ...entry,
    ...{ method, query: sent, auditId },
    ...(traceparent === '' ? {} : { traceparent }),
    ...(details.bodyBytes === 0 ? {} : { body: shownBody(details, { isAsked: asked === 'true', knowsObject, catalogue }) }),
    ...(explanation === undefined ? {} : { explanation }),
  })
}

interface Reading {
  readonly isAsked: boolean
  readonly knowsObject: boolean
  readonly catalogue: Catalogue
}

function shownBody({ contentType, bodyBytes: bytes, body }: RequestDetails, { isAsked, knowsObject, catalogue }: Reading): object {
  if (body === undefined) return { contentType, bytes, isKept: false }
  if (!isAsked) return { contentType, bytes, isKept: true }
  if (!knowsObject) return { contentType, bytes, isKept: true, hidden: 'you may not get the object' }
  return { contentType, bytes, isKept: true, ...bodyContent(body, contentType, catalogue) }
}

/** The displayed content of a body: its text, or its bytes with its value as JSON. */
type BodyContent = { readonly text: string } | { readonly base64: string; readonly json?: string }

/** Decodes the body of a request. Valid Protobuf and CBOR are also returned as JSON. */
function bodyContent(body: Uint8Array, contentType: string, catalogue: Catalogue): BodyContent {
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
