import type { Http2Session } from 'node:http2'
import { limits } from '../limits.ts'

/** The last observed counters of a session. */
interface Seen {
  /** Number of streams that became requests since the session began. */
  opened: number
  openedBefore: number
  lastStream: number
  bytes: number
  refused: number
}

/** Minimum bytes of a head on the wire: the frame and one field. */
const headBytesMin = 10
/** The longest pause between two checks, in intervals, while no session gets bytes. */
const quietIntervalsMax = 16

/**
 * Ends sessions whose heads are refused repeatedly. A head may refer to a field of four kilobytes in the session's table by one byte, hundreds of times;
 * Node refuses such streams without an event, and continues. The visible sign is that stream numbers and read bytes grow without requests.
 */
export class RefusedHeads {
  readonly #sessions = new Map<Http2Session, Seen>()
  readonly #checkMs: number
  /** Undefined without sessions. */
  #timer: NodeJS.Timeout | undefined
  /** The pause until the next check, in intervals. */
  #intervals = 1

  constructor(checkMs: number = limits.headCheckMs) {
    this.#checkMs = checkMs
  }

  begin(session: Http2Session): void {
    this.#sessions.set(session, { opened: 0, openedBefore: 0, lastStream: 0, bytes: 0, refused: 0 })
    this.#plan(1)
    session.once('close', () => {
      this.#sessions.delete(session)
      if (this.#sessions.size === 0) this.close()
    })
  }

  /** Counts a stream that became a request; false if it exceeds the limit of a client that has not acknowledged the settings. */
  opens(session: Http2Session): boolean {
    const seen = this.#sessions.get(session)
    if (seen === undefined) return true
    seen.opened += 1
    return seen.opened <= limits.unconfirmedStreamsMax || !session.pendingSettingsAck
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** Each check without new bytes doubles the pause until the next one. */
  #plan(intervals: number): void {
    if (this.#timer !== undefined && intervals >= this.#intervals) return
    clearTimeout(this.#timer)
    this.#intervals = intervals
    this.#timer = setTimeout(this.#look, intervals * this.#checkMs).unref()
  }

  #look = (): void => {
    this.#timer = undefined
    let isQuiet = true
    for (const [session, seen] of this.#sessions) {
      if (session.destroyed) continue
      const { bytesRead } = session.socket
      const newBytes = bytesRead - seen.bytes
      if (newBytes < headBytesMin) continue
      isQuiet = false
      const lastStream = session.state.lastProcStreamID ?? 0
      const begun = (lastStream - seen.lastStream) / 2
      const refused = begun - (seen.opened - seen.openedBefore)
      // A client may skip numbers; without bytes no head was sent.
      if (refused > 0) seen.refused += Math.min(refused, newBytes / headBytesMin)
      Object.assign(seen, { openedBefore: seen.opened, lastStream, bytes: bytesRead })
      if (seen.refused > limits.refusedHeadsMax) session.destroy()
    }
    this.#plan(isQuiet ? Math.min(2 * this.#intervals, quietIntervalsMax) : 1)
  }
}
