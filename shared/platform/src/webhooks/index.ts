/** Calls to servers behind this one: addresses of their Services, certificates, credentials and connections. */
export { type Address, createClusterAddresses, createServiceAddresses, type ServiceAddresses, type ServicePlace } from './addresses.ts'
export * from './caller.ts'
export { ContextAgent } from './context-agent.ts'
export { TlsContexts } from './contexts.ts'
export * from './credentials.ts'
export * from './target.ts'
export { unreachedReason } from './unreached.ts'
