import { toKeySet, toProviderDocument } from '../authentication/account-token-issuer.ts'
import type { Authenticators } from '../authentication/authenticators.ts'
import { pageNotFound } from '../request/respond.ts'
import type { GatewayState } from '../server/state.ts'
import { bytesResponse, type DocumentHandler, type DocumentResponse } from './document.ts'

/** The dependencies of the documents of the token issuer. */
export interface IssuerParts {
  readonly authentication: Pick<Authenticators, 'issuer'>
  readonly state: Pick<GatewayState, 'address'>
  /** Prefix of all paths: `/base`. */
  readonly pathPrefix: string
}

/** Path of the public keys. */
export const keysPath = '/openid/v1/jwks'

/** Media type of the public keys. */
export const keysType = 'application/jwk-set+json'

/** The document with which other servers verify tokens of service accounts. Not served if the issuer is not a URL of this server. */
export const providerRoute: DocumentHandler<IssuerParts> = ({ parts }) => {
  const { authentication, pathPrefix, state } = parts
  const ownKeysUri = `https://${state.address}${pathPrefix}${keysPath}`
  const document = authentication.issuer === undefined ? undefined : toProviderDocument(authentication.issuer, ownKeysUri)
  if (document === undefined) throw pageNotFound()
  return publicResponse('application/json', document)
}

/** The public keys. */
export const keysRoute: DocumentHandler<IssuerParts> = ({ parts }) => {
  const { issuer } = parts.authentication
  if (issuer?.name.startsWith('https://') !== true) throw pageNotFound()
  return publicResponse(keysType, toKeySet(issuer))
}

/** Both change only with the configuration. */
function publicResponse(contentType: string, document: object): DocumentResponse {
  return bytesResponse(Buffer.from(JSON.stringify(document)), { 'content-type': contentType, 'cache-control': 'public, max-age=3600' })
}
