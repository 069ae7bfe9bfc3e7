import { rpcLimits } from './limits.ts'

/** Path of a method: `/orch.storage.v1.Storage/Get`. */
export function methodPath(contractName: string, method: string): string {
  return `/${contractName}/${method.charAt(0).toUpperCase()}${method.slice(1)}`
}

/** Metadata key of the W3C trace context. */
export const traceparentKey = 'traceparent'

/** Options of both ends of a connection. */
export const channelOptions = {
  'grpc.max_receive_message_length': rpcLimits.messageBytesMax,
  'grpc.max_send_message_length': rpcLimits.messageBytesMax,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.min_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': rpcLimits.reconnectDelayMsMax,
}
