/** Calls to remote servers: addresses of their Services, certificates, credentials and connections. */
export {
  type Address,
  type CallPlaces,
  createClusterAddresses,
  createServiceAddresses,
  noPlaces,
  type ServiceAddresses,
  type ServicePlace,
  UnresolvedService,
} from './addresses.ts'
export type { CallAnswer } from './answer.ts'
export * from './caller.ts'
export { ContextAgent, openedSocket } from './context-agent.ts'
export { TlsContexts } from './contexts.ts'
export { type Credential, credentialFor, noCredentials, serviceCredential, type WebhookCredentials } from './credentials.ts'
export * from './endpoint-slices.ts'
export * from './target.ts'
export { unreachedReason } from './unreached.ts'
