import { Metadata, type ServiceError, type StatusObject, status } from '@grpc/grpc-js'
import { internal, type Status, StatusError, serviceUnavailable, timeout } from '@orch/core'
import { rpcLimits } from './limits.ts'

/** Trailer with the whole Status as JSON. The suffix makes it binary on the wire. */
const statusTrailer = 'status-bin'

/** A failure as gRPC carries it: the nearest code, the message, and the whole Status in a trailer. */
export function toGrpcError(error: unknown): Partial<StatusObject> {
  const status = error instanceof StatusError ? error.status : internal('an unexpected error in another service', { cause: error }).status
  const metadata = new Metadata()
  metadata.set(statusTrailer, fitting(status))
  return { code: grpcCode(status.code), details: (status.message ?? '').slice(0, 1024), metadata }
}

/** The failure that the other side had, or the one that kept us from reaching it. */
export function fromGrpcError(error: ServiceError): StatusError {
  const trailer = error.metadata?.get(statusTrailer)[0]
  if (trailer instanceof Buffer) return new StatusError(JSON.parse(trailer.toString()) as Status, { cause: error })
  switch (error.code) {
    case status.DEADLINE_EXCEEDED:
      return timeout('a service has not answered in time', { cause: error })
    case status.CANCELLED:
      return timeout('the call was cancelled', { cause: error })
    case status.UNAVAILABLE:
      return serviceUnavailable('a service cannot be reached', { cause: error })
    default:
      return internal('a call to a service has failed', { cause: error })
  }
}

function fitting(whole: Status): Buffer {
  const bytes = Buffer.from(JSON.stringify(whole))
  // Binary trailers travel as base64.
  if (bytes.length * 1.34 < rpcLimits.metadataBytesMax) return bytes
  const { details: _, ...rest } = whole
  return Buffer.from(JSON.stringify({ ...rest, message: whole.message?.slice(0, 4096) }))
}

function grpcCode(code: number): status {
  switch (code) {
    case 400:
    case 422:
      return status.INVALID_ARGUMENT
    case 401:
      return status.UNAUTHENTICATED
    case 403:
      return status.PERMISSION_DENIED
    case 404:
      return status.NOT_FOUND
    case 409:
      return status.ABORTED
    case 410:
      return status.OUT_OF_RANGE
    case 429:
      return status.RESOURCE_EXHAUSTED
    case 503:
      return status.UNAVAILABLE
    case 504:
      return status.DEADLINE_EXCEEDED
    default:
      return status.INTERNAL
  }
}
