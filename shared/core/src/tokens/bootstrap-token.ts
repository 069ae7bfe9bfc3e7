import { at } from '@orch/cel/at'
import { type ApiObject, parseInstant } from '../meta/index.ts'
import { type Names, subdomainLabel } from '../names.ts'

/** The two halves of a bootstrap token: a public id and a secret. */
export interface BootstrapToken {
  readonly id: string
  readonly secret: string
}

/** The contents of the Secret of a bootstrap token. */
interface BootstrapSecret extends BootstrapToken {
  /** Undefined if it never expires. */
  readonly expiresMs?: number | undefined
  readonly mayAuthenticate: boolean
  readonly maySign: boolean
  readonly groups: readonly string[]
}

/** The result of reading a bootstrap token's Secret. */
export type BootstrapSecretReading =
  | { readonly kind: 'token'; readonly secret: BootstrapSecret }
  | { readonly kind: 'malformed'; readonly message: string }

const namePrefix = 'bootstrap-token-'
const groupPrefix = 'system:bootstrappers'

/** Parses `abcdef.0123456789abcdef`; undefined for other kinds of token. */
export function parseBootstrapToken(text: string): BootstrapToken | undefined {
  const match = /^([a-z0-9]{6})\.([a-z0-9]{16})$/.exec(text)
  // `$` also matches before a final line break.
  if (match === null || text.endsWith('\n')) return undefined
  return { id: at(match, 1), secret: at(match, 2) }
}

/** The name of a token's Secret. */
export function bootstrapSecretName(id: string): string {
  return namePrefix + id
}

/** The type of these Secrets: `bootstrap.orch.io/token`. */
export function bootstrapSecretType(names: Names): string {
  return subdomainLabel(names, 'bootstrap', 'token')
}

/** Reads a token's Secret. The caller checks the expiration. */
export function readBootstrapSecret(names: Names, object: ApiObject): BootstrapSecretReading {
  const data = (object['data'] ?? {}) as Readonly<Record<string, string>>
  const malformed = (message: string): BootstrapSecretReading => ({ kind: 'malformed', message })
  if (object['type'] !== bootstrapSecretType(names)) return malformed('the Secret has another type')
  const id = textOf(data['token-id'])
  const secret = textOf(data['token-secret'])
  if (parseBootstrapToken(`${id}.${secret}`) === undefined) return malformed('token-id or token-secret is missing or has a wrong form')
  if (object.metadata.name !== bootstrapSecretName(id)) return malformed('the name of the Secret does not end with its token-id')
  const groups = textOf(data['auth-extra-groups'])
    .split(',')
    .filter((group) => group !== '')
  if (!groups.every(isBootstrapGroup)) return malformed('auth-extra-groups names a group that bootstrap tokens may not have')
  return {
    kind: 'token',
    secret: {
      id,
      secret,
      expiresMs: bootstrapExpiryMs(object),
      mayAuthenticate: textOf(data['usage-bootstrap-authentication']) === 'true',
      maySign: textOf(data['usage-bootstrap-signing']) === 'true',
      groups: [...new Set([groupPrefix, ...groups])],
    },
  }
}

/** The expiration time in a token's Secret; undefined for never. An invalid time counts as expired. */
export function bootstrapExpiryMs(object: ApiObject): number | undefined {
  const data = (object['data'] ?? {}) as Readonly<Record<string, string>>
  if (data['expiration'] === undefined) return undefined
  const text = textOf(data['expiration'])
  if (text === '') return undefined
  const instant = parseInstant(text)
  return instant === undefined ? 0 : instant.seconds * 1000 + Math.floor(instant.nanoseconds / 1_000_000)
}

function isBootstrapGroup(group: string): boolean {
  return /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/.test(group) && !group.endsWith('\n')
}

/** Decodes a text of a token's Secret, which is always ASCII. */
function textOf(base64: string | undefined): string {
  try {
    return atob(base64 ?? '')
  } catch {
    return ''
  }
}
