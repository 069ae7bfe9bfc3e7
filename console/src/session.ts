import type { Names } from '@orch/core/names'
import { signal } from '@preact/signals'

/** Facts about the server, from the gateway. */
export interface ServerFacts extends Pick<Names, 'profile' | 'apiDomain' | 'labelDomain' | 'explainHeader'> {
  /** The emulated release, `1.37`. */
  readonly release: string
}

/** A session of this browser. */
interface Session {
  readonly user: { readonly name: string; readonly groups: readonly string[] }
  /** Expiry in milliseconds since 1970. */
  readonly expires: number
  readonly server: ServerFacts
}

/** The state of the session. Without one the page explains how to open it. */
export type SessionState =
  | { readonly kind: 'opening' }
  | { readonly kind: 'open'; readonly session: Session }
  | { readonly kind: 'closed'; readonly reason: string }

export const sessionState = signal<SessionState>({ kind: 'opening' })

/** False between an unanswered request and the next answer. */
export const isReachable = signal(true)

/** Tabs share cookies and the token. Unlike cookies, local storage is separate for each port. */
const tokenKey = 'console-token'

/** The path of the console: `/console` below the server's path prefix. */
const base = location.pathname.replace(/\/[^/]*$/, '')

/** The ticket of a link; undefined for any other place. */
function ticketOf({ hash }: Location): string | undefined {
  return /^#ticket=([\w-]+)$/.exec(hash)?.[1]
}

/** Opens a session with the ticket in the link, or continues the current session. A link that the user enters in this tab replaces the session. */
export async function openSession(): Promise<void> {
  // A browser does not load a page again for another fragment.
  addEventListener('hashchange', () => ticketOf(location) !== undefined && location.reload())
  const ticket = ticketOf(location)
  if (ticket === undefined) {
    await resume()
    return
  }
  // Removes the ticket from the history and from copied URLs.
  history.replaceState(null, '', `${location.pathname}#/now`)
  const body = JSON.stringify({ ticket })
  const response = await fetch(`${base}/session`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const answer = await response.json()
  if (response.status !== 201) {
    // Opening a link a second time continues its session.
    await resume(String(answer.message))
    return
  }
  localStorage.setItem(tokenKey, answer.token)
  sessionState.value = { kind: 'open', session: answer }
}

async function resume(reason = 'this browser has no session'): Promise<void> {
  if (localStorage.getItem(tokenKey) === null) {
    sessionState.value = { kind: 'closed', reason }
    return
  }
  const response = await send('/session')
  if (response.status === 200) sessionState.value = { kind: 'open', session: await response.json() }
  else sessionState.value = { kind: 'closed', reason: 'the session has ended' }
}

/** Ends the session in all tabs. */
export async function closeSession(): Promise<void> {
  await send('/session', { method: 'DELETE' })
  localStorage.removeItem(tokenKey)
  sessionState.value = { kind: 'closed', reason: 'you have logged out' }
}

/** Path segments that browsers resolve to the current or parent folder. */
const dots = /(?:^|\/)(?:\.|%2e){1,2}(?=[/?]|$)/i

/** Sends a request to the console with the session's token. A 401 ends the page's session. */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  if (dots.test(path.split('?')[0] ?? '')) throw new Error('no name consists of dots alone')
  const headers = { 'x-csrf-token': localStorage.getItem(tokenKey) ?? '', ...init.headers }
  const response = await fetch(`${base}${path}`, { ...init, headers }).catch((error: unknown) => {
    if (init.signal?.aborted !== true) isReachable.value = false
    throw error
  })
  isReachable.value = true
  if (response.status === 401 && sessionState.value.kind === 'open') {
    sessionState.value = { kind: 'closed', reason: 'the session has ended' }
  }
  return response
}
