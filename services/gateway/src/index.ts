/** The HTTP gateway: authentication, negotiation and verbs. */

export type { Auditor } from './audit/auditor.ts'
export {
  type Attempt,
  type Authentication,
  type GatewayAuthentication,
  none as noCredential,
  type RequestAuthenticator,
  type TokenAuthenticator,
  type TokenQuestion,
} from './authentication/authenticator.ts'
export { type AnonymousAccess, createCertificateAuthenticator } from './authentication/authenticators.ts'
export { type Authorities, type AuthoritySource, splitPem } from './authentication/certificate/authorities.ts'
export { openAuthorityFiles } from './authentication/certificate/peer-reader.ts'
export { outsideCredentialKey } from './authentication/extra-keys.ts'
export type { ClaimCondition, ClaimMapping, ClaimRules } from './authentication/oidc/claims.ts'
export { createFetchJson } from './authentication/oidc/fetch-json.ts'
export { Issuer, type IssuerOptions, type OidcAlgorithm, OidcAuthenticator, oidcAlgorithms } from './authentication/oidc/oidc.ts'
export * from './authentication/open-authentication.ts'
export { createRequestHeaderAuthenticator, type RequestHeaderOptions } from './authentication/request-header/request-header.ts'
export { parseStaticTokens, type StaticTokens } from './authentication/static-tokens.ts'
export { createWebhookAuthenticator } from './authentication/webhook/webhook.ts'
export * from './authorization/attribute-policy.ts'
export * from './authorization/authorization.ts'
export { type AuthorizationMetrics, createAuthorizationMetrics } from './authorization/authorization-metrics.ts'
export type { Access, Authorizer, Decision } from './authorization/authorizer.ts'
export { createAccessWebhook, type ReviewAnswer, webhookRules } from './authorization/webhook.ts'
export * from './faults/effects.ts'
export type { Fault, FaultHandle, FaultMatch, FaultRule } from './faults/fault.ts'
export { asBadRequest, matchOf, printFault, readFault, readWatchMatch } from './faults/fault-spec.ts'
export { Faults } from './faults/faults.ts'
export { Members } from './faults/members.ts'
export type { FreezeStrength, FrozenReads } from './faults/stale-reads.ts'
export type { ListedWatch, WatchFault, WatchMatch } from './faults/watch-faults.ts'
export { createGateway, type Gateway } from './gateway.ts'
export type { GatewayOptions } from './gateway-options.ts'
export type { ListenOptions } from './listener/listener.ts'
export { canSharePorts } from './listener/shared-port.ts'
export { KeptDetails } from './request/request-details.ts'
export { refuseUnknownParameters } from './request/request-info.ts'
export { printRequests, type RequestFilter, RequestLog } from './request/request-log.ts'
export type { RequestMatch, TextMatch } from './request/request-match.ts'
export type { ControlAnswer, ControlCall, ControlHandler } from './routes/control.ts'
export type { HealthCheck } from './server/health-check.ts'
export { type LimitShare, shareOf } from './server/limit-share.ts'
export type { VersionInfo } from './server/version-info.ts'
export type { OrderedRequest, RequestOrder } from './steps/take-turn.ts'
export * from './watch-hub/index.ts'
export { type BootstrapWrite, ownUser } from './write/bootstrap-objects.ts'
export type { LoadedObject, LoadOutcome, LoadSettings, PlacedObject } from './write/load-objects.ts'
