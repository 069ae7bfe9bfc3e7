import { toKeySet, toProviderDocument } from '../authentication/account-token-issuer.ts'
import type { GatewayParts } from '../parts.ts'
import type { GatewayRequest } from '../request.ts'
import { commonHeaders, pageNotFound, sendBytes } from '../respond.ts'

/** Path of the public keys. */
export const keysPath = '/openid/v1/jwks'

/** What others need to know to check tokens of service accounts. Not served where the issuer is no URL that leads here. */
export function providerRoute(request: GatewayRequest, parts: GatewayParts): void | Promise<void> {
  const { authentication, options, state } = parts
  const ownKeysUri = `https://${state.address}${options.pathPrefix ?? ''}${keysPath}`
  const document = authentication.issuer === undefined ? undefined : toProviderDocument(authentication.issuer, ownKeysUri)
  if (document === undefined) throw pageNotFound()
  return respondPublic(request, 'application/json', document)
}

/** The public keys. */
export function keysRoute(request: GatewayRequest, { authentication: { issuer } }: GatewayParts): void | Promise<void> {
  if (issuer?.name.startsWith('https://') !== true) throw pageNotFound()
  return respondPublic(request, 'application/jwk-set+json', toKeySet(issuer))
}

/** Both change with the configuration alone. */
function respondPublic(request: GatewayRequest, contentType: string, document: object): void | Promise<void> {
  const headers = { ...commonHeaders(request, contentType), 'cache-control': 'public, max-age=3600' }
  return sendBytes(request, 200, headers, Buffer.from(JSON.stringify(document)))
}
