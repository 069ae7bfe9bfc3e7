import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
// The library brings no types.
// @ts-expect-error
import Provider from 'oidc-provider'

/** What the process is told. Keys are JWKs with their private part. */
export type ToProvider =
  | {
      readonly kind: 'start'
      readonly certificate: string
      readonly key: string
      readonly keys: readonly object[]
      /** Between the host and everything that is served; '' for nothing. */
      readonly path: string
    }
  | { readonly kind: 'rotate'; readonly keys: readonly object[] }
  /** Whether connections are cut, as if nobody were there. */
  | { readonly kind: 'switch'; readonly isDown: boolean }

/** What the process tells. */
export type FromProvider =
  | { readonly kind: 'started'; readonly issuer: string }
  | { readonly kind: 'rotated' }
  | { readonly kind: 'switched' }
  | { readonly kind: 'asked'; readonly path: string }

const grant = 'claims'

/** A provider whose only grant gives an ID token with the claims that are asked for. */
// biome-ignore lint/suspicious/noExplicitAny: the library brings no types.
function aProvider(issuer: string, keys: readonly object[]): any {
  const client = {
    client_id: 'orch',
    client_secret: 'secret',
    grant_types: [grant],
    redirect_uris: [],
    response_types: [],
    token_endpoint_auth_method: 'client_secret_post',
  }
  const other = { ...client, client_id: 'other' }
  const provider = new Provider(issuer, { clients: [client, other], jwks: { keys }, cookies: { keys: ['x'] } })
  provider.registerGrantType(
    grant,
    // biome-ignore lint/suspicious/noExplicitAny: the library brings no types.
    async (ctx: any) => {
      const claims = JSON.parse(ctx.oidc.params.claims_wanted) as Record<string, unknown>
      const token = new provider.IdToken({ ...claims }, { client: ctx.oidc.client, ctx })
      for (const [name, value] of Object.entries(claims)) token.set(name, value)
      ctx.body = { id_token: await token.issue({ use: 'idtoken', expiresAt: claims['exp'] }) }
    },
    ['claims_wanted'],
  )
  return provider.callback()
}

const tell = (message: FromProvider) => process.send?.(message)

let issuer = ''
let isDown = false
let handle: (request: IncomingMessage, response: ServerResponse) => void

process.on('message', (message: ToProvider) => {
  switch (message.kind) {
    case 'start': {
      const server = createServer({ cert: message.certificate, key: message.key }, (request, response) => {
        tell({ kind: 'asked', path: request.url ?? '' })
        if (message.path !== '') request.url = request.url?.replace(message.path, '')
        handle(request, response)
      })
      server.on('connection', (socket) => {
        if (isDown) socket.destroy()
      })
      server.listen(0, '127.0.0.1', () => {
        issuer = `https://127.0.0.1:${(server.address() as AddressInfo).port}${message.path}`
        handle = aProvider(issuer, message.keys)
        tell({ kind: 'started', issuer })
      })
      break
    }
    case 'rotate':
      handle = aProvider(issuer, message.keys)
      tell({ kind: 'rotated' })
      break
    case 'switch':
      isDown = message.isDown
      tell({ kind: 'switched' })
  }
})
