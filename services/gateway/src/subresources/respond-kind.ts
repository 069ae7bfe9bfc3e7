import type { Subresource } from '@orch/core/catalogue'
import { printJson } from '@orch/core/json'
import { printProtobuf } from '@orch/core/protobuf'
import { commonHeaders, type GatewayRequest, type RespondParts, respondJson, respondObject, sendBytes } from '../request/index.ts'

/** Answers with an object of a generated kind that is not stored. */
export function respondKind(
  request: GatewayRequest,
  { kind, apiVersion, readers: { protobuf } }: Subresource,
  { code, object }: { readonly code: number; readonly object: object },
  { names }: RespondParts,
): void | Promise<void> {
  if (request.plainFormat !== 'protobuf' || protobuf === undefined) return respondJson(request, code, Buffer.from(printJson(object)))
  const bytes = printProtobuf({ apiVersion, kind, type: protobuf.type, object })
  return sendBytes(request, code, commonHeaders(request, names.protobufMediaType), bytes)
}

/** Answers with the creation of something other than an object. */
export function respondCreated(request: GatewayRequest, parts: RespondParts): void | Promise<void> {
  return respondObject(request, 201, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }, parts)
}
