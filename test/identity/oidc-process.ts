import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
// The library brings no types.
// @ts-expect-error
import Provider from 'oidc-provider'

/** Messages to the process, which runs several providers. Keys are JWKs with their private part. */
export type ToProvider =
  | {
      readonly kind: 'start'
      readonly id: number
      readonly certificate: string
      readonly key: string
      readonly keys: readonly object[]
      /** The path prefix after the host; '' for no prefix. */
      readonly path: string
    }
  | { readonly kind: 'rotate'; readonly id: number; readonly keys: readonly object[] }
  /** True: the process cuts connections as if it had no listener. */
  | { readonly kind: 'switch'; readonly id: number; readonly isDown: boolean }
  | { readonly kind: 'stop'; readonly id: number }

/** The messages that the process sends. */
export type FromProvider =
  | { readonly kind: 'started'; readonly id: number; readonly issuer: string }
  | { readonly kind: 'rotated'; readonly id: number }
  | { readonly kind: 'switched'; readonly id: number }
  | { readonly kind: 'stopped'; readonly id: number }
  | { readonly kind: 'asked'; readonly id: number; readonly path: string }

const grant = 'claims'

/** A provider whose only grant returns an ID token with the requested claims. */
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

const tell = (message: FromProvider) => void process.send?.(message)

interface Serving {
  readonly server: Server
  issuer: string
  isDown: boolean
  handle: (request: IncomingMessage, response: ServerResponse) => void
}

const providers = new Map<number, Serving>()

process.on('message', (message: ToProvider) => {
  const { id } = message
  if (message.kind === 'start') return start(message)
  const provider = providers.get(id)
  if (provider === undefined) throw new Error(`there is no provider ${id}`)
  switch (message.kind) {
    case 'rotate':
      provider.handle = aProvider(provider.issuer, message.keys)
      return tell({ kind: 'rotated', id })
    case 'switch':
      provider.isDown = message.isDown
      return tell({ kind: 'switched', id })
    case 'stop':
      providers.delete(id)
      provider.server.close()
      provider.server.closeAllConnections()
      return tell({ kind: 'stopped', id })
  }
})

function start({ id, certificate, key, keys, path }: Extract<ToProvider, { kind: 'start' }>): void {
  const server = createServer({ cert: certificate, key }, (request, response) => {
    tell({ kind: 'asked', id, path: request.url ?? '' })
    if (path !== '') request.url = request.url?.replace(path, '')
    provider.handle(request, response)
  })
  const provider: Serving = { server, issuer: '', isDown: false, handle: () => {} }
  server.on('connection', (socket) => {
    if (provider.isDown) socket.destroy()
  })
  server.listen(0, '127.0.0.1', () => {
    provider.issuer = `https://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
    provider.handle = aProvider(provider.issuer, keys)
    providers.set(id, provider)
    tell({ kind: 'started', id, issuer: provider.issuer })
  })
}
