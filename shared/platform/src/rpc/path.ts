import { rpcLimits } from './limits.ts'

/** The path of a method: `/orch.storage.v1.Storage/Get`. */
export function methodPath(contractName: string, method: string): string {
  return `/${contractName}/${wireName(method)}`
}

/** The name of a method on the wire: `Get`. */
export function wireName(method: string): string {
  return `${method.charAt(0).toUpperCase()}${method.slice(1)}`
}

/** The method for batches of calls. No contract has a method of this name. */
export const exchangeMethod = 'exchange'

/** Metadata key of the W3C trace context. */
export const traceparentKey = 'traceparent'
/** Metadata key of the id of the client's request. */
export const requestIdKey = 'request-id'

/** Options of both ends of a connection. */
export const channelOptions = {
  'grpc.max_receive_message_length': rpcLimits.messageBytesMax,
  'grpc.max_send_message_length': rpcLimits.messageBytesMax,
  'grpc.keepalive_time_ms': rpcLimits.keepaliveMs,
  'grpc.keepalive_timeout_ms': rpcLimits.keepaliveTimeoutMs,
}

/** Options of the connecting side. Connections between services use no proxy and no settings from DNS. */
export const dialOptions = {
  ...channelOptions,
  'grpc-node.flow_control_window': rpcLimits.windowBytes,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.min_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': rpcLimits.reconnectDelayMsMax,
  'grpc.keepalive_permit_without_calls': 1,
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.use_local_subchannel_pool': 1,
}
