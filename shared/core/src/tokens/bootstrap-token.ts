import { at } from '@orch/cel/at'
import type { ApiObject } from '../meta/object-meta.ts'
import { parseInstant } from '../meta/time.ts'
import { type Names, subdomainLabel } from '../names.ts'

/** The two halves of a bootstrap token: the id may be known to anybody, the secret may not. */
export interface BootstrapToken {
  readonly id: string
  readonly secret: string
}

/** The contents of a bootstrap token's Secret. */
interface BootstrapSecret extends BootstrapToken {
  /** Absent: it has no end. */
  readonly expiresMs?: number | undefined
  readonly mayAuthenticate: boolean
  readonly maySign: boolean
  readonly groups: readonly string[]
}

/** The result of reading a Secret of a bootstrap token. */
export type BootstrapSecretReading =
  | { readonly kind: 'token'; readonly secret: BootstrapSecret }
  | { readonly kind: 'malformed'; readonly message: string }

const namePrefix = 'bootstrap-token-'
const groupPrefix = 'system:bootstrappers'

/** `abcdef.0123456789abcdef`; undefined: another kind of token. */
export function parseBootstrapToken(text: string): BootstrapToken | undefined {
  const match = /^([a-z0-9]{6})\.([a-z0-9]{16})$/.exec(text)
  // `$` lets a line break at the end pass.
  if (match === null || text.endsWith('\n')) return undefined
  return { id: at(match, 1), secret: at(match, 2) }
}

/** Name of the Secret of a token. */
export function bootstrapSecretName(id: string): string {
  return namePrefix + id
}

/** Type of such Secrets: `bootstrap.orch.io/token`. */
export function bootstrapSecretType(names: Names): string {
  return subdomainLabel(names, 'bootstrap', 'token')
}

/** Reads the Secret of a token. Whether it has expired is for the caller to say. */
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

/** Time of expiration in the Secret of a token; absent: never. An unreadable time is past. */
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

/** Everything that a token's Secret says is ASCII. */
function textOf(base64: string | undefined): string {
  try {
    return atob(base64 ?? '')
  } catch {
    return ''
  }
}
