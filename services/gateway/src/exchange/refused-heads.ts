import type { Http2Session } from 'node:http2'
import { limits } from '../limits.ts'

/** The last observed counters of a session. */
interface Seen {
  /** Streams that became requests, since the session began. */
  opened: number
  openedBefore: number
  lastStream: number
  bytes: number
  refused: number
}

/** Fewest bytes of a head on the wire: the frame's own and one field. */
const headBytesMin = 10

/**
 * Ends sessions whose heads are refused time after time. A head may name a field of four kilobytes, which the table of the session
 * keeps, by one byte, hundreds of times; Node refuses such streams without an event, and continues. The visible sign is
 * that the numbers of streams rise, with the bytes read, while no requests come.
 */
export class RefusedHeads {
  readonly #sessions = new Map<Http2Session, Seen>()
  readonly #timer: NodeJS.Timeout

  constructor(checkMs: number = limits.headCheckMs) {
    this.#timer = setInterval(this.#look, checkMs).unref()
  }

  begin(session: Http2Session): void {
    this.#sessions.set(session, { opened: 0, openedBefore: 0, lastStream: 0, bytes: 0, refused: 0 })
    session.once('close', () => this.#sessions.delete(session))
  }

  /** Counts a stream that became a request; false: it is one too many for a client that has not confirmed the settings. */
  opens(session: Http2Session): boolean {
    const seen = this.#sessions.get(session)
    if (seen === undefined) return true
    seen.opened += 1
    return seen.opened <= limits.unconfirmedStreamsMax || !session.pendingSettingsAck
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #look = (): void => {
    for (const [session, seen] of this.#sessions) {
      if (session.destroyed) continue
      const { bytesRead } = session.socket
      const newBytes = bytesRead - seen.bytes
      if (newBytes < headBytesMin) continue
      const lastStream = session.state.lastProcStreamID ?? 0
      const begun = (lastStream - seen.lastStream) / 2
      const refused = begun - (seen.opened - seen.openedBefore)
      // A client may skip numbers; without bytes there was no head.
      if (refused > 0) seen.refused += Math.min(refused, newBytes / headBytesMin)
      Object.assign(seen, { openedBefore: seen.opened, lastStream, bytes: bytesRead })
      if (seen.refused > limits.refusedHeadsMax) session.destroy()
    }
  }
}
