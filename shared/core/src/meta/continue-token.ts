import { cannotUnmarshal, decodeJson, isJsonObject } from '../json/index.ts'
import { domainGroup, type Names } from '../names.ts'
import { parseBase64Url, toBase64Url } from './base64.ts'
import type { Revision } from './revision.ts'

/**
 * The start of the next page of a list: a revision in an epoch of the store, and a key. `start` is
 * relative to the collection, so that a token cannot reach outside of it: `default/web-0\0` is the key just after `web-0`.
 * The revision `latest` means the latest state when the token is used, so the token never expires. It
 * is returned with the 410 of an expired token; a client that uses it accepts an inconsistent list.
 */
export type ContinueToken = { readonly start: string } & (
  | { readonly revision: Revision; readonly epoch: string }
  | { readonly revision: 'latest' }
)

/** A parsed token, or the reason why the text is invalid. */
export type ContinueTokenReading = { kind: 'token'; token: ContinueToken } | { kind: 'malformed'; message: string }

/** Maximum length of a token: two names of 253 characters, in JSON, in base64url. */
const tokenLengthMax = 4096

/** kube-apiserver's number for the latest revision; it treats every negative number like this. */
const latestRevision = -1

const malformed = (why: string): ContinueTokenReading => ({ kind: 'malformed', message: `continue key is not valid: ${why}` })

/** The token's text: base64url of a small JSON object. */
export function printContinueToken(names: Names, token: ContinueToken): string {
  const v = tokenVersion(names)
  const { start } = token
  const content = token.revision === 'latest' ? { v, rv: latestRevision, start } : { v, rv: token.revision, start, e: token.epoch }
  return toBase64Url(new TextEncoder().encode(JSON.stringify(content)))
}

/** Parses a token from a client, which may be forged: only its form is trusted. */
export function parseContinueToken(names: Names, text: string): ContinueTokenReading {
  if (text.length > tokenLengthMax) return malformed('too long')
  const bytes = parseBase64Url(text)
  if (bytes === undefined) return malformed(`illegal base64 data at input byte ${illegalByteOf(text)}`)
  const decoded = decodeJson(bytes)
  if (decoded.kind === 'malformed') return malformed(decoded.message)
  const content = decoded.value ?? {}
  if (!isJsonObject(content)) return malformed(cannotUnmarshal(content, 'storage.continueToken'))
  const { v = '', rv = 0, start = '', e } = content
  if (typeof v !== 'string') return malformed(wrongField(v, 'v', 'string'))
  if (typeof rv !== 'number' || !Number.isInteger(rv)) return malformed(wrongField(rv, 'rv', 'int64'))
  if (typeof start !== 'string') return malformed(wrongField(start, 'start', 'string'))
  if (v !== tokenVersion(names)) return malformed(`server does not recognize this encoded version ${v}`)
  if (rv === 0 || !Number.isSafeInteger(rv)) return malformed(`incorrect encoded start resourceVersion (version ${v})`)
  if (start === '') return malformed(`encoded start key empty (version ${v})`)
  if (!isRelativeKey(start)) return malformed(start)
  if (rv < 0) return { kind: 'token', token: { revision: 'latest', start } }
  if (typeof e !== 'string') return malformed('incorrect encoded epoch')
  return { kind: 'token', token: { revision: rv, epoch: e, start } }
}

/** The offset of the first character that is not base64url, or else of the last one, which is incomplete. */
function illegalByteOf(text: string): number {
  const stranger = text.search(/[^A-Za-z0-9_-]/)
  return stranger < 0 ? text.length - 1 : stranger
}

function wrongField(value: unknown, name: string, type: string): string {
  const isWrongNumber = typeof value === 'number' && type === 'int64'
  const found = cannotUnmarshal(value, type).replace(/ into .*$/, isWrongNumber ? ` ${value}` : '')
  return `${found} into Go struct field continueToken.${name} of type ${type}`
}

function tokenVersion(names: Names): string {
  return `${domainGroup(names, 'meta')}/v1`
}

/** True for a key below the collection: not empty, no `..`, and NUL only at its end, where it means "after this key". */
function isRelativeKey(start: string): boolean {
  const key = start.endsWith('\0') ? start.slice(0, -1) : start
  if (key === '' || key.startsWith('/') || key.includes('\0')) return false
  return !key.split('/').some((segment) => segment === '..' || segment === '.')
}
