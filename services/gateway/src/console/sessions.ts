import type { User } from '@orch/core/contracts'
import type { Clock, Timer } from '@orch/platform'
import type { Exchange, Peer } from '../exchange/exchange.ts'
import { limits } from './limits.ts'
import { drawSecret, hasKey, keyOfSecret } from './secrets.ts'

/** The peer of the requests of a session. */
type SessionPeer = Extract<Peer, { kind: 'console' }>

/** A browser that acts as a user. */
export interface Session {
  readonly key: string
  readonly peer: SessionPeer
  /** Key of the token that each request must have in addition to the cookie. */
  readonly tokenKey: string
  /** Milliseconds since 1970. */
  readonly expires: number
  /** Open requests, which end with the session. */
  readonly open: Set<Pick<Exchange, 'destroy'>>
  streams: number
  readonly timer: Timer
}

/** The secrets of a new session: the browser stores one in a cookie, and the page stores the other. */
interface OpenedSession {
  readonly cookie: string
  readonly token: string
  readonly session: Session
}

/** The open sessions in memory: all end with their server. */
export class Sessions {
  readonly #clock: Clock
  /** By the key of their cookie, oldest first. */
  readonly #sessions = new Map<string, Session>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Undefined if too many are open. */
  begin(user: User): OpenedSession | undefined {
    const ofUser = [...this.#sessions.values()].filter(({ peer }) => peer.user.name === user.name)
    if (ofUser[0] !== undefined && ofUser.length >= limits.sessionsPerUserMax) this.end(ofUser[0])
    if (this.#sessions.size >= limits.sessionsMax) return undefined
    const [cookie, token] = [drawSecret(), drawSecret()]
    const session: Session = {
      key: keyOfSecret(cookie),
      peer: { kind: 'console', user },
      tokenKey: keyOfSecret(token),
      expires: this.#clock.now() + limits.sessionMs,
      open: new Set(),
      streams: 0,
      timer: this.#clock.after(limits.sessionMs, () => this.end(session), { background: true }),
    }
    this.#sessions.set(session.key, session)
    return { cookie, token, session }
  }

  /** The session of one of these cookies, if the token is its own. */
  find(cookies: readonly string[], token: string): Session | undefined {
    for (const cookie of cookies.slice(0, limits.cookiesTriedMax)) {
      const session = this.#sessions.get(keyOfSecret(cookie))
      if (session !== undefined && hasKey(token, session.tokenKey)) return session
    }
    return undefined
  }

  /** Ends a session with its open requests. */
  end(session: Session): void {
    session.timer.cancel()
    this.#sessions.delete(session.key)
    for (const exchange of session.open) exchange.destroy()
  }

  /** Ends all sessions. */
  close(): void {
    for (const session of [...this.#sessions.values()]) this.end(session)
  }

  /** Number of open sessions. */
  get size(): number {
    return this.#sessions.size
  }
}
