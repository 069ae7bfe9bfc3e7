import { Metadata, type ServiceError, type StatusObject, status } from '@grpc/grpc-js'
import { UnknownOutcomeError } from '@orch/core/contracts'
import { internal, type StatusError, serviceUnavailable } from '@orch/core/meta'
import { rpcLimits } from './limits.ts'
import { ConnectionLostError, fromWireFailure, NotAskedError, noAnswerInTime, toWireFailure, type WireFailure } from './wire-failure.ts'

/** The trailer with the whole failure as JSON. The suffix marks it as binary. */
const failureTrailer = 'status-bin'

/** A failure as a gRPC error: the nearest code, the message, and the whole failure in a trailer. */
export function toGrpcError(error: unknown): Partial<StatusObject> {
  const failure = toWireFailure(error)
  const metadata = new Metadata()
  metadata.set(failureTrailer, fitting(failure))
  return { code: grpcCodes[failure.status.code] ?? status.INTERNAL, details: (failure.status.message ?? '').slice(0, 1024), metadata }
}

/** The failure of the other side, or the reason why the outcome is unknown. */
export function fromGrpcError(error: ServiceError): StatusError | ConnectionLostError {
  const trailer = error.metadata?.get(failureTrailer)[0]
  if (trailer instanceof Buffer) return fromWireFailure(JSON.parse(trailer.toString()), error)
  switch (error.code) {
    case status.DEADLINE_EXCEEDED:
      return noAnswerInTime(error)
    case status.RESOURCE_EXHAUSTED:
      return internal('a message to another service is too large', { cause: error })
    case status.UNIMPLEMENTED:
      return internal('another service does not know what it was asked for', { cause: error })
    default:
      return new ConnectionLostError(true, { cause: error })
  }
}

/** True if there was no answer in time, from the callee or from services that it called. */
export function isLate(error: unknown): boolean {
  return error instanceof NotAskedError || (error instanceof UnknownOutcomeError && error.code === 504)
}

/** The error of a call without an answer in time, if the call has no effect or is idempotent. */
export function lateEverywhere(cause: unknown): StatusError {
  return serviceUnavailable('a service has not answered in time', { cause, retryAfterSeconds: 1 })
}

function fitting(failure: WireFailure): Buffer {
  const bytes = Buffer.from(JSON.stringify(failure))
  // On the wire, binary trailers are base64.
  if (bytes.length * 1.34 < rpcLimits.metadataBytesMax) return bytes
  const { details: _, ...rest } = failure.status
  return Buffer.from(JSON.stringify({ ...failure, status: { ...rest, message: failure.status.message?.slice(0, 4096) } }))
}

/** The nearest gRPC code of an HTTP code. */
const grpcCodes: Readonly<Record<number, status>> = {
  400: status.INVALID_ARGUMENT,
  401: status.UNAUTHENTICATED,
  403: status.PERMISSION_DENIED,
  404: status.NOT_FOUND,
  409: status.ABORTED,
  410: status.OUT_OF_RANGE,
  422: status.INVALID_ARGUMENT,
  429: status.RESOURCE_EXHAUSTED,
  501: status.UNIMPLEMENTED,
  503: status.UNAVAILABLE,
  504: status.DEADLINE_EXCEEDED,
}
