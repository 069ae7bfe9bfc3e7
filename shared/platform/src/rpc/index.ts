/** Contracts between processes, over gRPC. Imported only where services are apart: the library costs time to load. */
export { parseRpcAddress, type RpcAddress } from './address.ts'
export { type Codec, codecOf } from './codec.ts'
export { type Dialled, type DialOptions, dialContract } from './dial.ts'
export { rpcLimits } from './limits.ts'
export type { RpcTelemetry } from './observe.ts'
export { type RenewalOptions, renewableChannels } from './renewable-channel.ts'
export { type Offer, serveContract } from './serve.ts'
export { ListenError, openRpcServer, type RpcServer, type RpcServerOptions } from './server.ts'
