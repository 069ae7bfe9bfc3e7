import { bearerSubprotocol, offeredSubprotocols } from '../exchange/web-socket-opening.ts'
import { type Authentication, none, refused } from './authenticator.ts'
import { textOfHeader } from './header-text.ts'

/** The token of an `Authorization` header: the text after `Bearer`. Undefined without one. */
export function bearerTokenOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const match = /^bearer[ \t]+(\S.*)$/is.exec(header.trim())
  return match === null ? undefined : textOfHeader(match[1] ?? '')
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The token in the subprotocols of a WebSocket, whose name must be in the domain of the API. */
export function tokenInSubprotocols(
  header: string | undefined,
  apiDomain: string,
): { readonly kind: 'token'; readonly token: string } | Authentication {
  const [first, ...others] = offeredSubprotocols(header)
    .map(bearerSubprotocol)
    .filter((found) => found?.domain === apiDomain)
  if (first === undefined) return none
  if (others.length > 0) return refused('several tokens are offered as subprotocols')
  try {
    const token = utf8.decode(Buffer.from(first.encoded, 'base64url'))
    return token === '' ? none : { kind: 'token', token }
  } catch {
    return refused('the token that is offered as a subprotocol is not UTF-8 in base64 of URLs')
  }
}
