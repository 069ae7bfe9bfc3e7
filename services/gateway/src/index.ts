/** Who asks and in which words: the HTTP entry point. */
export type {
  Attempt,
  Authentication,
  GatewayAuthentication,
  RequestAuthenticator,
  TokenAuthenticator,
  TokenQuestion,
} from './authentication/authenticator.ts'
export { certificateAuthenticator } from './authentication/certificate.ts'
export { createGateway, type Gateway, type Loopback } from './gateway.ts'
export type { ListenOptions } from './listen.ts'
export type { GatewayOptions, HealthCheck, VersionInfo } from './parts.ts'
export { type Access, type Authorizer, alwaysAllow, type Decision } from './steps/authorize.ts'
export * from './watch-hub/index.ts'
