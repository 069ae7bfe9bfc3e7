import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { certificateReason } from '@orch/core/certificate-error'
import { isJsonObject, parseObject } from '@orch/core/json'
import { ConfigurationError } from '../configuration-error.ts'
import type { Credential, CredentialSource, CredentialSurroundings } from './credential.ts'

/** Tokens of an OpenID provider: the auth provider `oidc` of a user in a client configuration. */
export interface OidcLogin {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly idToken: string
  readonly refreshToken: string
  /** PEM. Default: the authorities of the machine. */
  readonly certificateAuthority?: string
  /** The file and the user in it to which refreshed tokens are written. */
  readonly keptIn?: { readonly file: string; readonly user: string }
}

/** Reads the `config` of an auth provider `oidc`. */
export function readOidcLogin(config: Readonly<Record<string, unknown>>, user: string, more: Pick<OidcLogin, 'keptIn'>): OidcLogin {
  const text = (name: string) => (typeof config[name] === 'string' ? config[name] : '')
  const needed = (name: string) => {
    if (text(name) === '') throw new ConfigurationError(`user ${user}: the auth provider oidc must have ${name}`)
    return text(name)
  }
  const authority = text('idp-certificate-authority-data')
  const file = text('idp-certificate-authority')
  return {
    issuer: needed('idp-issuer-url'),
    clientId: needed('client-id'),
    clientSecret: text('client-secret'),
    idToken: text('id-token'),
    refreshToken: text('refresh-token'),
    ...(authority === '' && file === ''
      ? {}
      : { certificateAuthority: authority === '' ? readFileSync(file, 'utf8') : Buffer.from(authority, 'base64').toString() }),
    ...more,
  }
}

/** A token with less remaining lifetime than this is refreshed. */
const remainingMsMin = 10_000

/** Gives the ID token; if it has expired, fetches a new one from the provider with the refresh token. */
export class OidcTokens implements CredentialSource {
  readonly #login: OidcLogin
  readonly #surroundings: CredentialSurroundings
  readonly #closing = new AbortController()
  #idToken: string
  #refreshToken: string
  #isFirst = true

  constructor(login: OidcLogin, surroundings: CredentialSurroundings) {
    this.#login = login
    this.#surroundings = surroundings
    this.#idToken = login.idToken
    this.#refreshToken = login.refreshToken
  }

  async obtain(): Promise<Credential> {
    const expiresAtMs = expiryOf(this.#idToken)
    // A token that the server has refused is not used again, even if it has not expired.
    const isGood = this.#isFirst && expiresAtMs !== undefined && expiresAtMs - this.#surroundings.now() > remainingMsMin
    this.#isFirst = false
    if (!isGood) await this.#refresh()
    return credentialOf(this.#idToken)
  }

  close(): void {
    this.#closing.abort()
  }

  async #refresh(): Promise<void> {
    const { issuer, clientId, clientSecret, keptIn } = this.#login
    const wrong = (what: string) => new ConfigurationError(`refreshing the ID token of ${issuer}: ${what}`)
    if (this.#refreshToken === '') throw wrong('the token has expired, and there is no refresh-token')
    const found = await this.#call(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
    const endpoint = isJsonObject(found) ? found['token_endpoint'] : undefined
    if (typeof endpoint !== 'string') throw wrong('its configuration has no token_endpoint')
    const form = { grant_type: 'refresh_token', refresh_token: this.#refreshToken, client_id: clientId, client_secret: clientSecret }
    const answer = await this.#call(endpoint, new URLSearchParams(form).toString())
    const { id_token: idToken, refresh_token: refreshToken } = isJsonObject(answer) ? answer : {}
    if (typeof idToken !== 'string') {
      throw wrong('the answer contains no id_token: the scope openid was not asked for at login, or the provider gives none with a refresh')
    }
    this.#idToken = idToken
    if (typeof refreshToken === 'string') this.#refreshToken = refreshToken
    if (keptIn !== undefined) await keepTokens(keptIn, this.#idToken, this.#refreshToken)
  }

  #call(url: string, form?: string): Promise<unknown> {
    const { issuer, certificateAuthority: ca } = this.#login
    const wrong = (what: string) => new ConfigurationError(`refreshing the ID token of ${issuer}: ${what}`)
    return new Promise((resolve, reject) => {
      const headers = form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }
      const options = {
        method: form === undefined ? 'GET' : 'POST',
        agent: false,
        headers,
        signal: this.#closing.signal,
        // Any listed certificate is trusted, including intermediate authorities and the provider's own certificate.
        ...(ca === undefined ? {} : { ca, allowPartialTrustChain: true }),
      } as const
      const sent = request(url, options, (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('error', (error) => reject(wrong(error.message)))
        response.on('end', () => {
          const text = Buffer.concat(parts).toString()
          if (response.statusCode !== 200) return reject(wrong(`${url} answered ${response.statusCode} ${text.slice(0, 200)}`))
          try {
            resolve(JSON.parse(text))
          } catch {
            reject(wrong(`${url} did not answer JSON`))
          }
        })
      })
      sent.on('error', (error) => reject(wrong(certificateReason(error) ?? error.message)))
      // Node reports no error for an answer that changes the protocol.
      sent.on('upgrade', (_answer, socket) => {
        socket.destroy()
        reject(wrong(`${url} has changed the protocol`))
      })
      sent.end(form)
    })
  }
}

function credentialOf(token: string): Credential {
  const expiresAtMs = expiryOf(token)
  return { token, ...(expiresAtMs === undefined ? {} : { expiresAtMs: expiresAtMs - remainingMsMin }) }
}

/** The `exp` of a token in milliseconds; the server checks the signature. */
function expiryOf(token: string): number | undefined {
  const expiry = parseObject(Buffer.from(token.split('.')[1] ?? '', 'base64url'))?.['exp']
  return typeof expiry === 'number' ? expiry * 1000 : undefined
}

/** Some providers issue each refresh token once, so the new one is stored for the next process. */
async function keepTokens({ file, user }: NonNullable<OidcLogin['keptIn']>, idToken: string, refreshToken: string): Promise<void> {
  const { readYaml, printYaml } = await import('@orch/core/yaml')
  const configuration = readYaml(readFileSync(file, 'utf8'))
  const users: unknown[] = isJsonObject(configuration) && Array.isArray(configuration['users']) ? configuration['users'] : []
  for (const entry of users) {
    if (!isJsonObject(entry) || entry['name'] !== user || !isJsonObject(entry['user'])) continue
    const provider = entry['user']['auth-provider']
    if (isJsonObject(provider) && isJsonObject(provider['config']))
      Object.assign(provider['config'], { 'id-token': idToken, 'refresh-token': refreshToken })
  }
  const draft = `${file}.${process.pid}.new`
  writeFileSync(draft, printYaml(configuration), { mode: 0o600 })
  renameSync(draft, file)
}
