/** Contracts between processes, over gRPC. Only distributed services import it, because the library is slow to load. */

export { type Codec, codecOf } from '../codec.ts'
export type { RpcAddress } from './address.ts'
export { type Dialled, type DialOptions, dialContract } from './dial.ts'
export { healthContract, servingStatus } from './health.ts'
export { announcedName, type CallerTexts, HostCredentials } from './host-credentials.ts'
export { rpcLimits } from './limits.ts'
export type { RpcTelemetry } from './observe.ts'
export { type Offer, serveContract } from './offer.ts'
export { afterPatience } from './patience.ts'
export { type RenewalOptions, renewableChannels } from './renewable-channel.ts'
export { ListenError, openRpcServer, type RpcServer, type RpcServerOptions } from './server.ts'
