import type { Names } from '@orch/core/names'
import type { Exchange, HeaderFields } from '../exchange/exchange.ts'

/** The headers of answers to browsers. */
export interface BrowserOptions {
  /** Origins of pages that may read answers. */
  readonly allowedOrigins: readonly RegExp[]
  /** Value of `Strict-Transport-Security`; empty for no header. */
  readonly transportSecurity: string
}

/** Header fields for one answer. */
interface BrowserAnswer {
  readonly headers: HeaderFields
  /** True for a preflight request: its answer has these headers and no body. */
  readonly isPreflight: boolean
}

/** The header fields of an answer for browsers; undefined for none. */
export type BrowserHeaders = (exchange: Exchange) => BrowserAnswer | undefined

/** The headers that kube-apiserver allows, and those that this project's clients send. */
const allowedHeaders = [
  'Content-Type',
  'Content-Length',
  'Accept-Encoding',
  'X-CSRF-Token',
  'Authorization',
  'X-Requested-With',
  'If-Modified-Since',
  'Accept',
  'If-None-Match',
  'Impersonate-User',
  'Impersonate-Uid',
  'Impersonate-Group',
  'Audit-Id',
  'Traceparent',
]

const corsHeaders = {
  'access-control-allow-methods': 'POST, GET, OPTIONS, PUT, DELETE, PATCH',
  'access-control-expose-headers': 'Date',
  'access-control-allow-credentials': 'true',
} as const

/** Maximum length of an origin: scheme, host and port. Longer texts are not origins. */
const originLengthMax = 300

/** Undefined if no answer has any, so that requests need no check. */
export function createBrowserHeaders(
  { allowedOrigins, transportSecurity }: BrowserOptions,
  { explainHeader }: Pick<Names, 'explainHeader'>,
): BrowserHeaders | undefined {
  if (allowedOrigins.length === 0 && transportSecurity === '') return undefined
  const allowed = { 'access-control-allow-headers': [...allowedHeaders, explainHeader].join(', ') }
  const common: HeaderFields = transportSecurity === '' ? {} : { 'strict-transport-security': transportSecurity }
  return (exchange) => {
    const origin = exchange.header('origin')
    if (origin === undefined || origin.length > originLengthMax || !allowedOrigins.some((pattern) => pattern.test(origin)))
      return { headers: common, isPreflight: false }
    return {
      headers: { ...common, 'access-control-allow-origin': origin, ...allowed, ...corsHeaders },
      isPreflight: exchange.method === 'OPTIONS',
    }
  }
}
