/** Calls to webhooks: addresses of their Services, certificates, credentials and connections. */
export { createServiceAddresses } from './addresses.ts'
export * from './caller.ts'
export * from './credentials.ts'
export * from './target.ts'
