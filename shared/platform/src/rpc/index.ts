/** Contracts between processes, over gRPC. Imported only where services are apart: the library costs time to load. */
export { type Dialled, dialContract } from './dial.ts'
export { rpcLimits } from './limits.ts'
export { type Offer, openRpcServer, type RpcServer, serveContract } from './serve.ts'
